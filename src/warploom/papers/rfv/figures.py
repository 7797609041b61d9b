"""Register file virtualization and GPU-shrink (MICRO 2015): its figures and tables as experiments.

The paper's inputs fill sixteen SMs many times over. Those of the small size do so with two, which have their share of the memory
system; with all sixteen half of the file would have no CTA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from warploom.chip.machines import load_machine
from warploom.chip.sm.occupancy import rounded
from warploom.designs import parse_design
from warploom.designs.energy import load_technology
from warploom.papers.rfv import PAPER
from warploom.papers.rfv.lifetimes import register_lifetimes
from warploom.papers.rfv.release_flags import PAYLOAD_BITS
from warploom.papers.rfv.renaming import entry_bits
from warploom.papers.rfv.state import MAX_FLAG_CACHE
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_set
from warploom.runs.compilation import compile_for
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Help, Outcome, Results, Row, run_named
from warploom.studies.reproduce.helps import without_shaped

MACHINE = "rfv"
SMS = {"tiny": 1, "small": 2}
TWO_LEVEL = "scheduler=two-level(active=6, inner=round-robin, each=scheduler)"  # section 9; GPGPU-Sim: a queue for each scheduler
FRUGAL = "max_registers=least"  # section 9.2: "the minimum number of registers are used that do not cause any register spill"
SAMPLE = ("vectoradd", "matrixmul", "reduction", "hotspot", "lps", "scalarprod")  # figure 1 has six; only VectorAdd is named
UNLIMITED = 65536
FLAG_CACHES = (0, 1, 2, 5, 10)
ROOMY = MAX_FLAG_CACHE  # entries that hold every pir of a program
WAKE_UPS = (1, 3, 10)
SHARES = {"64 KB": 0.5, "40% smaller": 0.6, "30% smaller": 0.7}
# Of the programs whose CTAs have as many threads as table 1's, those of which resources allow more CTAs than it has: the paper
# does not say what else limits them.
FEWER_CTAS = ("hotspot",)
LEAKAGE_SHARE = 1 / 3  # of the baseline's power: x with 0.5 x + 0.2 (1 - x) = 0.3 (figure 7)
NEVER_THROTTLED = ("vectoradd", "bfs", "gaussian", "lib")


def _design(text: str) -> str:
    return f"{text} + {TWO_LEVEL}"


def _frugal(text: str) -> str:
    return f"{_design(text)} + {FRUGAL}"


BASELINE = TWO_LEVEL
WHOLE = _design("rfv")
HALF = _design("rfv(shrink=0.5)")
# Times and energy are compared for programs with the fewest registers.
FRUGAL_BASELINE = f"{TWO_LEVEL} + {FRUGAL}"
FRUGAL_WHOLE = _frugal("rfv")
FRUGAL_HALF = _frugal("rfv(shrink=0.5)")
SHRUNK = {label: _frugal(f"rfv(shrink={share})") for label, share in SHARES.items()}
GAINS = "mum"  # by throttling, here as in section 9.2


# The paper's own numbers against each other.
OUTLIERS = (
    "figure 11 labels three bars with 217, 1,008 and 323%: they alone make a mean of 97% over sixteen programs, so that 73% "
    "is not the arithmetic mean"
)
SPILL = f"compiler-spill + {TWO_LEVEL}"
HARDWARE = _design("hardware-renaming")
UNLIMITED_TABLE = _design(f"rfv(table_bytes={UNLIMITED})")


def _flag_cache(entries: int) -> str:
    return WHOLE if entries == 10 else _design(f"rfv(flag_cache={entries})")


def _wake_up(cycles: int) -> str:
    return FRUGAL_WHOLE if cycles == 1 else _frugal(f"rfv(wakeup={cycles})")


def _run(workload: str, design: str, size: str, as_table: bool = True) -> RunSpec:
    """A run, with as many resident CTAs as table 1 has where resources alone would allow more."""
    run = run_named(workload, design, MACHINE, size, sms=SMS.get(size, 0))
    if workload not in FEWER_CTAS or not as_table:
        return run
    most = {"sm.ctas_per_sm": PAPER.workloads[workload]["ctas_per_sm"]}
    return replace(run, machine=load_machine(MACHINE, **most).scaled(SMS.get(size, load_machine(MACHINE).chip.sms)))


def _as_resources_allow(*designs: str) -> Callable[[str], Sequence[RunSpec]]:
    return lambda size: [_run(name, design, size, as_table=False) for name in FEWER_CTAS for design in designs]


def _all_of(*parts: Callable[[str], Sequence[RunSpec]]) -> Callable[[str], Sequence[RunSpec]]:
    return lambda size: [run for part in parts for run in part(size)]


def _runs(*designs: str, workloads: Sequence[str] = ()) -> Callable[[str], Sequence[RunSpec]]:
    return lambda size: [_run(name, design, size) for name in workloads or workload_set(MACHINE) for design in designs]


def _of(results: Results, design: str, size: str) -> dict[str, Result]:
    """The results of a design by workload."""
    return {name: results[_run(name, design, size)] for name in workload_set(MACHINE)}


def _counter(results: Results, design: str, size: str, key: str) -> dict[str, float]:
    return {name: result.counters[key] for name, result in _of(results, design, size).items()}


def _mean(values: Iterable[float]) -> float:
    return fmean(list(values))


def _bars(series: dict[str, dict[str, float]], value: str, column: str = "design") -> list[Row]:
    """One row per workload and series, and their means."""
    rows: list[Row] = []
    for label, values in series.items():
        rows += [{"workload": name, column: label, value: number} for name, number in values.items()]
        rows.append({"workload": "mean", column: label, value: _mean(values.values())})
    return rows


def _time_added(results: Results, design: str, size: str, against: str) -> dict[str, float]:
    """Percent more cycles than another design."""
    reference = _of(results, against, size)
    return {name: 100 * (result.cycles / reference[name].cycles - 1) for name, result in _of(results, design, size).items()}


# --- figure 1 ---------------------------------------------------------------------------------------------------------------


def _live_share(results: Results, size: str) -> Outcome:
    """Of the registers that the compiler names; the machine gives them out in steps of more than one."""
    rows: list[Row] = []
    middle, highest, given = {}, {}, {}
    for name in SAMPLE:
        result = results[_run(name, BASELINE, size)]
        named = result.registers_per_thread / rounded(result.registers_per_thread, load_machine(MACHINE))
        shares = [100 * state["live"] / (named * state["allocated"]) for state in result.states if state["allocated"] > 0]
        rows += [
            {"workload": name, "time": 100 * place / max(1, len(shares) - 1), "live": share} for place, share in enumerate(shares)
        ]
        middle[name], highest[name], given[name] = _mean(shares), max(shares), named * _mean(shares)
    facts = {
        "live-share-half": float(sum(share <= 55 for share in middle.values())),
        "live-share-vectoradd": highest["vectoradd"],
    }
    chart = Chart("lines", "time", "live", facet="workload", x_title="% of the run", y_title="live, % of named registers")
    half = Experiment("leaving out entries that rounding adds", "of all entries given out", sum(x <= 55 for x in given.values()))
    return Outcome(rows, facts, chart, {"live-share-half": half})


# --- figures 2 and 3: lifetimes in matrixMul ------------------------------------------------------------------------------------


def _lifetimes(results: Results, size: str) -> Outcome:
    program = workload_program("matrixmul")
    module = program.module()
    code = compile_for(module, next(iter(module.kernels)), parse_design(BASELINE), load_machine(MACHINE))
    rows: list[Row] = [
        {"register": f"R{one.register}", "lifetime": one.instructions, "values": one.values} for one in register_lifetimes(code)
    ]
    chart = Chart("bars", "register", "lifetime", x_title="", y_title="mean instructions from write to release")
    return Outcome(rows, {}, chart)


# --- figure 7 ---------------------------------------------------------------------------------------------------------------


def _power_against_size(results: Results, size: str) -> Outcome:
    """Power of the baseline's accesses with smaller files of the same technology."""
    technology = load_technology(MACHINE)
    machine = load_machine(MACHINE)
    rows: list[Row] = []
    totals: dict[float, dict[str, float]] = {}
    cycle = 1e-6 / machine.chip.clock_core_mhz
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5):
        sized = technology.scaled(bytes=int(share * technology.register_file.bytes))
        watts = {"dynamic": 0.0, "leakage": 0.0}
        for result in _of(results, BASELINE, size).values():
            counters, seconds = result.counters, result.cycles * cycle
            accesses = counters["mrf_reads"] + counters["mrf_writes"]
            watts["dynamic"] += accesses * sized.access("read", cycle) / seconds
            watts["leakage"] += sized.register_file.leakage_total * (SMS.get(size) or machine.chip.sms)
        totals[share] = watts
        for part, value in watts.items():
            rows.append({"size": f"{128 * share:g} KB", "part": part, "power": 100 * value / sum(totals[1.0].values())})
    saved = {part: 100 * (1 - totals[0.5][part] / totals[1.0][part]) for part in ("dynamic", "leakage")}
    facts = {
        "half-dynamic": saved["dynamic"],
        "half-total": 100 * (1 - sum(totals[0.5].values()) / sum(totals[1.0].values())),
    }
    chart = Chart("stacked", "size", "power", "part", x_title="register file", y_title="power, % of 128 KB")
    return Outcome(rows, facts, chart)


