"""``warploom run``: a program, or a set of them, under one or several designs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from warploom.base.cores import use_threads
from warploom.base.errors import WarploomError
from warploom.base.printed import printed_to
from warploom.cli.compiler_options import compiler_options
from warploom.cli.figure_options import Csv, Latex, check_form, print_in_form
from warploom.cli.launch_options import NOTHING_SAID, LaunchOptions
from warploom.cli.option_groups import with_groups
from warploom.cli.output import message, plain_table, print_json, print_table, progress_bar, results_console
from warploom.cli.paper_option import load_papers
from warploom.cli.run_options import AS_USUAL, MaxRegisters, RunOptions, load_policies

if TYPE_CHECKING:
    from rich.table import Table

    from warploom.designs import Design
    from warploom.runs.execution import Execution
    from warploom.runs.limits import Limits
    from warploom.runs.result import Emulation, Result

EXIT_WRONG_OUTPUT = 1
EXIT_DIFFERENT = 1


@with_groups(how=RunOptions, launch=LaunchOptions)
def command(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            help="A workload, a set of workloads, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).",
            metavar="WORKLOAD|SET|FILE",
        ),
    ] = None,
    design: Annotated[list[str] | None, typer.Option(help="A design: a name, a combination or a .toml file. Repeatable.")] = None,
    emulate_only: Annotated[bool, typer.Option("--emulate-only", help="Execute and verify, without timing.")] = False,
    max_registers: MaxRegisters = None,
    how: RunOptions = AS_USUAL,
    launch: LaunchOptions = NOTHING_SAID,
    record: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Make a result again that --json printed, or a bundle of it, and say whether it is the same. A result runs no "
            "code: repeat --policy, --paper, --include and --nvrtc-option beside it.",
            metavar="RESULT.json|zip",
        ),
    ] = None,
    trust_bundle: Annotated[
        bool, typer.Option("--trust-bundle", help="With --from and a bundle: run the policies and papers that are in it.")
    ] = False,
    csv: Csv = False,
    latex: Latex = False,
    power: Annotated[bool, typer.Option("--power", help="With --json, include power over time.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: one object, or a list where several runs were asked for.")
    ] = False,
) -> int:
    """Run a program under one or several designs: time, counters, energy; the output is compared with the reference."""
    from warploom.designs import parse_design
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import chosen_programs, origin_named
    from warploom.programs.workloads.registry import ALL, set_names
    from warploom.runs.remake import read_records
    from warploom.runs.run import RunOnce, Watch, run_untimed
    from warploom.runs.savings import with_savings

    if record is not None:
        use_threads(how.threads)
        options = compiler_options(launch.include, None, None, launch.nvrtc_option)
        form = {"json": json, "power": power, "csv": csv, "latex": latex}
        named = _Code(how.paper or (), how.policy or (), options)
        if Path(record).suffix.lower() == ".zip":
            return _run_bundle(context, Path(record), named, trust_bundle, form)
        return _run_again(context, read_records(record), record, named, form)
    check_form(csv, latex, json)
    if target is None:
        load_papers(how.paper)
        raise WarploomError("there is nothing to run: name a workload, a set or a file, or a result with --from")
    chip = how.load()
    designs = [parse_design(text) for text in design or [chip.design]]
    if max_registers is not None:
        designs = [_with_limit(point, max_registers) for point in designs]
    own = launch.own_kernel(target, how.code, chip.code)
    if own is not None and how.seed is not None:
        raise typer.BadParameter("a kernel of your own has no seed; give its inputs with --arg", param_hint="--seed")
    programs = [own] if own is not None else [origin_named(name) for name in chosen_programs([target])]
    several = target in (*set_names(), ALL) or len(programs) * len(designs) > 1
    results: list[Any] = []
    announce_compilation()
    spoken = printed_to(sys.stderr) if json else nullcontext()  # what kernels print must not come between JSON
    with spoken, progress_bar(len(programs) * len(designs), "running") as step:
        for program in programs:
            run_once = RunOnce(Watch(executed=_cost_teller(program.name)))
            for point in designs:
                step(f"{program.name} {point.name}", 0)
                spec = how.spec(program, point, chip, timed=not emulate_only)
                if emulate_only:
                    results.append(run_untimed(spec, run_once.executions))
                else:
                    results.append(with_savings(spec, run_once) if json else run_once(spec))
                step()
    show(results, several=several, json=json, power=power, csv=csv, latex=latex)
    return report_faults(results)


def _cost_teller(name: str) -> Callable[[Execution], None]:
    """Who says, once a program has been executed, what it takes to time it, if that is long; each number once."""
    from warploom.runs.cost import cost_of

    told: set[int] = set()

    def tell(execution: Execution) -> None:
        expected = cost_of(sum(launch.stats.warp_instructions for launch in execution.launches))
        if expected.long and expected.warp_instructions not in told:
            told.add(expected.warp_instructions)
            message(f"{name}: {expected.sentence}")

    return tell


def _with_limit(point: Design, registers: int) -> Design:
    """A design whose threads have so many registers at most; its name says so."""
    return point.with_options(max_registers=registers, name=f"{point.name} + max_registers={registers}")


def show(results: Sequence[Any], *, several: bool, json: bool, power: bool, csv: bool = False, latex: bool = False) -> None:
    """Print results: as JSON, or as a table with a line on where they are from."""
    from warploom.runs.provenance import described
    from warploom.runs.result import Emulation
    from warploom.show.limits import error_lines

    timed = [result for result in results if not isinstance(result, Emulation)]
    emulated = [result for result in results if isinstance(result, Emulation)]
    if json:
        values = [_with_cost(result) if isinstance(result, Emulation) else _with_limits(result, power) for result in results]
        print_json(values if several else values[0])
        return
    if emulated:
        _print_emulations(emulated)
    if csv or latex:
        print_in_form(_brief_table(timed, _ROWS), csv, latex)
        return
    if timed:
        _print_results(timed)
        for line in error_lines(timed, min(results_console().width, 100)):
            print(line)
    print(described([result.provenance for result in results]))


def _with_cost(result: Emulation) -> dict[str, Any]:
    """What was executed, with what it would cost to time it."""
    from warploom.runs.cost import cost_of

    return result.to_dict() | {"cost": cost_of(result.warp_instructions).to_dict()}


def _with_limits(result: Result, power: bool) -> dict[str, Any]:
    """A result with what limits it, and how far its machine is off."""
    from warploom.chip.machines.compared import comparison
    from warploom.runs.kinds import kind_of
    from warploom.runs.limits import limits_of

    limits, compared = limits_of(result), comparison(result.machine.partition("[")[0])
    told = {"limits": limits.to_dict() if limits else None, "kind": kind_of(result)}
    return result.to_dict(power=power) | told | {"compared": compared.to_dict() if compared else None}


class _Code(NamedTuple):
    """What a person named to be run beside a result."""

    papers: Sequence[Path]
    policies: Sequence[str]
    options: Sequence[str]  # of the compiler

    def load(self, records: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Load it, if it is what the records were made with."""
        from warploom.runs.remake import check_code

        for place, record in records:
            check_code(record, place, self.policies, self.papers)
        load_papers(self.papers)
        load_policies(self.policies)


