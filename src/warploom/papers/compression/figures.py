"""Warped-compression (ISCA 2015): its figures and tables as experiments.

Averages are over the benchmarks of the set, each counted once. A ratio of compression is banks before over banks after, of all
writes of a benchmark together, for a bank is the least that the register file can leave out; divergent writes are counted as the
paper's figure 8 does, as if each were merged with the rest of its register and compressed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.designs.energy import Account, Technology, load_technology
from warploom.emulator.trace.encoding import ENCODINGS, image_bytes, image_slices
from warploom.papers.compression.bdi import BINS, NAMES, PHASES, SEVEN, SLICES
from warploom.programs.workloads.registry import workload_set
from warploom.runs.accounting import accounted, run_facts
from warploom.studies.reproduce.experiment import Chart, Experiment, Figure, Outcome, Results, Row
from warploom.studies.reproduce.grid import Grid, column, less, mean, no_runs

MACHINE = "compression"
# The grids of the small sizes fill every SM several times over.
GRID = Grid(MACHINE, workload_set(MACHINE), {"tiny": 1, "small": 2})
BASE, DESIGN = "baseline", "compression"
LRR_BASE, LRR = "baseline + scheduler=lrr", "compression + scheduler=lrr"
SINGLE = {
    "<4,0>": "compression + encoding=bdi(b4d1=false, b4d2=false)",
    "<4,1>": "compression + encoding=bdi(b4d0=false, b4d2=false)",
    "<4,2>": "compression + encoding=bdi(b4d0=false, b4d1=false)",
}
COMPRESSION = {cycles: f"compression + encoding=bdi(compression={cycles})" for cycles in (4, 8)}
BOTH_SLOW = "compression + encoding=bdi(compression=8, decompression=8)"
DECOMPRESSION = {cycles: f"compression + encoding=bdi(decompression={cycles})" for cycles in (2, 4, 8)}
FACTORS = (1.0, 1.5, 2.0, 2.5)
ACTIVITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
AVERAGE = "average"

INSTANT = "compression + encoding=bdi(compression=0, decompression=0)"
MERGED = "compression + encoding=bdi(divergence=merge)"
BUSY = tuple(f"compression + encoding=bdi({unit}=8, pipelined=false)" for unit in ("compression", "decompression"))
MOST_DIVERGENT = ("bfs", "mum")  # partial writes almost throughout, which stay uncompressed
WITHOUT = f"{' and '.join(MOST_DIVERGENT)}, the most divergent"
PAPER_PAIRS = ((4, 0), (4, 1), (4, 2))
UNITS_MM2, SM_MM2 = 0.07, 22.0  # section 6.1, from synthesis and a die photograph


def _counters(results: Results, size: str, design: str = DESIGN) -> dict[str, dict[str, Any]]:
    """The counters of every workload under a design."""
    return {workload: result.counters for workload, result in GRID.of(results, design, size).items()}


def _with_average(rows: Sequence[Row], value: str, *, by: str = "") -> list[Row]:
    """The rows and, for each series, their average."""
    out = list(rows)
    for series in dict.fromkeys(row.get(by) for row in rows):
        values = [row[value] for row in rows if row.get(by) == series and row[value] is not None]
        if values:
            out.append({"workload": AVERAGE, **({by: series} if by else {}), value: fmean(values)})
    return [row for row in out if row[value] is not None]


def _series(series: Mapping[str, Mapping[str, float]], value: str, by: str) -> list[Row]:
    """Rows of some values by label and workload, workload after workload, and the average of each label."""
    rows = [{"workload": name, by: label, value: values[name]} for name in GRID.workloads for label, values in series.items()]
    return _with_average(rows, value, by=by)


def _average_of(rows: Sequence[Row], value: str, **wanted: Any) -> float:
    return column(rows, value, workload=AVERAGE, **wanted)[0]


def _without_divergent(values: Sequence[tuple[str, float]]) -> Experiment:
    """The average of a number over the benchmarks that do not diverge almost throughout."""
    kept = fmean(value for workload, value in values if workload not in (*MOST_DIVERGENT, AVERAGE))
    return Experiment(WITHOUT, f"average without {' and '.join(MOST_DIVERGENT)}", kept)


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


# --- what registers hold ----------------------------------------------------------------------------------------------------


def similarity(results: Results, size: str) -> Outcome:
    """Writes by the largest distance between neighbouring lanes."""
    rows: list[Row] = []
    for workload, counters in _counters(results, size).items():
        for phase in PHASES:
            bins = counters["distance_bins"][phase]
            for name in BINS:
                share = _percent(bins[name], sum(bins.values()))
                rows.append({"workload": workload, "phase": phase.replace("_", "-"), "bin": name, "share": share})
    for phase in dict.fromkeys(row["phase"] for row in rows):
        for name in BINS:
            shares = [share for share in column(rows, "share", phase=phase, bin=name) if share is not None]
            rows.append({"workload": AVERAGE, "phase": phase, "bin": name, "share": fmean(shares) if shares else None})
    rows = [row for row in rows if row["share"] is not None]
    facts = {f"not-random-{phase}": 100 - _average_of(rows, "share", phase=phase, bin="random") for phase in _phases(rows)}
    chart = Chart("stacked", "workload", "share", series="bin", facet="phase", y_title="% of register writes")
    return Outcome(rows, facts, chart)


def _phases(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["phase"] for row in rows))


def _shares(results: Results, size: str, counter: Callable[[dict[str, Any]], float]) -> list[Row]:
    """A share of warp instructions by workload in percent, and its average."""
    counters = _counters(results, size)
    return _with_average([{"workload": workload, "share": 100 * counter(one)} for workload, one in counters.items()], "share")


def divergence(results: Results, size: str) -> Outcome:
    """The share of instructions that all 32 lanes execute."""
    rows = _shares(results, size, lambda counters: 1 - counters["divergent_share"])
    chart = Chart("bars", "workload", "share", y_title="% of warp instructions", published={"paper, average": 79})
    kept = _without_divergent([(row["workload"], row["share"]) for row in rows])
    return Outcome(rows, {"non-divergent": _average_of(rows, "share")}, chart, {"non-divergent": kept})


def best_pairs(results: Results, size: str) -> Outcome:
    """The pair with the smallest image, of the seven with a base of four or eight bytes."""
    names = [name for index, name in enumerate(NAMES) if SEVEN >> index & 1]
    rows: list[Row] = []
    for workload, counters in _counters(results, size).items():
        best = counters["best_of_seven"]
        rows += [
            {"workload": workload, "pair": name, "share": _percent(best[name], sum(best.values()))} for name in (*names, "none")
        ]
    rows = _with_average(rows, "share", by="pair")
    return Outcome(rows, {}, Chart("stacked", "workload", "share", series="pair", y_title="% of register writes"))


def ratios(results: Results, size: str) -> Outcome:
    """Banks of a register over banks of its image, by divergence."""
    rows = [
        {"workload": workload, "phase": phase.replace("_", "-"), "ratio": counters["compression_ratio"][phase]}
        for workload, counters in _counters(results, size).items()
        for phase in PHASES
    ]
    rows = _with_average(rows, "ratio", by="phase")
    facts = {f"ratio-{phase}": _average_of(rows, "ratio", phase=phase) for phase in _phases(rows)}
    return Outcome(rows, facts, Chart("bars", "workload", "ratio", series="phase", y_title="compression ratio"))


# --- energy -----------------------------------------------------------------------------------------------------------------


def _same(technology: Technology) -> Technology:
    return technology


def _accounts(results: Results, size: str, design: str, change: Callable[[Technology], Technology] = _same) -> dict[str, Account]:
    """The account of every workload's stored run under a changed technology: only counters are evaluated again."""
    accounts = {}
    for workload, result in GRID.of(results, design, size).items():
        run = GRID.run(workload, design, size)
        table, facts = load_technology(result.spec.technology), run_facts(result.cycles, run.design, run.machine)
        accounts[workload] = accounted(result.counters, run.design, change(table), facts)
    return accounts