# --- figure 10 --------------------------------------------------------------------------------------------------------------


def _allocation(results: Results, size: str) -> Outcome:
    reduced = {name: 100 * value for name, value in _counter(results, WHOLE, size, "allocation_reduction").items()}
    facts = {"allocation-reduced": _mean(reduced.values()), "allocation-reduced-most": max(reduced.values())}
    pbr = _counter(results, WHOLE, size, "static_pbr"), _counter(results, WHOLE, size, "static_pbr_registers")
    facts["pbr-registers"] = sum(pbr[1].values()) / max(1, sum(pbr[0].values()))
    chart = Chart("bars", "workload", "reduction", y_title="registers never touched, %", published={"paper, mean": 16})
    return Outcome(_bars({"rfv": reduced}, "reduction"), facts, chart)


# --- figure 11 --------------------------------------------------------------------------------------------------------------


def _slow_down(results: Results, size: str) -> Outcome:
    """Time against a plain file of 128 KB, and against one that is renamed too.

    The text says "normalized by 128KB register file configuration" (figure 12: without any renaming), and that four programs add
    nothing at all, which a further pipeline stage on one side alone would not allow. The plain file is what is judged.
    """
    added = {f"GPU-shrink, {label}": _time_added(results, design, size, FRUGAL_BASELINE) for label, design in SHRUNK.items()}
    renamed = {label: _time_added(results, design, size, FRUGAL_WHOLE) for label, design in SHRUNK.items()}
    added |= {f"GPU-shrink, {label}, of 128 KB renamed": values for label, values in renamed.items()}
    added["compiler spill"] = _time_added(results, SPILL, size, BASELINE)  # both as compiled, where the registers fit
    added["renaming alone, 128 KB"] = _time_added(results, FRUGAL_WHOLE, size, FRUGAL_BASELINE)
    rows = [{"panel": "half-sized file", **row} for row in _bars(added, "time")]
    waking = {f"wake-up {cycles}": _time_added(results, _wake_up(cycles), size, _wake_up(0)) for cycles in WAKE_UPS}
    rows += [{"panel": "wake-up", **row} for row in _bars(waking, "time")]
    throttled = _counter(results, SHRUNK["64 KB"], size, "throttled_cycles")
    facts = {
        "shrink-time": _mean(added["GPU-shrink, 64 KB"].values()),
        "spill-time": _mean(added["compiler spill"].values()),
        "shrink-40-time": _mean(added["GPU-shrink, 40% smaller"].values()),
        "shrink-30-time": _mean(added["GPU-shrink, 30% smaller"].values()),
        "never-throttled": float(sum(throttled[name] == 0 for name in NEVER_THROTTLED)),
        "wake-up-10-time": _mean(waking["wake-up 10"].values()),
    }
    chart = Chart("bars", "workload", "time", "design", "panel", y_title="cycles added, %")
    experiments = {
        f"{key}-time": Experiment("what renaming itself costs", "against 128 KB with renaming", _mean(renamed[label].values()))
        for key, label in (("shrink", "64 KB"), ("shrink-40", "40% smaller"), ("shrink-30", "30% smaller"))
    }
    spilling = [name for name, result in _of(results, SPILL, size).items() if result.counters["local_stores"] > 0]
    if spilling:
        spills = _mean(added["compiler spill"][name] for name in spilling)
        experiments["spill-time"] = Experiment("programs that fit 64 KB as they are", f"mean of {', '.join(spilling)}", spills)
    return Outcome(
        rows, facts, chart, experiments, {"spill-time": OUTLIERS}, {"shrink-time": _leaning(results, size, renamed, added)}
    )