_OWN_CODE = ("trust_bundle", "paper", "policy", "include", "nvrtc_option")
_BESIDE_FROM = ("record", "threads", "json", "power", "csv", "latex", *_OWN_CODE)


def _run_bundle(context: typer.Context, file: Path, named: _Code, trusted: bool, form: Mapping[str, bool]) -> int:
    """``--from`` of a bundle, which is unpacked for as long as it is run."""
    from tempfile import TemporaryDirectory

    from warploom.runs.bundle import unpack_bundle

    with TemporaryDirectory(prefix="warploom-bundle-") as folder:
        bundle = unpack_bundle(file, Path(folder), [Path(path) for path in named.policies])
        own = [*bundle.code, *bundle.papers]
        if own and not trusted:
            raise WarploomError(
                f"{file}: it holds code of whoever made it ({', '.join(path.name for path in own)}), which runs only if you "
                "say so: read it, and add --trust-bundle, or name your own copies of all of it with --policy"
            )
        papers = [*named.papers, *(bundle.papers if trusted else ())]
        policies = [*named.policies, *(map(str, bundle.code) if trusted else ())]
        code = _Code(papers, policies, [*named.options, *bundle.options])
        return _run_again(context, bundle.records, str(file), code, form)


def _run_again(context: typer.Context, found: Sequence[dict[str, Any]], file: str, code: _Code, form: Mapping[str, bool]) -> int:
    """``--from``: run what a result was made from; an outcome that differs is named."""
    from warploom.jit.announcement import announce_compilation
    from warploom.runs.remake import differences, make_all_again, other_maker

    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _BESIDE_FROM and given is not None and given.name == "COMMANDLINE":
            raise typer.BadParameter("the result file already fixes this; omit the option", param_hint=parameter.opts[0])
    records = [(file if len(found) == 1 else f"{file}, result {number}", record) for number, record in enumerate(found, 1)]
    code.load(records)
    announce_compilation()
    made_again: dict[int, Result | Emulation] = {}
    makers: dict[str, str] = {}
    differing = False
    with progress_bar(len(records), "running again") as step:
        for number, made in make_all_again(records, code.options):
            place, record = records[number]
            made_again[number] = made
            step(made.workload)
            changed = differences(record, made)
            makers.setdefault(other_maker(record, made), place)
            if changed:
                differing = True
                message(f"error: {place}: made again, it differs in {', '.join(changed)}")
    for maker, place in makers.items():
        if maker:
            message(f"{place}: it was made by {maker}")
    if not differing:
        message(
            f"{file}: made again, {'it is' if len(records) == 1 else f'all {len(records)} results are'} the same to the digit"
        )
    results = [made_again[number] for number in range(len(records))]
    show(results, several=len(records) > 1, **form)
    return EXIT_DIFFERENT if differing else report_faults(results)