def _relative(
    results: Results, size: str, design: str, change: Callable[[Technology], Technology] = _same, reference: str = BASE
) -> dict[str, float]:
    """All energy in percent of that under another design, by workload."""
    theirs = _accounts(results, size, reference, change)
    return {name: 100 * ours.total / theirs[name].total for name, ours in _accounts(results, size, design, change).items()}


def _energy_rows(results: Results, size: str, designs: Mapping[str, str]) -> list[Row]:
    """Energy of some designs relative to the baseline, in percent, by workload and by what spends it."""
    rows: list[Row] = []
    accounts = {label: _accounts(results, size, design) for label, design in designs.items()}
    for workload, base in _accounts(results, size, BASE).items():
        whole = base.total
        for label in designs:
            spent = accounts[label][workload]
            units = {term.what: term.joules for term in spent.added}
            parts = {
                "dynamic": sum(term.joules for term in spent.register_file if term.part == "dynamic"),
                "leakage": spent.leakage,
                "compression": units.get("compression", 0.0),
                "decompression": units.get("decompression", 0.0),
            }
            rows += [
                {"workload": workload, "design": label, "part": part, "energy": 100 * joules / whole}
                for part, joules in parts.items()
            ]
    for label in designs:
        for part in ("dynamic", "leakage", "compression", "decompression"):
            energies = column(rows, "energy", design=label, part=part)
            rows.append({"workload": AVERAGE, "design": label, "part": part, "energy": fmean(energies)})
    return rows


