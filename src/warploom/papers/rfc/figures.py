"""The register file cache and the two-level scheduler (ISCA 2011): its figures and tables as experiments.

The paper's traces are in the machine code of NVIDIA's compiler, and so are these runs, with as many registers as let all warps of
the paper's machine be resident. Today's compiler unrolls and hoists more than that of the paper's day; what our backend's plainer
code gives instead stands beside every number, as an experiment.

The paper averages over 210 traces, most of them shaders. A program here stands for its share of the traces of its kind (table 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, pstdev, stdev

from warploom.chip.machines import load_machine
from warploom.compiler.code.classes import OpClass
from warploom.designs.energy import load_technology
from warploom.papers.rfc import PAPER
from warploom.papers.rfc.energy import Distances, chip_estimate, least_energy, relative_energy
from warploom.programs.workloads.registry import workload_set
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row, run_named

MACHINE = "rfc"
PIXELS = "-pixels"  # the same machines where warps come one by one: shaders have no CTAs
CATEGORIES = {"video": "Video", "simulation": "Simulation", "image": "Image", "hpc": "HPC", "shader": "Shader"}
TRACES = {"video": 19, "simulation": 11, "image": 7, "hpc": 18, "shader": 155}  # table 1
COMPILED = "max_registers=32"  # all 32 warps are resident (section 5.2), and the file has 32 registers for each thread (2.1)
ENTRIES = (1, 2, 4, 6, 8, 13)
ACTIVE = (4, 6, 8, 16, 32)
SIZES = tuple((active, entries) for active in (4, 6, 8) for entries in (4, 6, 8))
WIRES = (Distances(0, 0), Distances(1, 1), Distances(1, 0.2), Distances(1, 0))


def _alone(entries: int = 6, **options: str) -> str:
    """The cache for every warp, under a single-level scheduler: nothing is flushed, and results of loads enter too."""
    parameters = {"entries": str(entries), "bypass_slow": "false", **options}
    return f"hierarchy=rfc({', '.join(f'{key}={value}' for key, value in parameters.items())})"


def _combined(active: int = 8, entries: int = 6, **options: str) -> str:
    """The cache for the active warps of a two-level scheduler."""
    parameters = {"active": str(active), "entries": str(entries), **options}
    return f"rfc({', '.join(f'{key}={value}' for key, value in parameters.items())})"


def _scheduled(active: int) -> str:
    return f"scheduler=two-level(active={active})"


ANALYSED = _alone(6, characterise="true")
REFINED = _combined(bypass_unread="true", evict_first="true")
SLOW_TOO = _combined(bypass_slow="false")  # results of slow loads enter the cache like all others
# The paper's own numbers against each other.
MORE_READS = (
    "50% of reads and 59% of writes avoided save 27% of access and wire energy by the paper's tables (with 1.8 reads a write, as "
    "its bound of 58% has it), before any flush; the 36% that it saves would take 70% of reads"
)
RunsOfSize = Callable[[str], Sequence[RunSpec]]
PLAIN_CODE = "ptx"  # our backend's: a loop is unrolled where the program says so, and a load stays near its use


def _run(workload: str, design: str, size: str, machine: str = MACHINE) -> RunSpec:
    return run_named(workload, f"{design} + {COMPILED}", machine + PIXELS if _group(workload) == "shaders" else machine, size)


def _runs(*designs: str) -> Callable[[str], Sequence[RunSpec]]:
    return lambda size: [_run(name, design, size) for name in workload_set(MACHINE) for design in designs]


def _and_plain(runs: RunsOfSize, again: RunsOfSize) -> RunsOfSize:
    """Some runs, and some of them again with our backend's code."""
    return lambda size: [*runs(size), *(replace(run, code=PLAIN_CODE) for run in again(size))]


def _plain_experiments(
    facts: Callable[[Results, str], dict[str, float]], runs: Sequence[RunSpec], results: Results, size: str
) -> dict[str, Experiment]:
    """The same numbers from our backend's code, where they are others."""
    ours, plain = facts(results, size), facts({run: results[replace(run, code=PLAIN_CODE)] for run in runs}, size)
    return {
        key: Experiment("the unrolling and hoisting of today's NVIDIA compiler", f"the same runs with --code {PLAIN_CODE}", value)
        for key, value in plain.items()
        if value != ours[key]
    }


