"""``warploom workloads``: the programs that come with Warploom, and what they do."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from warploom.cli.output import narrow_table, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers


def command(
    set_name: Annotated[str, typer.Option("--set", help="Only the workloads that a paper ran: its short name.")] = "all",
    size: Annotated[str, typer.Option(help="The size that is executed to count: tiny, small, paper or chip.")] = "tiny",
    machine: Annotated[str, typer.Option(help="The machine that CTAs per SM are counted for.")] = "gtx480",
    paper: PaperFolders = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the workloads with their sets, launch, registers, divergence and dynamic instructions."""
    from warploom.programs.program import check_size
    from warploom.programs.workloads.registry import workload_set
    from warploom.runs.traits import describe_workload

    load_papers(paper)
    check_size(size)
    names = workload_set(set_name)
    rows: list[dict[str, Any]] = []
    with progress_bar(len(names), "executing") as step:
        for name in names:
            step(name, 0)
            rows.append(describe_workload(name, size, machine))
            step(name)
    if json:
        print_json(rows)
        return
    lines = [
        (
            (
                row["name"],
                f"{row['ctas']:,}",
                str(row["threads_per_cta"]),
                str(row["registers"]),
                f"{row['shared_bytes']:,}",
                str(row["ctas_per_sm"]),
                f"{row['divergent_share']:.0%}",
                f"{row['average_active_lanes']:.1f}",
                f"{row['warp_instructions']:,}",
            ),
            f"ran in {', '.join(row['sets'])}" if row["sets"] else "",
        )
        for row in rows
    ]
    headings = ("workload", "CTAs", "threads", "regs", "shared", "CTAs/SM", "div.", "lanes", "instr.")
    narrow_table(results_console(), headings, lines)