def energy(results: Results, size: str) -> Outcome:
    """Energy of the register file by part."""
    rows = _energy_rows(results, size, {"baseline": BASE, "compression": DESIGN})
    ours, theirs = (_accounts(results, size, design) for design in (DESIGN, BASE))
    saved = {
        f"{part}-saved": [less(getattr(ours[name], part), getattr(theirs[name], part)) for name in GRID.workloads]
        for part in ("dynamic", "leakage", "total")
    }
    facts = {key: fmean(values) for key, values in saved.items()}
    experiments = {key: _without_divergent(list(zip(GRID.workloads, values, strict=True))) for key, values in saved.items()}
    chart = Chart("stacked", "workload", "energy", series="part", facet="design", y_title="% of the baseline's energy")
    return Outcome(rows, facts, chart, experiments)


def gated_banks(results: Results, size: str) -> Outcome:
    """The share of time in which each bank is gated, averaged over the benchmarks."""
    machine = load_machine(MACHINE)
    shares = []
    for result in GRID.of(results, DESIGN, size).values():
        whole = result.cycles * (GRID.sms.get(size) or machine.chip.sms)
        shares.append([100 * gated / whole for gated in result.counters["bank_gated_cycles"]])
    rows: list[Row] = [
        {"bank": bank, "cluster": f"cluster {bank // SLICES}", "gated": fmean(times)}
        for bank, times in enumerate(zip(*shares, strict=True))
    ]
    chart = Chart("bars", "bank", "gated", series="cluster", x_title="bank", y_title="% of cycles gated")
    return Outcome([{**row, "bank": str(row["bank"])} for row in rows], {}, chart)


def moves(results: Results, size: str) -> Outcome:
    """Dummy MOVs as a share of all instructions."""
    rows = _shares(results, size, lambda counters: counters["dummy_mov_share"])
    worst = max(rows, key=lambda row: row["share"])
    chart = Chart("bars", "workload", "share", y_title="% of warp instructions", published={"paper, at most": 2})
    merged = max(value["moves"] / value["warp_instructions"] for value in _counters(results, size, MERGED).values())
    removed = Experiment("MOVs ahead of partial writes", MERGED, 100 * merged)
    return Outcome(rows, {"dummy-movs": worst["share"]}, chart, {"dummy-movs": removed})