def _group(workload: str) -> str:
    """Compute or shaders, as the paper's averages tell them apart."""
    return "shaders" if PAPER.workloads[workload]["category"] == "shader" else "compute"


def _of(results: Results, design: str, size: str, machine: str = MACHINE) -> dict[str, Result]:
    """The results of a design by workload."""
    return {name: results[_run(name, design, size, machine)] for name in workload_set(MACHINE)}


def _by_category(values: dict[str, float]) -> dict[str, float]:
    """Averages of a number per workload over the paper's categories."""
    return {
        title: fmean(value for name, value in values.items() if PAPER.workloads[name]["category"] == key)
        for key, title in CATEGORIES.items()
    }


def _by_group(values: dict[str, float]) -> dict[str, float]:
    return {group: _over_traces(_in_group(values, group)) for group in ("compute", "shaders")}


def _in_group(values: dict[str, float], group: str) -> dict[str, float]:
    return {name: value for name, value in values.items() if _group(name) == group}


def _over_traces(values: dict[str, float]) -> float:
    """The mean over the paper's traces of a number per workload: each kind weighs as many as the paper has of it."""
    kinds = [PAPER.workloads[name]["category"] for name in values]
    return fmean(values.values(), [TRACES[kind] / kinds.count(kind) for kind in kinds])


def _counter(results: Results, design: str, size: str, key: str, scale: float = 100.0) -> dict[str, float]:
    """A counter of each workload, in percent where it is a share."""
    return {name: scale * result.counters[key] for name, result in _of(results, design, size).items()}


def _main_accesses(results: Results, design: str, size: str) -> dict[str, float]:
    """Accesses of the main register file as a share of those without a cache."""
    shares = {}
    for name, result in _of(results, design, size).items():
        counters = result.counters
        spent = counters["mrf_reads"] + counters["forwarded_reads"] + counters["mrf_writes"]
        shares[name] = spent / (counters["mrf_reads_without_cache"] + counters["mrf_writes_without_cache"])
    return shares


# --- figure 2 ---------------------------------------------------------------------------------------------------------------


def _value_use(results: Results, size: str) -> Outcome:
    shares = _value_shares(results, size)
    rows: list[Row] = []
    for key in next(iter(shares.values())):
        panel = "reads" if key.startswith("read") else "lifetime of values read once"
        average = _by_category({name: share[key] for name, share in shares.items()})
        rows += [{"category": title, "panel": panel, "values": key, "share": share} for title, share in average.items()]
    chart = Chart("stacked", "category", "share", "values", "panel", "", "% of all values", tuple(CATEGORIES.values()))
    return Outcome(rows, _values(results, size), chart, _plain_experiments(_values, _runs(ANALYSED)(size), results, size))


def _value_shares(results: Results, size: str) -> dict[str, dict[str, float]]:
    """By workload, how many values of a hundred are read how often, and how soon where it is once."""
    shares: dict[str, dict[str, float]] = {}
    for name, result in _of(results, ANALYSED, size).items():
        reads, lifetimes = result.counters["value_reads"], result.counters["value_lifetimes"]
        values = max(1, sum(reads))
        shares[name] = {
            "read 0 times": reads[0],
            "read once": reads[1],
            "read twice": reads[2],
            "read more often": reads[3],
            "lifetime 1": lifetimes[0],
            "lifetime 2": lifetimes[1],
            "lifetime 3": lifetimes[2],
            "lifetime above 3": lifetimes[3],
        }
        shares[name] = {key: 100 * value / values for key, value in shares[name].items()}
    return shares


def _values(results: Results, size: str) -> dict[str, float]:
    """What the paper says of the values' use."""
    shares = _value_shares(results, size)

    def of_kinds(*keys: str) -> dict[str, float]:
        return _by_category({name: sum(share[key] for key in keys) for name, share in shares.items()})

    return {
        "values-read-once": max(of_kinds("read once").values()),
        "values-read-more-than-twice": _over_traces({name: share["read more often"] for name, share in shares.items()}),
        "hpc-values-read-more-than-once": of_kinds("read twice", "read more often")["HPC"],
        "values-read-once-within-three": max(of_kinds("lifetime 1", "lifetime 2", "lifetime 3").values()),
    }


# --- figures 6 to 8 ---------------------------------------------------------------------------------------------------------


