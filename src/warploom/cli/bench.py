"""``warploom bench``: how fast the emulator and the timing core run on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import message, plain_table, print_json, print_table

PARTS = ("emulator", "timing", "compile")
COMPILED = (
    "baseline",
    "rfv",
    "scheduler=two-level + allocation=rfv + hierarchy=rfc + encoding=bdi + power=trimodal + gating=active-mask",
)


def command(
    only: Annotated[str | None, typer.Option(help="Only one part: emulator, timing or compile.")] = None,
    designs: Annotated[str | None, typer.Option(help="Measure these designs, with commas; or all named ones.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure simulation speed on fixed cases, one core, after warm-up."""
    if only not in (None, *PARTS):
        raise typer.BadParameter("choose emulator, timing or compile", param_hint="--only")
    from warploom.designs import parse_design
    from warploom.designs.reading import named_designs

    names = list(named_designs()) if designs == "all" else designs.split(",") if designs else []
    chosen = {name: parse_design(name).policies for name in names}
    results: dict[str, dict[str, dict[str, float]]] = {}
    if only in (None, "emulator"):
        from warploom.studies.bench.emulator import bench_emulator

        message("measuring the emulator ...")
        results["emulator"] = bench_emulator()
    if only in (None, "timing"):
        from warploom.studies.bench.timing import bench_timing

        message("measuring the timing core ...")
        results["timing"] = bench_timing(chosen or None)
    if only in (None, "compile"):
        from warploom.studies.bench.timing import bench_compilation

        message("measuring how long new combinations of policies take to compile ...")
        results["compile"] = bench_compilation(chosen or {name: parse_design(name).policies for name in COMPILED})
    if json:
        print_json(results)
        return
    table = plain_table("part", "case", "warp instructions/s", "cycles/s", "seconds", numbers_from=2)
    for part, cases in results.items():
        for case, figures in cases.items():
            speeds = [figures.get(key) for key in ("warp_instructions_per_second", "cycles_per_second")]
            seconds = f"{figures['seconds']:.1f}" if part == "compile" else ""
            table.add_row(part, case, *(f"{speed:,.0f}" if speed else "" for speed in speeds), seconds)
    print_table(table)