def compressed_registers(results: Results, size: str) -> Outcome:
    """The share of a warp's registers that are compressed while it executes (non-)divergent instructions."""
    rows = [
        {"workload": workload, "phase": phase.replace("_", "-"), "share": share and 100 * share}
        for workload, counters in _counters(results, size).items()
        for phase, share in counters["compressed_share"].items()
    ]
    rows = _with_average(rows, "share", by="phase")
    return Outcome(rows, {}, Chart("bars", "workload", "share", series="phase", y_title="% of a warp's registers"))


# --- time -------------------------------------------------------------------------------------------------------------------


def _time(
    results: Results, size: str, designs: Mapping[str, str], facts: Mapping[str, str], without: Mapping[str, tuple[str, str]]
) -> Outcome:
    """Execution time of designs relative to the baseline, and the average slow-down of some of them as facts.

    ``without`` has for a fact its cause and the design that has it no more.
    """
    times = {
        label: {name: 100 + added for name, added in GRID.time_added(results, design, size, BASE).items()}
        for label, design in designs.items()
    }
    rows = _series(times, "time", by="design")
    values = {fact: _average_of(rows, "time", design=label) - 100 for fact, label in facts.items()}
    experiments = {
        fact: Experiment(cause, design, mean(GRID.time_added(results, design, size, BASE).values()))
        for fact, (cause, design) in without.items()
    }
    chart = Chart("bars", "workload", "time", series="design", y_title="% of the baseline's time")
    return Outcome(rows, values, chart, experiments)


# --- variants ---------------------------------------------------------------------------------------------------------------


def schedulers(results: Results, size: str) -> Outcome:
    """Energy under GTO and LRR, each relative to the baseline with the same scheduler."""
    shares = {"GTO": _relative(results, size, DESIGN), "LRR": _relative(results, size, LRR, reference=LRR_BASE)}
    rows = _series(shares, "energy", by="scheduler")
    chart = Chart("bars", "workload", "energy", series="scheduler", y_title="% of the baseline's energy")
    kept = _without_divergent([(row["workload"], 100 - row["energy"]) for row in rows if row["scheduler"] == "LRR"])
    return Outcome(
        rows, {"total-saved-lrr": 100 - _average_of(rows, "energy", scheduler="LRR")}, chart, {"total-saved-lrr": kept}
    )


def _overall_ratio(counters: Mapping[str, Any]) -> float:
    return SLICES * sum(counters["writes"].values()) / sum(counters["ideal_slices"].values())


def single_ratios(results: Results, size: str) -> Outcome:
    """Compression ratios with one pair alone, and with the paper's three."""
    designs = {**SINGLE, "all three": DESIGN}
    rows = [
        {"workload": workload, "pairs": label, "ratio": _overall_ratio(counters)}
        for label, design in designs.items()
        for workload, counters in _counters(results, size, design).items()
    ]
    rows = _with_average(rows, "ratio", by="pairs")
    alone, all_three = (_average_of(rows, "ratio", pairs=label) for label in ("<4,0>", "all three"))
    chart = Chart("bars", "workload", "ratio", series="pairs", y_title="compression ratio")
    return Outcome(rows, {"ratio-only-4-0": 100 * (1 - alone / all_three)}, chart)


def single_energy(results: Results, size: str) -> Outcome:
    """Energy with one pair alone, and with the paper's three."""
    shares = {label: _relative(results, size, design) for label, design in {**SINGLE, "all three": DESIGN}.items()}
    rows = _series(shares, "energy", by="pairs")
    return Outcome(rows, {}, Chart("bars", "workload", "energy", series="pairs", y_title="% of the baseline's energy"))


def _costlier_units(factor: float, technology: Technology) -> Technology:
    """Compressors and decompressors whose activation costs more."""
    units = {
        name: replace(getattr(technology, name), activation=getattr(technology, name).activation * factor)
        for name in ("compressor", "decompressor")
    }
    return replace(technology, **units)