def _leaning(results: Results, size: str, renamed: dict[str, dict[str, float]], added: dict[str, dict[str, float]]) -> list[Help]:
    """What the time that GPU-shrink adds leans on: a program that gains, shaped kernels, CTAs, and what it is compared with."""
    ours = added["GPU-shrink, 64 KB"]
    more = {
        name: 100 * (results[half].cycles / results[whole].cycles - 1)
        for name in FEWER_CTAS
        for half, whole in [[_run(name, design, size, as_table=False) for design in (FRUGAL_HALF, FRUGAL_BASELINE)]]
    }
    return [
        Help(f"{', '.join(FEWER_CTAS)} with the CTAs of table 1", _mean((ours | more).values()), chosen_after=True),
        Help(f"{GAINS}, which gains by throttling", _mean(value for name, value in ours.items() if name != GAINS)),
        *without_shaped(ours),
        Help("the plain file as what it is compared with", _mean(renamed["64 KB"].values())),
    ]


# --- figure 12 --------------------------------------------------------------------------------------------------------------


def _parts(result: Result, gated: bool = True, weight: float = 1.0) -> dict[str, float]:
    """The energy of a run by the figure's parts, leakage weighed; ungated, all entries leak all the time."""
    counters = result.counters
    states = [counters[f"{state}_cycles"] for state in ("on", "drowsy", "off")]
    terms = result.energy_terms
    return {
        "dynamic": result.energy_pj["dynamic"],
        "static": weight * result.energy_pj["leakage"] * (1 if gated else sum(states) / max(1, states[0])),
        "renaming table": sum(term.joules * 1e12 for term in terms if "renaming table" in term.what),
        "flag instruction": sum(term.joules * 1e12 for term in terms if "flag" in term.what),
    }