def report_faults(results: Sequence[Any]) -> int:
    """Say what checks have found, and name the programs whose output was wrong; the exit code that follows from it."""
    found = list(dict.fromkeys(finding for result in results for finding in result.findings))
    for finding in found:
        message(f"error: {finding}")
    wrong = list(dict.fromkeys(result.workload for result in results if result.verified is False))
    for name in wrong:
        message(f"error: {name}: the output differs from the reference")
    return EXIT_WRONG_OUTPUT if wrong or found else 0


def _print_emulations(results: Sequence[Any]) -> None:
    from warploom.runs.cost import cost_of

    table = plain_table("program", "verified", "warp instructions", "thread instructions", "seconds", numbers_from=2)
    for r in results:
        instructions = (f"{r.warp_instructions:,}", f"{r.thread_instructions:,}")
        table.add_row(r.workload, r.verdict, *instructions, f"{r.wall_seconds:.2f}")
    print_table(table)
    print(cost_of(sum(r.warp_instructions for r in results)).sentence)


def _print_results(results: Sequence[Result]) -> None:
    """One program: a column for each design, in as many tables as the terminal is too narrow for. Several: a row for each run."""
    from warploom.show.limits import limit_lines

    console = results_console()
    if len({r.workload for r in results}) == 1:
        for r in results:
            for line in limit_lines(r, min(console.width, 100)):
                console.print(line, soft_wrap=True)
        _print_columns(results, _ROWS, console.width)
        own = [r for r in results if _own_rows([r])]
        if own:
            _print_columns(own, _own_rows(own), console.width)
        return
    print_table(_brief_table(results, _BRIEF))