def _costlier_banks(factor: float, technology: Technology) -> Technology:
    """Accesses that cost more, wires included: what the paper calls access energy in section 6.7."""
    file, wire = technology.register_file, technology.wire
    return replace(
        technology,
        register_file=replace(file, read=file.read * factor, write=file.write * factor),
        wire=replace(wire, capacitance=wire.capacitance * factor),
    )


def _wire_activity(activity: float, technology: Technology) -> Technology:
    return replace(technology, wire=replace(technology.wire, activity=activity))


def _costs(change: Callable[[float, Technology], Technology], fact: str, results: Results, size: str) -> Outcome:
    """Energy when something costs more, by factor."""
    shares = {f"{factor}x": _relative(results, size, DESIGN, partial(change, factor)) for factor in FACTORS}
    rows = _series(shares, "energy", by="factor")
    chart = Chart("bars", "workload", "energy", series="factor", y_title="% of the baseline's energy")
    kept = _without_divergent([(row["workload"], 100 - row["energy"]) for row in rows if row["factor"] == "2.5x"])
    return Outcome(rows, {fact: 100 - _average_of(rows, "energy", factor="2.5x")}, chart, {fact: kept})


def wires(results: Results, size: str) -> Outcome:
    """Energy over the share of wires that switch, averaged over the benchmarks."""
    rows: list[Row] = []
    for activity in ACTIVITIES:
        shares = _relative(results, size, DESIGN, partial(_wire_activity, activity))
        rows.append({"activity": f"{activity:.0%}", "energy": fmean(shares.values())})
    kept = _without_divergent([(name, 100 - share) for name, share in shares.items()])
    chart = Chart("bars", "activity", "energy", x_title="wires that switch", y_title="% of the baseline's energy")
    return Outcome(rows, {"wires-all-switching": 100 - rows[-1]["energy"]}, chart, {"wires-all-switching": kept})


# --- tables -----------------------------------------------------------------------------------------------------------------


def sizes(results: Results, size: str) -> Outcome:
    """Table 1, computed from images that are really built."""
    rows: list[Row] = [
        {
            "base": base,
            "delta": delta,
            "bytes": image_bytes(base, delta),
            "banks": image_slices(base, delta),
            "used": (base, delta) in PAPER_PAIRS,
        }
        for base, delta in ENCODINGS
    ]
    return Outcome(rows, {})


def machine_table(results: Results, size: str) -> Outcome:
    """Table 2, as the machine and the design have it."""
    machine, design = load_machine(MACHINE), parse_design(DESIGN).policies
    file, bdi = machine.register_file, design.encoding
    values = {
        "clock frequency": f"{machine.chip.clock_energy_mhz / 1000:g} GHz",
        "SMs": machine.chip.sms,
        "warp schedulers per SM": machine.sm.schedulers,
        "warp scheduling": design.scheduler.NAME,
        "warps per SM": machine.sm.warps_per_sm,
        "threads per SM": machine.sm.threads_per_sm,
        "register file": f"{machine.sm.registers_per_sm * 4 // 1024} KB",
        "registers per SM": machine.sm.registers_per_sm,
        "register banks": file.banks,
        "bits of a bank entry": 8 * file.entry_bytes,
        "entries of a bank": file.entries_per_bank,
        "compressors": bdi.compressors,
        "decompressors": bdi.decompressors,
        "compression": f"{bdi.compression} cycles",
        "decompression": f"{bdi.decompression} cycle",
        "bank wake-up": f"{design.power.wakeup} cycles",
    }
    return Outcome([{"parameter": name, "value": str(value)} for name, value in values.items()], {})


