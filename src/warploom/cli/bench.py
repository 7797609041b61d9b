"""``warploom bench``: how fast the emulator and the timing core run on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import message, plain_table, print_json, results_console


def command(
    only: Annotated[str | None, typer.Option(help="Only one part: emulator or timing.")] = None,
    designs: Annotated[str | None, typer.Option(help="Time these designs, with commas; or all named ones.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure simulation speed on fixed cases, one core, after warm-up."""
    if only not in (None, "emulator", "timing"):
        raise typer.BadParameter("choose emulator or timing", param_hint="--only")
    results: dict[str, dict[str, dict[str, float]]] = {}
    if only != "timing":
        from warploom.emulator.bench import bench_emulator

        message("measuring the emulator ...")
        results["emulator"] = bench_emulator()
    if only != "emulator":
        from warploom.core.bench import bench_timing
        from warploom.designs import parse_design
        from warploom.designs.reading import named_designs

        names = list(named_designs()) if designs == "all" else designs.split(",") if designs else []
        message("measuring the timing core ...")
        results["timing"] = bench_timing({name: parse_design(name).policies for name in names} or None)
    if json:
        print_json(results)
        return
    table = plain_table("part", "case", "warp instructions/s", "cycles/s", numbers_from=2)
    for part, cases in results.items():
        for case, figures in cases.items():
            cycles = figures.get("cycles_per_second")
            table.add_row(part, case, f"{figures['warp_instructions_per_second']:,.0f}", f"{cycles:,.0f}" if cycles else "")
    results_console().print(table)