def _leakage_weight(baselines: Iterable[Result]) -> float:
    """By how much leakage is multiplied so that it is a third of the baseline's power, over all programs, as in figure 7."""
    power = [(result.energy_pj["dynamic"] / result.cycles, result.energy_pj["leakage"] / result.cycles) for result in baselines]
    dynamic, leakage = (sum(each) for each in zip(*power, strict=True))
    return LEAKAGE_SHARE / (1 - LEAKAGE_SHARE) * dynamic / leakage


def _energy_saved(results: Results, size: str, design: str, weight: float) -> dict[str, float]:
    """Percent of the baseline's energy, by workload."""
    baselines = _of(results, FRUGAL_BASELINE, size)
    whole = {name: sum(_parts(plain, weight=weight).values()) for name, plain in baselines.items()}
    ours = {name: sum(_parts(result, weight=weight).values()) for name, result in _of(results, design, size).items()}
    return {name: 100 * (1 - ours[name] / whole[name]) for name in whole}


def _energy(results: Results, size: str) -> Outcome:
    """With leakage a third of the baseline's power: figure 7 saves 20% of dynamic and 30% of all power with half the file."""
    bars = {
        "128 KB RF with power gating": (FRUGAL_WHOLE, True),
        "64 KB RF": (FRUGAL_HALF, False),
        "64 KB RF with power gating": (FRUGAL_HALF, True),
    }
    rows: list[Row] = []
    means: dict[tuple[str, str], list[float]] = {}
    baselines = _of(results, FRUGAL_BASELINE, size)
    weight = _leakage_weight(baselines.values())
    for name, plain in baselines.items():
        whole = sum(_parts(plain, weight=weight).values())
        for label, (design, gated) in bars.items():
            for part, value in _parts(results[_run(name, design, size)], gated, weight).items():
                rows.append({"workload": name, "design": label, "part": part, "energy": value / whole})
                means.setdefault((label, part), []).append(value / whole)
    rows += [{"workload": "mean", "design": d, "part": part, "energy": _mean(values)} for (d, part), values in means.items()]
    saved, by_table = (_energy_saved(results, size, FRUGAL_HALF, each) for each in (weight, 1.0))
    chart = Chart("stacked", "workload", "energy", "part", "design", y_title="energy, of 128 KB without renaming")
    tables = Experiment("figure 7's share of leakage", "leakage and accesses as table 2 has them", _mean(by_table.values()))
    reason = (
        f"a bank's leakage and an access's energy as table 2 has them make leakage {100 / (1 + 2 * weight):.0f}% of the "
        "baseline's power at 700 MHz; figure 7, where half the file saves 20% of dynamic and 30% of all power, has a third"
    )
    facts, key = {"energy-saved": _mean(saved.values())}, "energy-saved"
    return Outcome(rows, facts, chart, {key: tables}, {key: reason}, {key: without_shaped(saved)})