SWEEP = [_alone(entries, last_use=bit) for bit in ("true", "false") for entries in ENTRIES]
LARGE = 13  # entries; the paper judges the allocation of sources with a large cache
VARIANTS = [_alone(6, replacement="lru"), _alone(LARGE, last_use="false", allocate="sources")]
PANELS = {
    "reads": ("true", "mrf_read_reduction"),
    "writes": ("false", "mrf_write_reduction"),
    "writes with last-use bit": ("true", "mrf_write_reduction"),
}
_AT_SIX = _runs(_alone(6, last_use="true"), _alone(6, last_use="false"), _alone(LARGE, last_use="false"), *VARIANTS)


def _entries(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for panel, (bit, key) in PANELS.items():
        for entries in ENTRIES:
            averages = _by_category(_counter(results, _alone(entries, last_use=bit), size, key))
            rows += [{"panel": panel, "category": t, "entries": entries, "avoided": v} for t, v in averages.items()]
    chart = Chart("lines", "entries", "avoided", "category", "panel", "entries per thread", "% of MRF accesses avoided")
    experiments = _plain_experiments(_at_six, _AT_SIX(size), results, size)
    return Outcome(rows, _at_six(results, size), chart, experiments, {"reads-avoided-6": MORE_READS})


def _at_six(results: Results, size: str) -> dict[str, float]:
    """What the paper says of six entries, and of variants of the cache."""
    at_six: dict[str, dict[str, float]] = {}
    overall: dict[str, float] = {}
    for panel, (bit, key) in PANELS.items():
        values = _counter(results, _alone(6, last_use=bit), size, key)
        at_six[panel], overall[panel] = _by_category(values), _over_traces(values)
    plain, lru, sources = (_alone(6, last_use="true"), *VARIANTS)
    without_bit = _alone(LARGE, last_use="false")
    gained = _over_traces(_main_accesses(results, plain, size)) - _over_traces(_main_accesses(results, lru, size))
    kept = {key: _ratio(results, sources, without_bit, size, key, f"{key}_without_cache") for key in ("mrf_reads", "mrf_writes")}
    return {
        "reads-avoided-6": overall["reads"],
        "writes-avoided-6": overall["writes"],
        "writes-avoided-6-last-use": overall["writes with last-use bit"],
        "reads-avoided-lowest": min(at_six["reads"].values()),
        "reads-avoided-highest": max(at_six["reads"].values()),
        "writes-avoided-lowest": min(at_six["writes"].values()),
        "writes-avoided-highest": max(at_six["writes"].values()),
        "last-use-points": overall["writes with last-use bit"] - overall["writes"],
        "lru-points": 100 * gained,
        "sources-reads": 100 * (1 - kept["mrf_reads"]),
        "sources-writes": 100 * (kept["mrf_writes"] - 1),
    }


def _ratio(results: Results, design: str, reference: str, size: str, key: str, whole: str) -> float:
    """A counter under one design over the same under another; both as shares of what there is without a cache, averaged."""
    ours, theirs = (
        _over_traces({name: one.counters[key] / one.counters[whole] for name, one in _of(results, each, size).items()})
        for each in (design, reference)
    )
    return ours / theirs


def _per_trace(group: str) -> Callable[[Results, str], Outcome]:
    def evaluate(results: Results, size: str) -> Outcome:
        reads = _counter(results, _alone(6, last_use="true"), size, "mrf_read_reduction")
        writes = _counter(results, _alone(6, last_use="true"), size, "mrf_write_reduction")
        names = sorted((name for name in reads if _group(name) == group), key=lambda name: reads[name])
        rows: list[Row] = []
        for name in names:
            about = {"workload": name, "category": CATEGORIES[PAPER.workloads[name]["category"]]}
            rows += [{**about, "accesses": "reads", "avoided": reads[name]}]
            rows += [{**about, "accesses": "writes", "avoided": writes[name]}]
        chart = Chart("points", "workload", "avoided", "accesses", "", "", "% of MRF accesses avoided", tuple(names))
        if group == "compute":
            return Outcome(rows, {}, chart)
        experiments = _plain_experiments(_least_of_shaders, _EACH_PROGRAM(size), results, size)
        return Outcome(rows, _least_of_shaders(results, size), chart, experiments)

    return evaluate


_EACH_PROGRAM = _runs(_alone(6, last_use="true"))


def _least_of_shaders(results: Results, size: str) -> dict[str, float]:
    """Accesses that the cache avoids in the shader for which it does least."""

    def least(key: str) -> float:
        return min(_in_group(_counter(results, _alone(6, last_use="true"), size, key), "shaders").values())

    return {"shader-reads-least": least("mrf_read_reduction"), "shader-writes-least": least("mrf_write_reduction")}


# --- figures 9 and 10 -------------------------------------------------------------------------------------------------------


def _active_runs(size: str) -> Sequence[RunSpec]:
    faster = [_run(name, _scheduled(4), size, "rfc-alu4") for name in workload_set(MACHINE)]
    return [*_runs(*(_scheduled(active) for active in ACTIVE))(size), *faster]


def _ipc(results: Results, active: int, size: str, machine: str = MACHINE) -> dict[str, float]:
    return {name: result.ipc for name, result in _of(results, _scheduled(active), size, machine).items()}


def _active_warps(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for active in ACTIVE:
        ipc = _ipc(results, active, size)
        for group in ("compute", "shaders", "all"):
            chosen = ipc if group == "all" else _in_group(ipc, group)
            deviation = pstdev(chosen.values())
            rows.append({"active": str(active), "group": group, "ipc": _over_traces(chosen), "deviation": deviation})
    chart = Chart("bars", "active", "ipc", "group", "", "active warps", "IPC of an SM", tuple(map(str, ACTIVE)))
    experiments = _plain_experiments(_ipc_changes, _active_runs(size), results, size)
    experiments["ipc-6-active-compute"] = _without_the_slowest(results, size)
    return Outcome(rows, _ipc_changes(results, size), chart, experiments, {"ipc-8-active": _few_shaders(results, size)})


def _without_the_slowest(results: Results, size: str) -> Experiment:
    """Six active warps for compute programs but for the one that loses most by them."""
    all_warps, six = (_in_group(_ipc(results, active, size), "compute") for active in (32, 6))
    slowest = min(six, key=lambda name: six[name] / all_warps[name])
    before, after = (_over_traces({name: ipc for name, ipc in each.items() if name != slowest}) for each in (all_warps, six))
    lost = 100 * (1 - six[slowest] / all_warps[slowest])
    cause = f"{slowest}, which loses {lost:.0f}% because its instructions wait for each other"
    return Experiment(cause, f"the same runs but for {slowest}", 100 * (after / before - 1))


def _few_shaders(results: Results, size: str) -> str:
    """How well a few shaders can tell what most of the paper's traces do with eight active warps."""
    all_warps = _ipc(results, 32, size)
    changes = [100 * (ipc / all_warps[name] - 1) for name, ipc in _in_group(_ipc(results, 8, size), "shaders").items()]
    error = stdev(changes) / len(changes) ** 0.5
    return (
        f"{len(changes)} shaders, whose IPC changes by {min(changes):.1f} to {max(changes):+.1f}%, stand for {TRACES['shader']} "
        f"of 210 traces: the standard error of their mean is {error:.1f} points"
    )


def _ipc_changes(results: Results, size: str) -> dict[str, float]:
    """What fewer active warps do to the mean IPC, in percent."""

    def mean(active: int, group: str = "", machine: str = MACHINE) -> float:
        ipc = _ipc(results, active, size, machine)
        return _over_traces(_in_group(ipc, group) if group else ipc)

    return {
        "ipc-8-active": 100 * (mean(8) / mean(32) - 1),
        "ipc-6-active-compute": 100 * (mean(6, "compute") / mean(32, "compute") - 1),
        "ipc-6-active-shaders": 100 * (mean(6, "shaders") / mean(32, "shaders") - 1),
        "alu-4-active-4": 100 * (mean(4, machine="rfc-alu4") / mean(4) - 1),
    }


def _active_per_workload(results: Results, size: str) -> Outcome:
    shown = (32, 8, 6, 4)
    ipc = {active: _ipc(results, active, size) for active in shown}
    rows = [
        {"workload": name, "group": _group(name), "active": str(active), "ipc": ipc[active][name]}
        for name in sorted(ipc[32], key=lambda name: ipc[32][name])
        for active in shown
    ]
    return Outcome(rows, {}, Chart("bars", "workload", "ipc", "active", "group", "", "IPC of an SM"))


# --- figure 11 --------------------------------------------------------------------------------------------------------------


def _flushed(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for panel, key in (("reads", "mrf_read_reduction"), ("writes", "mrf_write_reduction")):
        for entries in ENTRIES:
            averages = _by_category(_counter(results, _combined(8, entries), size, key))
            rows += [{"panel": panel, "category": t, "entries": entries, "avoided": v} for t, v in averages.items()]
    chart = Chart("lines", "entries", "avoided", "category", "panel", "entries per thread", "% of MRF accesses avoided")
    experiments = _plain_experiments(_flush_costs, _FLUSHING(size), results, size)
    alone, entering = (_over_traces(_main_accesses(results, design, size)) for design in (WITHOUT_FLUSH, SLOW_TOO))
    experiments["flush-accesses"] = Experiment("the bypass of slow loads", SLOW_TOO, 100 * (entering / alone - 1))
    return Outcome(rows, _flush_costs(results, size) | _traffic(results, size), chart, experiments)


def _traffic(results: Results, size: str) -> dict[str, float]:
    """Accesses of the main file avoided, reads and writes together, in the categories with least and most, in percent."""
    avoided = _by_category({name: 100 * (1 - share) for name, share in _main_accesses(results, _combined(), size).items()})
    return {"traffic-avoided-lowest": min(avoided.values()), "traffic-avoided-highest": max(avoided.values())}


WITHOUT_FLUSH = _alone(6, last_use="true")
_FLUSHING = _runs(WITHOUT_FLUSH, _combined(), REFINED)


def _flush_costs(results: Results, size: str) -> dict[str, float]:
    """Accesses that flushing adds, and what the liveness refinements take away again, in percent."""
    alone, flushing, refined = (
        _over_traces(_main_accesses(results, design, size)) for design in (WITHOUT_FLUSH, _combined(), REFINED)
    )
    return {
        "flush-accesses": 100 * (flushing / alone - 1),
        "bypass-accesses": 100 * (1 - refined / flushing),
        "bypass-writebacks": 100 * (1 - _ratio(results, REFINED, _combined(), size, "writebacks", "mrf_writes_without_cache")),
    }


# --- figure 12 and the tables -----------------------------------------------------------------------------------------------


def _energy(results: Results, active: int, entries: int, size: str, distances: Distances = WIRES[0]) -> dict[str, float]:
    technology = load_technology(MACHINE)
    return {
        name: relative_energy(result.counters, technology, active, entries, distances)
        for name, result in _of(results, _combined(active, entries), size).items()
    }


def _energy_by_size(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for active, entries in SIZES:
        for group, value in _by_group(_energy(results, active, entries, size)).items():
            label = f"{active} x {entries}"
            rows.append({"size": label, "group": group, "energy": value, "bytes_per_lane": 4 * active * entries})
    chart = Chart("bars", "size", "energy", "group", "", "active warps x entries", "register file energy, of baseline")
    return Outcome(rows, {}, chart)


def _cache_table(results: Results, size: str) -> Outcome:
    technology, machine = load_technology(MACHINE), load_machine(MACHINE)
    rows: list[Row] = []
    for active, entries in SIZES:
        read, write = technology.register_cache_energy(active, entries)
        stored = active * entries * 128
        rows.append({"active": active, "entries": entries, "bytes": stored, "read_pj": read * 1e12, "write_pj": write * 1e12})
    bytes_ = next(row["bytes"] for row in rows if (row["active"], row["entries"]) == (8, 6))
    facts = {"rfc-bytes": bytes_, "rfc-size-ratio": 4 * machine.sm.registers_per_sm / bytes_}
    return Outcome(rows, facts)


def _technology_table(results: Results, size: str) -> Outcome:
    technology = load_technology(MACHINE)
    file = technology.register_file
    rows = [
        {"parameter": "MRF read, 128 bits", "value": file.read * 1e12, "unit": "pJ"},
        {"parameter": "MRF write, 128 bits", "value": file.write * 1e12, "unit": "pJ"},
        {"parameter": "MRF to units", "value": file.distance * 1e3, "unit": "mm"},
        {"parameter": "wire capacitance", "value": technology.wire.capacitance * 1e12, "unit": "fF/mm"},
        {"parameter": "supply", "value": technology.voltage, "unit": "V"},
        {"parameter": "wire energy, 32 bits", "value": 32 * technology.wire_energy * 1e-3 * 1e12, "unit": "pJ/mm"},
    ]
    return Outcome(rows, {})


def _machine_table(results: Results, size: str) -> Outcome:
    machine = load_machine(MACHINE)
    values = {
        "register file": (4 * machine.sm.registers_per_sm // 1024, "KB"),
        "register bank": (machine.register_file.entries_per_bank * machine.register_file.entry_bytes // 1024, "KB"),
        "shared memory": (machine.sm.shared_bytes // 1024, "KB"),
        "shared memory bandwidth": (128 // machine.shared.cycles_per_pass, "B/cycle"),
        "memory bandwidth of an SM": (machine.memory.bytes_per_cycle, "B/cycle"),
        "ALU": (machine.latency[OpClass.F32_MAD], "cycles"),
        "special function": (machine.latency[OpClass.SFU], "cycles"),
        "shared memory latency, without our own stages": (machine.shared.latency, "cycles"),
        "texture": (machine.memory.texture_latency, "cycles"),
        "DRAM": (machine.memory.latency, "cycles"),
    }
    return Outcome([{"parameter": key, "value": value, "unit": unit} for key, (value, unit) in values.items()], {})


def _wire_table(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for distances in WIRES:
        for group, value in _by_group(_energy(results, 8, 6, size, distances)).items():
            rows.append({"mrf_mm": distances.main, "rfc_mm": distances.cache, "group": group, "energy": value})
    facts = _energies(results, size)
    rows.append({"group": "if every access hit", "energy": 1 - facts["access-energy-bound"] / 100})
    rows.append({"group": "chip", "watts": facts["chip-watts"]})
    experiments = _plain_experiments(_energies, _runs(_combined())(size), results, size)
    return Outcome(rows, facts, experiments=experiments, reasons={"headline": MORE_READS})


def _energies(results: Results, size: str) -> dict[str, float]:
    """Energy of accesses and wires, and what that is of a chip's."""
    facts: dict[str, float] = {}
    names = {0.0: "0", 0.2: "0.2", 1.0: "1"}
    saved = 0.0
    for distances in WIRES:
        energy = _energy(results, 8, 6, size, distances)
        for group, value in _by_group(energy).items():
            key = f"wire-energy-{group}-{names[distances.cache]}" if distances.main else f"access-energy-{group}"
            facts[key] = value
        if distances.cache == 0.2:
            saved = 1 - _over_traces(energy)
    technology = load_technology(MACHINE)
    bound = {n: least_energy(r.counters, technology, 8, 6) for n, r in _of(results, _combined(), size).items()}
    chip = chip_estimate(saved)
    return facts | {
        "access-energy-bound": 100 * (1 - _over_traces(bound)),
        "headline": 100 * saved,
        "chip-watts": chip.watts,
        "chip-sm-share": 100 * chip.sm_share,
        "chip-dynamic-share": 100 * chip.dynamic_share,
    }


def _nothing(size: str) -> Sequence[RunSpec]:
    return []


FIGURES = (
    Figure("figure 2", "How often, and how soon, values are read", _and_plain(_runs(ANALYSED), _runs(ANALYSED)), _value_use),
    Figure(
        "figure 6",
        "Accesses avoided by a cache for every warp",
        _and_plain(_runs(*SWEEP, *VARIANTS), _AT_SIX),
        _entries,
    ),
    Figure("figure 7", "Accesses avoided, each compute program", _EACH_PROGRAM, _per_trace("compute")),
    Figure("figure 8", "Accesses avoided, each shader", _and_plain(_EACH_PROGRAM, _EACH_PROGRAM), _per_trace("shaders")),
    Figure("figure 9", "IPC by the number of active warps", _and_plain(_active_runs, _active_runs), _active_warps),
    Figure(
        "figure 10",
        "IPC by the number of active warps, each program",
        _runs(*(_scheduled(active) for active in (32, 8, 6, 4))),
        _active_per_workload,
    ),
    Figure(
        "figure 11",
        "Accesses avoided by a cache for eight active warps",
        _and_plain(_runs(*(_combined(8, entries) for entries in ENTRIES), WITHOUT_FLUSH, REFINED, SLOW_TOO), _FLUSHING),
        _flushed,
    ),
    Figure(
        "figure 12", "Energy of register accesses by cache size", _runs(*(_combined(*size) for size in SIZES)), _energy_by_size
    ),
    Figure("table 2", "Energy and size of the cache", _nothing, _cache_table),
    Figure("table 3", "Technology", _nothing, _technology_table),
    Figure("table 4", "The machine", _nothing, _machine_table),
    Figure(
        "table 5",
        "Energy of accesses and wires, 8 active warps, 6 entries",
        _and_plain(_runs(_combined()), _runs(_combined())),
        _wire_table,
    ),
)
