"""``warploom validate``: a machine's model beside what was measured on a real chip."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.base.cores import use_threads
from warploom.base.errors import WarploomError
from warploom.cli.figure_options import FigureWidth, FontSize, NoProvenance, setting
from warploom.cli.output import message, named_table, plain_table, print_json, print_table, progress_bar, results_console
from warploom.cli.run_options import Threads

if TYPE_CHECKING:
    from warploom.show.setting import Setting
    from warploom.studies.validate.compare import Compared, Summary
    from warploom.studies.validate.recorded import MeasuredLaunch, MeasuredNumber

_TITLES = {"own": "single kernels", "fresh": "fresh single kernels"}
_TRAFFIC = {"L1": "l1_load_sectors", "L2": "l2_sectors", "read": "dram_read_bytes", "write": "dram_write_bytes"}

_WITH_CACHES = {"cold": "; caches empty before every launch", "warm": "; caches as the program left them"}
_ABOUT = {"driver_version": "driver ", "date": ""}  # what is said of a device besides its name
_MEANT = {"read": "DRAM reads", "write": "DRAM writes"}


def command(
    machine: Annotated[str, typer.Option(help="A machine's name or .toml file.")] = "hopper",
    measured: Annotated[
        str,
        typer.Option(
            help="Recorded measurements: a device's name, a folder, or a .csv that ncu printed, with its kernels beside it."
        ),
    ] = "h200",
    size: Annotated[
        str | None,
        typer.Option(
            help="Sizes of workloads, small, paper and chip, and sets of single kernels, own and fresh; with commas. Else all."
        ),
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="These programs only, with commas; or microbenchmarks whose names begin so.")
    ] = None,
    part: Annotated[str | None, typer.Option(help="Only one part: adjust or held-out.")] = None,
    microbenchmarks: Annotated[
        bool, typer.Option("--microbenchmarks", help="The microbenchmarks instead of the kernels.")
    ] = False,
    design: Annotated[
        str | None, typer.Option(help="A design as text, its name, or a .toml file; else the machine's usual.")
    ] = None,
    override: Annotated[list[str] | None, typer.Option(help="Change a machine's number.", metavar="KEY=VALUE")] = None,
    caches: Annotated[
        str, typer.Option(help="cold: empty before every launch; warm: as the program's copies and launches before leave them.")
    ] = "cold",
    jobs: Annotated[int, typer.Option(help="Processes; 0: one for each core.", min=0)] = 0,
    threads: Threads = 0,
    store: Annotated[Path, typer.Option(help="The folder of stored runs.")] = Path("results/validation"),
    out: Annotated[
        Path | None,
        typer.Option(help="Draw ours over measured: .png, .svg, .pdf or .html; else a picture is put beside the stored runs."),
    ] = None,
    width: FigureWidth = None,
    font_size: FontSize = None,
    no_provenance: NoProvenance = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the summaries and every launch.")] = False,
) -> int:
    """Compare a machine with recorded measurements: cycles, instructions, traffic, microbenchmarks. No GPU is needed."""
    from warploom.cli.machine_options import chosen_machine
    from warploom.jit.announcement import announce_compilation
    from warploom.runs.caches import WARM, check_caches
    from warploom.show.charts import check_picture_name
    from warploom.studies.validate.ncu import read_profile
    from warploom.studies.validate.recorded import folder_of, read_launches, read_numbers, with_caches_as_left

    use_threads(threads)
    check_caches(caches)
    set_as = setting(width, font_size, no_provenance)
    if out is not None:
        check_picture_name(out)
    chip = chosen_machine(machine, override or (), None)
    printed = Path(measured) if measured.endswith(".csv") else None
    names = tuple(name.strip() for name in only.split(",")) if only else ()
    point = design or chip.design
    announce_compilation()
    if microbenchmarks:
        if caches == WARM:
            raise WarploomError("microbenchmarks warm the caches themselves; omit --caches")
        facts, numbers = read_numbers(folder_of(measured))
        return _microbenchmarks(numbers, facts, names, chip, point, out, set_as, json)
    if printed is not None:
        kernels, title = printed.parent, printed.stem
        facts, launches = read_profile(printed, kernels)
    else:
        folder = folder_of(measured)
        kernels, title = folder.parent / "kernels", folder.name
        facts, launches = read_launches(folder)
        if caches == WARM:
            launches = with_caches_as_left(launches)
    picture = out or (None if json else _usual_picture(store, chip.name, title, caches))
    return _kernels(_chosen(launches, size, names, part), facts, kernels, chip, point, caches, jobs, store, picture, set_as, json)


def _chosen(launches: list[MeasuredLaunch], size: str | None, names: tuple[str, ...], part: str | None) -> list[MeasuredLaunch]:
    """The launches that were asked for; an error names what there is not."""
    from warploom.base.spelling import did_you_mean
    from warploom.studies.validate.split import PARTS

    measured = {launch.size for launch in launches}
    sizes = [word.strip() for word in size.split(",")] if size else sorted(measured)
    for what, asked, known in (
        ("--size", sizes, measured),
        ("--only", names, {launch.program for launch in launches}),
        ("--part", [part] if part else [], set(PARTS)),
    ):
        for word in asked:
            if word not in known:
                raise WarploomError(f"{what} {word!r}: there is no such thing among the measurements{did_you_mean(word, known)}")
    chosen = [
        one for one in launches if one.size in sizes and (not names or one.program in names) and (not part or one.part == part)
    ]
    if not chosen:
        raise WarploomError("nothing was measured of what --size, --only and --part leave; leave one of them out")
    return chosen


def _kernels(
    launches: list[MeasuredLaunch], facts: dict[str, Any], kernels: Path, chip: Any, design: str, caches: str, jobs: int,
    store: Path, picture: Path | None, set_as: Setting, json: bool,
) -> int:  # fmt: skip
    from warploom.runs.store import Store
    from warploom.runs.workers import local_workers
    from warploom.show.validation import draw_validation
    from warploom.studies.validate.compare import summaries
    from warploom.studies.validate.recorded import SINGLE_SIZES
    from warploom.studies.validate.runs import run_kernels, specs_of

    steps = len(specs_of(launches, chip, design, caches)) + sum(launch.size in SINGLE_SIZES for launch in launches)
    kept = Store(store)
    with progress_bar(steps, "simulating") as step, local_workers(jobs or os.cpu_count() or 1) as workers:
        rows = run_kernels(launches, chip, design, kept, workers, kernels, step, _refused, caches)
    if not rows:
        raise WarploomError("nothing could be compared: the machine refuses every kernel")
    totals = summaries(rows, chip.chip.sms)
    if picture is not None:
        draw_validation(rows, f"{chip.name} beside {facts['name']}{_WITH_CACHES[caches]}", picture, set_as)
        message(f"wrote {picture}")
    if json:
        print_json(
            {
                "machine": chip.name,
                "caches": caches,
                "measured": facts,
                "summaries": [_plain(one) for one in totals],
                "launches": [_row(row) for row in rows],
            }
        )
        return 0
    _print_rows(rows)
    _print_summaries(totals, _traffic_of(rows))
    about = [facts["name"], *(f"{word}{facts[key]}" for key, word in _ABOUT.items() if key in facts)]
    print(f"measured on {', '.join(about)}{_WITH_CACHES[caches]}")
    return 0


def _usual_picture(store: Path, machine: str, device: str, caches: str) -> Path | None:
    """Where the picture goes that nobody asked for by name; None where nothing can draw it."""
    import importlib.util

    if importlib.util.find_spec("altair") is None:
        return None
    store.mkdir(parents=True, exist_ok=True)
    return store / f"{Path(machine).stem}-beside-{device}{'-warm' if caches == 'warm' else ''}.svg"


def _refused(what: str, error: WarploomError) -> None:
    message(f"left out, {what}: {error}")


def _row(row: Compared) -> dict[str, Any]:
    measured = row.measured
    about = {
        "part": measured.part,
        "program": measured.program,
        "size": measured.size,
        "kernel": measured.kernel,
        "launch": measured.launch,
        "kind": row.kind,
    }
    cycles = {"cycles": row.cycles, "measured_cycles": measured.cycles, "error": row.error, "spread": measured.spread}
    executed = {"instructions": row.instructions, "measured_instructions": measured.instructions}
    executed |= {"thread_instructions": row.thread_instructions, "measured_thread_instructions": measured.thread_instructions}
    traffic = {name: {"ours": row.traffic[name], "measured": getattr(measured, name)} for name in _TRAFFIC.values()}
    return about | cycles | executed | traffic


def _plain(summary: Summary) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in asdict(summary).items()}


def _print_rows(rows: list[Compared]) -> None:
    """A table for each part and size: the kernel, with the number of its launch where it has several."""
    from warploom.programs.workloads.workload import SIZES
    from warploom.studies.validate.recorded import SINGLE_SIZES
    from warploom.studies.validate.split import PARTS

    console = results_console()
    traffic = _traffic_of(rows)
    for part, size in ((part, size) for part in PARTS for size in (*SIZES, *SINGLE_SIZES)):
        some = [row for row in rows if (row.measured.part, row.measured.size) == (part, size)]
        if some:
            some.sort(key=lambda one: (one.measured.name, one.measured.launch))
            named_table(
                console,
                f"{part}, {_TITLES.get(size, f'size {size}')}",
                ("kernel", "measured", "ours", "error", "instr", "threads", *traffic),
                [_cells(row, traffic) for row in some],
            )


def _traffic_of(rows: list[Compared]) -> list[str]:
    """The headings of that traffic which was measured."""
    return [heading for heading, name in _TRAFFIC.items() if any(getattr(row.measured, name) is not None for row in rows)]


def _cells(row: Compared, traffic: list[str]) -> list[str]:
    measured = row.measured
    return [
        measured.name if measured.launches == 1 else f"{measured.name} {measured.launch}",
        f"{measured.cycles:,.0f}",
        f"{row.cycles:,}",
        f"{row.error:+.1%}",
        _difference(row.instructions, measured.instructions),
        _difference(row.thread_instructions, measured.thread_instructions),
        *(_percent(row.traffic_error(_TRAFFIC[heading]), "+.0%") for heading in traffic),
    ]


def _difference(ours: int, measured: int | None) -> str:
    """How many more than measured."""
    if measured is None:
        return "-"
    return "exact" if ours == measured else f"{ours - measured:+,}"


def _print_summaries(totals: list[Summary], traffic: list[str]) -> None:
    """A row for each measure, a column for each part; of traffic, too, if it was measured."""
    table = plain_table("", *(one.part for one in totals))
    table.add_row("launches", *(str(one.launches) for one in totals))
    table.add_row("kernels", *(str(one.kernels) for one in totals))
    table.add_row("mean absolute error of cycles", *(f"{one.mean_error:.1%}" for one in totals))
    table.add_row("median", *(f"{one.median_error:.1%}" for one in totals))
    table.add_row("correlation of cycles", *(_correlated(one.correlation) for one in totals))
    table.add_row("correlation of their logarithms", *(_correlated(one.log_correlation) for one in totals))
    table.add_row("launches that fill the chip", *(str(one.filling) for one in totals))
    table.add_row("mean absolute error of their cycles", *(_percent(one.filling_error, ".1%") for one in totals))
    table.add_row("workloads with such a launch", *(f"{one.filling_workloads} of {one.workloads}" for one in totals))
    table.add_row("launches with exact instructions", *(str(one.exact_instructions) for one in totals))
    table.add_row("launches with exact thread instructions", *(str(one.exact_thread_instructions) for one in totals))
    for heading in traffic:
        errors = (_percent(one.traffic[_TRAFFIC[heading]], ".1%") for one in totals)
        table.add_row(f"median error, {_MEANT.get(heading, heading)}", *errors)
    if not _MEANT.keys() - traffic:
        table.add_row("median error, DRAM reads and writes", *(_percent(one.dram_error, ".1%") for one in totals))
        table.add_row("launches that write to DRAM", *(str(one.writing) for one in totals))
    print_table(table)


def _percent(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _correlated(value: float) -> str:
    """One launch correlates with nothing."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def _microbenchmarks(
    numbers: list[MeasuredNumber],
    facts: dict[str, Any],
    names: tuple[str, ...],
    chip: Any,
    design: str,
    out: Path | None,
    set_as: Setting,
    json: bool,
) -> int:
    from warploom.show.validation import draw_numbers
    from warploom.studies.validate.laboratory import microbenchmarks
    from warploom.studies.validate.runs import run_numbers

    recorded = {number.name for number in numbers}
    shown = [one for one in microbenchmarks() if one.model is not None and one.model.reading in recorded]
    chosen = [one for one in shown if not names or one.name.startswith(names)]
    if not chosen:
        raise WarploomError(f"--only {','.join(names)}: no comparable microbenchmark has a name that starts with that")
    with progress_bar(len(chosen), "simulating") as step:
        pairs = run_numbers(chosen, numbers, chip, design, step, _refused)
    if out is not None:
        draw_numbers(pairs, f"microbenchmarks: {chip.name} beside {facts['name']}", out, set_as)
        message(f"wrote {out}")
    if json:
        print_json({"machine": chip.name, "measured": facts, "numbers": [
            {"name": one.name, "measured": one.value, "ours": ours, "unit": one.unit, "what": one.what} for one, ours in pairs
        ]})  # fmt: skip
        return 0
    table = plain_table("microbenchmark", "measured", "ours", "difference", "unit")
    for one, ours in pairs:
        table.add_row(one.name, f"{one.value:,.2f}", f"{ours:,.2f}", f"{ours - one.value:+,.2f}", one.unit)
    print_table(table)
    same = sum(abs(ours - one.value) < 0.05 for one, ours in pairs)
    print(f"{same} of {len(pairs)} agree within 0.05; measured on {facts['name']}, {facts['date']}")
    return 0