def _print_columns(results: Sequence[Result], rows: Mapping[str, Callable[[Result], str]], width: int) -> None:
    """A column for each design, as many beside each other as the terminal has room for."""
    beside = max(1, (width - max(map(len, rows)) - 2) // _DESIGN_COLUMN)
    for first in range(0, len(results), beside):
        shown = results[first : first + beside]
        table = plain_table(results[0].workload, *(r.design["name"] for r in shown))
        for label, value in rows.items():
            told = [value(r) for r in shown]
            if set(told) != {"-"}:
                table.add_row(label, *told)
        print_table(table)


def _brief_table(results: Sequence[Result], labels: Collection[str]) -> Table:
    """A row for each run."""
    table = plain_table("program", "design", *labels, numbers_from=2)
    for r in results:
        table.add_row(r.workload, r.design["name"], *(_ROWS[label](r) for label in labels))
    return table


_DESIGN_COLUMN = 18  # characters in which a design's name can be read and its numbers fit


def _nanojoules(part: str) -> Callable[[Result], str]:
    return lambda r: f"{r.energy_pj[part] / 1000:,.1f}"


def _limit(shown: Callable[[Limits], str]) -> Callable[[Result], str]:
    def told(result: Result) -> str:
        from warploom.runs.limits import limits_of

        limits = limits_of(result)
        return "-" if limits is None else shown(limits)

    return told


def _hits(share: float | None) -> str:
    from warploom.show.limits import percent

    return percent(share)


def _own_rows(results: Sequence[Result]) -> dict[str, Callable[[Result], str]]:
    """What only some of the designs count or have: their own counters, and the energy of their own structures."""
    from warploom.runs.own_numbers import own_counters, own_energy

    counters = dict.fromkeys(name for r in results for name in own_counters(r))
    terms = dict.fromkeys(name for r in results for name in own_energy(r))

    def counted(name: str) -> Callable[[Result], str]:
        return lambda r: _number(own_counters(r).get(name))

    def spent(name: str) -> Callable[[Result], str]:
        return lambda r: _number(own_energy(r).get(name), 1)

    return {name.replace("_", " "): counted(name) for name in counters} | {f"{name}, nJ": spent(name) for name in terms}


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


_ROWS: dict[str, Callable[[Result], str]] = {
    "verified": lambda r: r.verdict,
    "cycles": lambda r: f"{r.cycles:,}",
    "IPC": lambda r: f"{r.ipc:.2f}",
    "warp instructions": lambda r: f"{r.warp_instructions:,}",
    "registers per thread": lambda r: str(r.registers_per_thread),
    "CTAs per SM": lambda r: str(r.ctas_per_sm),
    "occupancy": lambda r: f"{r.occupancy:.0%}",
    "occupancy achieved": _limit(lambda l: f"{l.achieved_occupancy:.0%}"),
    "SMs with work": _limit(lambda l: f"{l.sms_with_work:.3g} of {l.sms}"),
    "issue slots used": _limit(lambda l: f"{l.issue_slots:.0%}"),
    "busiest pipe used": _limit(lambda l: f"{l.pipe_used:.0%}"),
    "L1 hits": _limit(lambda l: _hits(l.l1_hits)),
    "L2 hits": _limit(lambda l: _hits(l.l2_hits)),
    "L2 bandwidth used": _limit(lambda l: f"{l.l2_used:.0%}"),
    "DRAM bandwidth used": _limit(lambda l: f"{l.dram_used:.0%}"),
    "register file": lambda r: f"{r.register_file_bytes // 1024} KB",
    "register reads": lambda r: f"{r.counters['rf_reads']:,}",
    "register writes": lambda r: f"{r.counters['rf_writes']:,}",
    "bank conflicts": lambda r: f"{r.counters['bank_conflicts']:,}",
    "allocated": lambda r: f"{r.counters['allocated_fraction']:.1%}",
    "of that live": lambda r: f"{r.counters['live_fraction']:.1%}",
    "dynamic nJ": _nanojoules("dynamic"),
    "leakage nJ": _nanojoules("leakage"),
    "overhead nJ": _nanojoules("overhead"),
    "energy nJ": _nanojoules("total"),
    "bits added to an SM": lambda r: f"{r.storage_bits:,}",
    "seconds to simulate": lambda r: f"{r.wall_seconds:.2f}",
    "seconds to compile": lambda r: f"{r.compile_seconds:.2f}",
}
_BRIEF = ("verified", "cycles", "IPC", "occupancy", "energy nJ")