# --- figure 13 --------------------------------------------------------------------------------------------------------------


def _code_increase(results: Results, size: str) -> Outcome:
    series = {"static": {name: 100 * v for name, v in _counter(results, WHOLE, size, "static_code_increase").items()}}
    for entries in (*FLAG_CACHES, ROOMY):
        values = _counter(results, _flag_cache(entries), size, "dynamic_code_increase")
        series[f"dynamic-{entries}"] = {name: 100 * value for name, value in values.items()}
    facts = {
        "dynamic-code-0": _mean(series["dynamic-0"].values()),
        "dynamic-code-10": _mean(series["dynamic-10"].values()),
        "flag-cache-bytes": float(-(-FLAG_CACHES[-1] * PAYLOAD_BITS // 8)),
    }
    chart = Chart("bars", "workload", "increase", "code", y_title="more instructions decoded, %")
    lists = _mean(series[f"dynamic-{ROOMY}"].values())
    misses = Experiment(
        "pbrs, which the cache does not hold", f"less what is decoded with {ROOMY} entries", facts["dynamic-code-10"] - lists
    )
    return Outcome(_bars(series, "increase", "code"), facts, chart, {"dynamic-code-10": misses})


# --- figure 14 --------------------------------------------------------------------------------------------------------------


def _table_size(results: Results, size: str) -> Outcome:
    free = _of(results, UNLIMITED_TABLE, size)
    limited = _of(results, WHOLE, size)
    rows: list[Row] = []
    for name, result in free.items():
        wanted, got = result.counters, limited[name].counters
        kept = got["allocation_reduction"] / wanted["allocation_reduction"] if wanted["allocation_reduction"] > 0 else 1.0
        rows.append({"workload": name, "panel": "table without a limit, bytes", "value": wanted["table_bytes"]})
        rows.append({"workload": name, "panel": "reduction kept with 1 KB", "value": kept})
    exempt = {name: float(result.counters["exempt_registers"]) for name, result in limited.items()}
    machine = load_machine(MACHINE)
    facts = {
        "table-over-1k": float(sum(result.counters["table_bytes"] > 1024 for result in free.values())),
        "exempt-mum": exempt["mum"],
        "exempt-heartwall": exempt["heartwall"],
        "exempt-lud": exempt["lud"],
        "full-table-bits": float(machine.sm.warps_per_sm * machine.sm.max_registers_per_thread * entry_bits(machine)),
    }
    chart = Chart("bars", "workload", "value", facet="panel")
    experiments = {}
    for name in ("mum", "heartwall"):
        asked = PAPER.workloads[name]["registers"]
        fewer = asked - (limited[name].registers_per_thread - exempt[name])
        what = "the registers that our programs have less than the paper's"
        experiments[f"exempt-{name}"] = Experiment(what, f"{asked} registers, those that the table holds as here", fewer)
    lud = "table 1 has six resident CTAs of one warp with 19 registers: 6 x 19 x 10 bits are 143 bytes, not more than 1 KB"
    return Outcome(rows, facts, chart, experiments, {"exempt-lud": lud})


# --- figure 15 --------------------------------------------------------------------------------------------------------------


def _hardware_only(results: Results, size: str) -> Outcome:
    plain = _of(results, BASELINE, size)
    saved: dict[str, dict[str, float]] = {}
    for label, design in (("rfv", WHOLE), ("hardware only", HARDWARE)):
        saved[label] = {
            name: 100 * (1 - _power(result) / _power(plain[name])) for name, result in _of(results, design, size).items()
        }
    reduced = {
        label: {name: 100 * value for name, value in _counter(results, design, size, "allocation_reduction").items()}
        for label, design in (("rfv", WHOLE), ("hardware only", HARDWARE))
    }
    rows = [{"panel": "registers never touched, %", **row} for row in _bars(reduced, "value")]
    rows += [{"panel": "static power saved, %", **row} for row in _bars(saved, "value")]
    facts = {"static-power-against-hardware": _mean(saved["rfv"].values()) / _mean(saved["hardware only"].values())}
    chart = Chart("bars", "workload", "value", "design", "panel")
    return Outcome(rows, facts, chart)


def _power(result: Result) -> float:
    """Leakage per cycle."""
    return result.energy_pj["leakage"] / result.cycles


# --- tables -----------------------------------------------------------------------------------------------------------------


def _workloads(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name, result in _of(results, BASELINE, size).items():
        paper = PAPER.workloads[name]
        rows.append(
            {
                "workload": name,
                "registers": result.registers_per_thread,
                "registers, paper": paper["registers"],
                "least of them, paper": paper["least"],
                "CTAs per SM": result.ctas_per_sm,
                "CTAs per SM, paper": paper["ctas_per_sm"],
                "threads per CTA, paper": paper["threads_per_cta"],
                "CTAs, paper": paper["ctas"],
            }
        )
    return Outcome(rows, {})


def _technology(results: Results, size: str) -> Outcome:
    technology = load_technology(MACHINE)
    table, file = technology.renaming_table, technology.register_file
    rows: list[Row] = [
        {"parameter": "size, bytes", "renaming table": table.bytes, "register bank": file.bytes // file.banks},
        {"parameter": "banks", "renaming table": table.banks, "register bank": 1},
        {"parameter": "supply, V", "renaming table": technology.voltage, "register bank": technology.voltage},
        {"parameter": "access, pJ", "renaming table": table.access * 1e12, "register bank": file.read * 1e12},
        {"parameter": "leakage of a bank, mW", "renaming table": table.leakage * 1e3, "register bank": file.leakage * 1e3},
    ]
    return Outcome(rows, {})


_none: Callable[[str], Sequence[RunSpec]] = lambda size: []  # noqa: E731
FIGURES = (
    Figure("figure 1", "Live share of the allocated registers over time", _runs(BASELINE, workloads=SAMPLE), _live_share),
    Figure("figure 2", "Lifetimes of matrixMul's registers", _none, _lifetimes),
    Figure("figure 7", "Power against the size of the register file", _runs(BASELINE), _power_against_size),
    Figure("figure 10", "Register allocation reduced by renaming", _runs(WHOLE), _allocation),
    Figure(
        "figure 11",
        "Time added by smaller files and by waking subarrays",
        _all_of(
            _runs(BASELINE, FRUGAL_BASELINE, *SHRUNK.values(), SPILL, *map(_wake_up, (0, *WAKE_UPS))),
            _as_resources_allow(FRUGAL_BASELINE, FRUGAL_HALF),
        ),
        _slow_down,
    ),
    Figure("figure 12", "Energy of the register file by part", _runs(FRUGAL_BASELINE, FRUGAL_WHOLE, FRUGAL_HALF), _energy),
    Figure("figure 13", "Code added by metadata", _runs(*map(_flag_cache, (*FLAG_CACHES, ROOMY))), _code_increase),
    Figure("figure 14", "Size of the renaming table", _runs(WHOLE, UNLIMITED_TABLE), _table_size),
    Figure("figure 15", "Against renaming in hardware alone", _runs(BASELINE, WHOLE, HARDWARE), _hardware_only),
    Figure("table 1", "The workloads", _runs(BASELINE), _workloads),
    Figure("table 2", "Energy of the renaming table and of a register bank", _none, _technology),
)
