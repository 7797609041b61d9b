"""RegMutex (ISCA 2018): its figures and table as experiments.

Occupancy only matters where the grid has more CTAs than are resident at once; the small size has few for fifteen SMs, so that it
runs on three, with their share of the memory system. Of the two kinds of code, our backend's is executed: its registers are
nearer to table I's, its addresses have 32 bits and its lanes meet at post-dominators, as in the paper's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from warploom.chip.machines import load_machine
from warploom.designs import parse_design, storage_bits
from warploom.papers.regmutex import PAPER
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Help, Outcome, Results, Row, run_named
from warploom.studies.reproduce.helps import without_shaped

MACHINE = "regmutex"
WIDE = "regmutex-wide"  # twice the file
THREE = "regmutex-memory-3"  # the memory system of the simulator's version that the paper names
FREE = "regmutex-free-memory"  # DRAM four times as fast, and four times the misses under way
SMS = {"tiny": 1, "small": 3}
LIMITED = ("bfs-queue", "cutcp", "dwt2d", "hotspot3d", "mri-q", "particlefilter", "radixsort", "sad")  # by the full file
OTHERS = ("gaussian", "heartwall", "lavamd", "mergesort", "montecarlo", "spmv", "srad", "tpacf")
SAMPLE = ("cutcp", "dwt2d", "hotspot3d", "particlefilter", "radixsort", "spmv")  # figure 1 has six of Rodinia and Parboil
SIZES = (2, 4, 6, 8, 10, 12)
SUFFIX = " + register_file=0.5"
WEIGHED = "regmutex(weighed=true)"  # not the paper's: sizes are refused with which warps would wait too long
NVIDIA_CODE = "sm_75"
NO_GAIN = (
    "input unknown, for the paper does not name the graph; our backend takes 14 registers for it, so that all warps are resident "
    "anyway; NVIDIA's compiler takes 22, with which a third CTA is resident as in the paper (base set 18, 26 sections) and gains "
    "nothing: memory is busy, not waited for"
)
BOUND = "registers for all"  # a file twice as large without any technique: what occupancy can give at most
# The rival renames every register: it is charged with a table of 30,240 bits, and holds as many CTAs as static liveness allows.
RFV = "rfv(table_bytes=3780, residency=held)"
# The same without what keeps further CTAs out: their number follows from what a warp holds in the mean, and only those wait that
# need a register; and without what renaming itself costs besides: instructions for release flags, and a stage.
SHARING_RFV = "rfv(table_bytes=3780, residency=usual, throttle=needy)"
IDEAL_RFV = "rfv(table_bytes=3780, residency=usual, throttle=needy, flags=operands, rename_cycles=0)"
TECHNIQUES = {"owf": "owf", "rfv": RFV, "regmutex": "regmutex"}
VARIANTS = {"regmutex, weighed": WEIGHED}

UNLIMITED = f"baseline on {WIDE}"
# A CTA of 512 threads fits half the file with 32 registers a thread, and with no more; NVIDIA's compiler would take 35.
LIMITS = {"heartwall": 32}


def _run(workload: str, design: str, size: str, machine: str = MACHINE) -> RunSpec:
    limit = f" + max_registers={LIMITS[workload]}" if workload in LIMITS else ""
    return run_named(workload, design + limit, machine, size, sms=SMS.get(size, 0))


def _full(workload: str, design: str, size: str) -> RunSpec:
    """A run on the full file."""
    return _run(workload, design, size)


def _half(workload: str, design: str, size: str) -> RunSpec:
    """A run on half the file; rfv keeps what programs see."""
    return _run(workload, design.replace("(", "(shrink=0.5, ") if design.startswith("rfv") else design + SUFFIX, size)


def _runs(
    place: Callable[[str, str, str], RunSpec], workloads: Sequence[str], *designs: str
) -> Callable[[str], Sequence[RunSpec]]:
    def runs(size: str) -> Sequence[RunSpec]:
        whole = [_run(name, "baseline", size) for name in workloads]
        return [*whole, *(place(name, design, size) for name in workloads for design in designs)]

    return runs


def _added(results: Results, size: str, place: Callable[[str, str, str], RunSpec], workloads: Sequence[str], design: str) -> dict:
    """Percent more cycles than on the full file without any technique, by workload."""
    return {
        name: 100 * (results[place(name, design, size)].cycles / results[_run(name, "baseline", size)].cycles - 1)
        for name in workloads
    }


def _mean(values: Iterable[float]) -> float:
    return fmean(values)


def _with_mean(rows: list[Row], values: dict[str, float], column: str, **label: Any) -> None:
    rows += [{"workload": name, **label, column: value} for name, value in values.items()]
    rows.append({"workload": "mean", **label, column: _mean(values.values())})


def _occupancy(result: Result) -> float:
    return 100 * result.occupancy


# --- figure 1: how many of the allocated registers are live ---------------------------------------------------------------------


def _live_runs(size: str) -> Sequence[RunSpec]:
    return [_run(name, "baseline", size) for name in SAMPLE]


def _live_share(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in SAMPLE:
        states = [state for state in results[_run(name, "baseline", size)].states if state["allocated"] > 0]
        for place, state in enumerate(states):
            share = 100 * state["live"] / state["allocated"]
            rows.append({"workload": name, "time": 100 * place / max(1, len(states) - 1), "live": share})
    chart = Chart("lines", "time", "live", facet="workload", x_title="% of the run", y_title="live, % of allocated registers")
    return Outcome(rows, {}, chart)


# --- table 1 and what the text says of storage ----------------------------------------------------------------------------------


def _table_runs(size: str) -> Sequence[RunSpec]:
    return [_full(n, d, size) for n in LIMITED for d in ("regmutex", WEIGHED)] + [
        _half(n, d, size) for n in OTHERS for d in ("regmutex", WEIGHED)
    ]


def _table(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for name in (*LIMITED, *OTHERS):
        place = _full if name in LIMITED else _half
        published = PAPER.workloads[name]
        ours, weighed = (results[place(name, design, size)].counters for design in ("regmutex", WEIGHED))
        rows.append(
            {
                "workload": name,
                "registers": ours["base_registers"] + ours["extended_registers"],
                "base set": ours["base_registers"],
                "base set, contention weighed": weighed["base_registers"],
                "sections": ours["sections"],
                "compaction moves": ours["compaction_moves"],
                "paper: registers": published["registers"],
                "paper: base set": published["base_set"],
            }
        )
    machine = load_machine(MACHINE)
    bits = {name: storage_bits(parse_design(name), machine) for name in ("regmutex", "regmutex-paired")}
    table = machine.sm.warps_per_sm * machine.sm.max_registers_per_thread * (machine.warp_registers - 1).bit_length()
    rfv = table + machine.warp_registers  # as this paper counts it: every register renamed, one availability bit an entry
    facts = {
        "storage-regmutex": bits["regmutex"],
        "storage-paired": bits["regmutex-paired"],
        "storage-rfv": rfv,
        "storage-ratio": rfv / bits["regmutex"],
    }
    return Outcome(rows, facts)


# --- figures 7 and 8: cycles and occupancy --------------------------------------------------------------------------------------


def _boost(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for design in ("regmutex", WEIGHED):
        added = _added(results, size, _full, LIMITED, design)
        for name in LIMITED:
            whole, shared = results[_run(name, "baseline", size)], results[_full(name, design, size)]
            rows.append(
                {
                    "workload": name,
                    "design": design,
                    "cycles saved": -added[name],
                    "occupancy before": _occupancy(whole),
                    "occupancy after": _occupancy(shared),
                }
            )
        rows.append({"workload": "mean", "design": design, "cycles saved": -_mean(added.values())})
    saved = -_added(results, size, _full, ("bfs-queue",), "regmutex")["bfs-queue"]
    chart = Chart("bars", "workload", "cycles saved", "design", y_title="cycles saved, %", published={"paper: mean": 12.8})
    free, unbound_cycles = (results[run].cycles for run in _unbound_runs(size))
    cause = "the few registers of our backend's code, slow DRAM and few misses under way"
    unbound = Experiment(cause, f"regmutex on {FREE} with {NVIDIA_CODE} code", 100 * (1 - unbound_cycles / free))
    return Outcome(rows, {"full-bfs": saved}, chart, {"full-bfs": unbound}, {"full-bfs": NO_GAIN})


def _unbound_runs(size: str) -> Sequence[RunSpec]:
    """BFS where a third CTA can become resident and memory is fast: without any technique, and with RegMutex."""
    return [replace(_run("bfs-queue", design, size, FREE), code=NVIDIA_CODE) for design in ("baseline", "regmutex")]


def _reduction(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for design in ("baseline", "regmutex", WEIGHED):
        added = _added(results, size, _half, OTHERS, design)
        for name in OTHERS:
            result = results[_half(name, design, size)]
            rows.append({"workload": name, "design": design, "cycles added": added[name], "occupancy": _occupancy(result)})
        rows.append({"workload": "mean", "design": design, "cycles added": _mean(added.values())})
    slower = [name for name, value in _added(results, size, _full, LIMITED, "regmutex").items() if value > 0.5]
    nothing = _added(results, size, _half, OTHERS, "baseline")
    shared = _added(results, size, _half, OTHERS, "regmutex")
    slower += [name for name, value in shared.items() if value > nothing[name] + 0.5]
    chart = Chart("bars", "workload", "cycles added", "design", y_title="cycles added, %", published={"paper: regmutex": 10.8})
    weighed = _added(results, size, _half, OTHERS, WEIGHED)
    fewer = sum(value > nothing[name] + 0.5 for name, value in weighed.items())
    kept = Experiment("sections for which warps wait too long", f"{WEIGHED}, half the file alone", fewer)
    return Outcome(rows, {"slow-downs": len(slower)}, chart, {"slow-downs": kept})


# --- figure 9: the rivals -------------------------------------------------------------------------------------------------------


def _rival_runs(size: str) -> Sequence[RunSpec]:
    designs = [*TECHNIQUES.values(), *VARIANTS.values()]
    full, half = _runs(_full, LIMITED, *designs), _runs(_half, OTHERS, "baseline", *designs, SHARING_RFV, IDEAL_RFV)
    return list(dict.fromkeys([*full(size), *half(size), *_bound_runs(size), *_version_3_runs(size)]))


def _bound_runs(size: str) -> Sequence[RunSpec]:
    return [_run(name, "baseline", size, WIDE) for name in (*LIMITED, *OTHERS)]


def _unlimited(results: Results, size: str) -> list[str]:
    """The programs of the half file that meet the paper's condition: the whole file does not limit their occupancy."""
    whole, wide = ({name: results[_run(name, "baseline", size, machine)] for name in OTHERS} for machine in (MACHINE, WIDE))
    return [name for name in OTHERS if wide[name].occupancy <= whole[name].occupancy]