def technology_table(results: Results, size: str) -> Outcome:
    """Table 3, as the energy account uses it."""
    table = load_technology(MACHINE)
    file = table.register_file
    values = {
        "operating voltage (V)": table.voltage,
        "wire capacitance (fF/mm)": table.wire.capacitance * 1e12,
        "wire energy (128 bits, pJ/mm)": table.wire_energy * 128 * 1e9,
        "access energy of a bank (pJ)": file.read * 1e12,
        "leakage power of a bank (mW)": file.leakage * 1e3,
        "compression, an activation (pJ)": table.compressor.activation * 1e12,
        "compression, leakage (mW)": table.compressor.leakage * 1e3,
        "decompression, an activation (pJ)": table.decompressor.activation * 1e12,
        "decompression, leakage (mW)": table.decompressor.leakage * 1e3,
    }
    rows: list[Row] = [{"parameter": name, "value": round(value, 6)} for name, value in values.items()]
    return Outcome(rows, {"area": 100 * UNITS_MM2 / SM_MM2})


# ----------------------------------------------------------------------------------------------------------------------------

_COMPRESSED = GRID.runs(DESIGN)
_BOTH = GRID.runs(BASE, DESIGN)

FIGURES = (
    Figure("figure 2", "Distance between neighbouring lanes of written registers", _COMPRESSED, similarity),
    Figure("figure 3", "Warp instructions that are not divergent", _COMPRESSED, divergence),
    Figure("figure 5", "Pair of base and delta with the smallest image", _COMPRESSED, best_pairs),
    Figure("figure 8", "Compression ratio", _COMPRESSED, ratios),
    Figure("figure 9", "Energy of the register file", _BOTH, energy),
    Figure("figure 10", "Time in which each bank is gated", _COMPRESSED, gated_banks),
    Figure("figure 11", "Dummy MOVs", GRID.runs(DESIGN, MERGED), moves),
    Figure("figure 12", "Registers that are compressed", _COMPRESSED, compressed_registers),
    Figure(
        "figure 13",
        "Execution time",
        GRID.runs(BASE, DESIGN, INSTANT),
        partial(
            _time,
            designs={"compression": DESIGN},
            facts={"slow-down": "compression"},
            without={"slow-down": ("the three cycles of the units on every dependence", INSTANT)},
        ),
    ),
    Figure("figure 14", "Energy under two schedulers", GRID.runs(BASE, DESIGN, LRR_BASE, LRR), schedulers),
    Figure("figure 15", "Compression ratio with one pair alone", GRID.runs(DESIGN, *SINGLE.values()), single_ratios),
    Figure("figure 16", "Energy with one pair alone", GRID.runs(BASE, DESIGN, *SINGLE.values()), single_energy),
    Figure("figure 17", "Energy with costlier units", _BOTH, partial(_costs, _costlier_units, "unit-energy-2.5")),
    Figure("figure 18", "Energy with costlier accesses", _BOTH, partial(_costs, _costlier_banks, "bank-energy-2.5")),
    Figure("figure 19", "Energy over the activity of wires", _BOTH, wires),
    Figure(
        "figure 20",
        "Execution time with slower compression",
        GRID.runs(BASE, DESIGN, *COMPRESSION.values(), BUSY[0]),
        partial(
            _time,
            designs={"2 cycles": DESIGN} | {f"{cycles} cycles": design for cycles, design in COMPRESSION.items()},
            facts={"slow-down-8-compression": "8 cycles"},
            without={"slow-down-8-compression": ("units that take a value every cycle", BUSY[0])},
        ),
    ),
    Figure(
        "figure 21",
        "Execution time with slower decompression",
        GRID.runs(BASE, *DECOMPRESSION.values(), BOTH_SLOW, BUSY[1]),
        partial(
            _time,
            designs={f"{cycles} cycles": design for cycles, design in DECOMPRESSION.items()} | {"8, compression too": BOTH_SLOW},
            facts={"slow-down-8-decompression": "8 cycles"},
            without={"slow-down-8-decompression": ("units that take a value every cycle", BUSY[1])},
        ),
    ),
    Figure("table 1", "Sizes of images", no_runs, sizes),
    Figure("table 2", "The machine", no_runs, machine_table),
    Figure("table 3", "Energy and power", no_runs, technology_table),
)