def _bound(results: Results, size: str) -> dict[str, float]:
    """Percent more cycles with a file twice as large, by workload."""
    return _added(results, size, lambda name, design, size: _run(name, design, size, WIDE), LIMITED, "baseline")


def _without_limit(results: Results, size: str) -> Experiment:
    """Cycles saved on the full file where no technique is needed: no technique can save more by occupancy."""
    return Experiment("any limit of registers", UNLIMITED, -_mean(_bound(results, size).values()))


def _rivals(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    facts: dict[str, float] = {}
    for label, design in (TECHNIQUES | VARIANTS).items():
        added = _added(results, size, _full, LIMITED, design)
        _with_mean(rows, {name: -value for name, value in added.items()}, "percent", design=label, file="full: cycles saved")
        facts[f"full-{label}"] = -_mean(added.values())
    bound = _bound(results, size)
    _with_mean(rows, {name: -value for name, value in bound.items()}, "percent", design=BOUND, file="full: cycles saved")
    for label, design in {"nothing": "baseline", **TECHNIQUES, **VARIANTS}.items():
        added = _added(results, size, _half, OTHERS, design)
        _with_mean(rows, added, "percent", design=label, file="half: cycles added")
        facts[f"half-{label}"] = _mean(added.values())
    measured = {key: facts[key] for key in facts if key.partition("-")[2] not in VARIANTS}
    chart = Chart("bars", "workload", "percent", "design", facet="file", y_title="%")
    experiments = {key: _without_limit(results, size) for key in measured if key.startswith("full")}
    experiments["half-rfv"], reason = _sharing_rfv(results, size)
    experiments["half-regmutex"] = Experiment("sections for which warps wait too long", WEIGHED, facts["half-regmutex, weighed"])
    return Outcome(rows, measured, chart, experiments, {"half-rfv": reason}, _leaning(results, size))


def _leaning(results: Results, size: str) -> dict[str, Sequence[Help]]:
    """What the means of RegMutex lean on: shaped kernels, and programs that the half file should not be tried with."""
    full = {name: -value for name, value in _added(results, size, _full, LIMITED, "regmutex").items()}
    half = _added(results, size, _half, OTHERS, "regmutex")
    meeting = _unlimited(results, size)
    others = [Help("programs that the whole file limits", _mean(half[name] for name in meeting))] if meeting else []
    old = _of_version_3(results, size)
    return {"full-regmutex": [*without_shaped(full), old], "half-regmutex": [*without_shaped(half), *others]}


def _version_3_runs(size: str) -> Sequence[RunSpec]:
    return [_run(name, design, size, THREE) for name in LIMITED for design in ("baseline", "regmutex")]


def _of_version_3(results: Results, size: str) -> Help:
    """Cycles saved on the full file with the memory system of GPGPU-Sim 3.2.2."""
    runs = _version_3_runs(size)
    saved = [
        100 * (1 - results[shared].cycles / results[plain].cycles) for plain, shared in zip(runs[::2], runs[1::2], strict=True)
    ]
    return Help("the memory system of GPGPU-Sim 4.0", _mean(saved))


def _sharing_rfv(results: Results, size: str) -> tuple[Experiment, str]:
    """Half the file with rfv where warps share registers over time, and what of it renaming costs and one program adds."""
    sharing, ideal = (_added(results, size, _half, OTHERS, design) for design in (SHARING_RFV, IDEAL_RFV))
    experiment = Experiment("room kept for the peak of every warp, instead of its mean", SHARING_RFV, _mean(sharing.values()))
    rest = _mean(value for name, value in ideal.items() if name != "heartwall")
    reason = (
        f"without release instructions and the stage of renaming besides, {_mean(ideal.values()):.1f}; of that heartwall has "
        f"{ideal['heartwall']:.0f}, for one of its CTAs of 512 threads fills half the file, and the others {rest:.1f} in the mean"
    )
    return experiment, reason


# --- figures 10 and 11: the size of the extended set ----------------------------------------------------------------------------


def _sized(extended: int) -> str:
    return f"regmutex(extended={extended})"


def _sweep_rows(results: Results, size: str, column: str, value: Callable[[Result, Result], float]) -> list[Row]:
    rows: list[Row] = []
    for name in LIMITED:
        whole = results[_run(name, "baseline", size)]
        picked = results[_full(name, "regmutex", size)].counters["extended_registers"]
        for extended in SIZES:
            result = results[_full(name, _sized(extended), size)]
            if result.counters["extended_registers"] == extended:  # else a barrier or the code did not allow it
                rows.append({"workload": name, "extended": extended, column: value(result, whole), "picked": extended == picked})
    return rows


def _cycles_by_size(results: Results, size: str) -> Outcome:
    rows = _sweep_rows(results, size, "cycles saved", lambda result, whole: 100 * (1 - result.cycles / whole.cycles))
    chart = Chart("bars", "extended", "cycles saved", facet="workload", x_title="|Es|", y_title="cycles saved, %")
    return Outcome(rows, {}, chart)


def _success(counters: dict[str, Any]) -> float:
    """Acquires that found a section at once, in percent."""
    return 100 * (1 - counters["acquires_failed"] / counters["acquires"]) if counters["acquires"] else 100.0


def _acquires_by_size(results: Results, size: str) -> Outcome:
    rows = [
        row | {"what": "occupancy", "percent": row.pop("percent")}
        for row in _sweep_rows(results, size, "percent", lambda result, whole: _occupancy(result))
    ]
    rows += [
        row | {"what": "acquires that succeed", "percent": row.pop("percent")}
        for row in _sweep_rows(results, size, "percent", lambda result, whole: _success(result.counters))
    ]
    chart = Chart("bars", "extended", "percent", "what", facet="workload", x_title="|Es|", y_title="%")
    return Outcome(rows, {}, chart)


# --- figures 12 and 13: paired warps --------------------------------------------------------------------------------------------


def _paired_runs(size: str) -> Sequence[RunSpec]:
    full, half = _runs(_full, LIMITED, "regmutex-paired", "regmutex"), _runs(_half, OTHERS, "regmutex-paired", "regmutex")
    return list(dict.fromkeys([*full(size), *half(size), *_bound_runs(size), *_version_3_runs(size)]))


def _paired(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    full = {name: -value for name, value in _added(results, size, _full, LIMITED, "regmutex-paired").items()}
    half = _added(results, size, _half, OTHERS, "regmutex-paired")
    _with_mean(rows, full, "percent", file="full: cycles saved")
    _with_mean(rows, half, "percent", file="half: cycles added")
    for row in rows:
        if row["workload"] != "mean":
            place = _full if row["workload"] in LIMITED else _half
            row["occupancy"] = _occupancy(results[place(row["workload"], "regmutex-paired", size)])
    facts = {"full-paired": _mean(full.values()), "half-paired": _mean(half.values())}
    chart = Chart("bars", "workload", "percent", "file", y_title="%")
    return Outcome(rows, facts, chart, {"full-paired": _without_limit(results, size)})


def _success_rates(results: Results, size: str) -> Outcome:
    rows: list[Row] = []
    for label, design in {"regmutex": "regmutex", "paired": "regmutex-paired"}.items():
        for name in (*LIMITED, *OTHERS):
            counters = results[(_full if name in LIMITED else _half)(name, design, size)].counters
            if counters["acquires"]:
                rows.append({"workload": name, "design": label, "acquires that succeed": _success(counters)})
    chart = Chart("bars", "workload", "acquires that succeed", "design", y_title="acquires that succeed, %")
    return Outcome(rows, {}, chart)


_SWEEP = _runs(_full, LIMITED, "regmutex", *map(_sized, SIZES))

FIGURES = (
    Figure("figure 1", "Live share of allocated registers over time", _live_runs, _live_share),
    Figure("table 1", "Registers and base sets", _table_runs, _table),
    Figure(
        "figure 7",
        "Cycles and occupancy on the full file",
        lambda size: [
            *_runs(_full, LIMITED, "regmutex", WEIGHED)(size),
            *_unbound_runs(size),
        ],
        _boost,
    ),
    Figure(
        "figure 8",
        "Cycles and occupancy on half the file",
        lambda size: [
            *_runs(_half, OTHERS, "baseline", "regmutex", WEIGHED)(size),
            *_runs(_full, LIMITED, "regmutex")(size),
        ],
        _reduction,
    ),
    Figure("figure 9", "RegMutex beside owner-warp-first and rfv", _rival_runs, _rivals),
    Figure("figure 10", "Cycles by the size of the extended set", _SWEEP, _cycles_by_size),
    Figure("figure 11", "Occupancy and acquires that succeed by the size of the extended set", _SWEEP, _acquires_by_size),
    Figure("figure 12", "Paired warps: cycles and occupancy", _paired_runs, _paired),
    Figure("figure 13", "Acquires that succeed, with a pool and in pairs", _paired_runs, _success_rates),
)
