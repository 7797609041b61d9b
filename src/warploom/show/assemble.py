"""From stored runs to the page of the report: which design is best, which combinations reinforce or cancel each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom.base.kept import read_kept_json
from warploom.programs.program import WorkloadOrigin
from warploom.programs.workloads.registry import load_workload
from warploom.runs.compilation import compile_for
from warploom.runs.result import Result
from warploom.show.combinations import LIMITS
from warploom.show.comparison import by_design, summary
from warploom.show.design_pages import design_sections, papers_of
from warploom.show.figures import report_figures
from warploom.show.page import Page, WorkloadSection, listing_of
from warploom.show.profile import KernelProfile
from warploom.show.reproduction import SCORECARD
from warploom.show.runs import run_entries
from warploom.studies.reproduce.experiment import Row

TOLERATED_SLOWDOWN = 0.02  # a design that costs more time than this is not called the best
_LIMITS_SAY = {
    "oracle": "limit of allocation alone, oracle, which frees each register after its true last read at no cost,",
    "oracle-free-wakeup": "limit of allocation with sleeping, oracle-free-wakeup, where live registers also sleep at no cost,",
}
NOTICEABLE = 0.02  # of the baseline's energy: below it, parts of a combination neither help nor hinder each other


def best_design(rows: Sequence[Mapping[str, Any]]) -> str:
    """The design with the least product of energy and time."""
    return min((row for row in rows if row["design"] not in LIMITS), key=lambda row: row["energy"] * row["time"])["design"]


def thriftiest_at_speed(rows: Sequence[Mapping[str, Any]]) -> str:
    """The design that saves most energy among those that cost hardly any time; none if none of them saves a noticeable part."""
    able = [row for row in rows if row["time"] <= 1 + TOLERATED_SLOWDOWN and row["design"] not in LIMITS]
    least = min(able, key=lambda row: row["energy"], default=None)
    return least["design"] if least is not None and least["energy"] < 1 - NOTICEABLE else ""


def combination_rows(rows: Sequence[Mapping[str, Any]], combinations: Mapping[str, Sequence[str]]) -> list[Row]:
    """For each combination, its energy beside what its parts would give if their savings multiplied."""
    energy = {row["design"]: row["energy"] for row in rows}
    found = []
    for name, parts in combinations.items():
        if name not in energy or any(part not in energy for part in parts):
            continue
        expected = math.prod(energy[part] for part in parts)
        gap = energy[name] - expected
        verdict = "reinforce each other" if gap < -NOTICEABLE else "cancel in part" if gap > NOTICEABLE else "add up"
        found.append({"combination": name, "energy": energy[name], "expected": expected, "verdict": verdict})
    return found


def findings(rows: Sequence[Mapping[str, Any]], combinations: Mapping[str, Sequence[str]]) -> list[str]:
    """What the numbers say, in sentences made of them."""
    by_name = {row["design"]: row for row in rows}
    sentences = []
    best, thriftiest = by_name[best_design(rows)], by_name.get(thriftiest_at_speed(rows))
    sentences.append(
        f"Least product of register file energy and time: {best['design']}, with {best['energy']:.1%} of the baseline's energy "
        f"and {best['time']:.3f} of its time."
    )
    if thriftiest is not None:
        sentences.append(
            f"Most energy saved at {TOLERATED_SLOWDOWN:.0%} more time or less: {thriftiest['design']}, with "
            f"{thriftiest['energy']:.1%} of the baseline's energy and {thriftiest['time']:.3f} of its time."
        )
    for name, what in _LIMITS_SAY.items():
        if name in by_name:
            sentences.append(f"The {what} stands at {by_name[name]['energy']:.1%}.")
    for row in combination_rows(rows, combinations):
        sentences.append(
            f"{row['combination']}: {row['energy']:.1%} of the baseline's energy, where multiplied savings would give "
            f"{row['expected']:.1%}; the parts {row['verdict']}."
        )
    return sentences


def _workload(name: str, baseline: Result, measured: Sequence[KernelProfile]) -> WorkloadSection:
    spec = baseline.spec
    module = spec.program.open(spec.code, spec.seed).module()
    title = load_workload(name).title if isinstance(spec.program, WorkloadOrigin) else "a recorded program"
    costs = {kernel.kernel: kernel for kernel in measured}
    codes = [compile_for(module, each.kernel, spec.design, spec.machine) for each in baseline.kernels]
    kernels = [listing_of(code, costs.get(code.name)) for code in codes]
    facts = {
        "registers": baseline.registers_per_thread,
        "CTAs per SM": baseline.ctas_per_sm,
        "occupancy": f"{baseline.occupancy:.0%}",
        "warp instructions": f"{baseline.warp_instructions:,}",
        "cycles": f"{baseline.cycles:,}",
        "IPC": f"{baseline.ipc:.2f}",
    }
    return WorkloadSection(name, title, facts, kernels)


def read_scores(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The scorecard that a reproduction left in a folder, by paper; empty if there is none, or a damaged one."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in read_kept_json(folder / SCORECARD) or ():
        grouped.setdefault(row["id"].partition(".")[0], []).append(row)
    return grouped


def assemble(
    results: Sequence[Result],
    combinations: Mapping[str, Sequence[str]],
    scores: Mapping[str, Sequence[Mapping[str, Any]]],
    profiles: Mapping[str, Sequence[KernelProfile]] | None = None,
    command: str = "",
) -> Page:
    """The page of a comparison; ``profiles`` say by workload what each instruction cost under the first design."""
    rows = summary(results)
    grouped = by_design(results)
    baseline, designs = next(iter(grouped.values())), [group[0].design for group in grouped.values()]
    names = ", ".join(result.workload for result in baseline)
    checked = " Checked runs." if all(result.checked for result in results) else ""
    first = baseline[0]
    return Page(
        title="Warploom: register file designs side by side",
        subtitle="Published register files and their combinations: one machine, one set of kernels, one energy model.",
        headline=rows,
        conditions=f"Machine {first.machine}, technology {first.technology}, size {first.size}; workloads: {names}.{checked}",
        findings=findings(rows, combinations),
        best=best_design(rows),
        designs=design_sections(designs),
        runs=run_entries(results),
        figures=report_figures(rows, results),
        scores=scores,
        workloads=[_workload(result.workload, result, (profiles or {}).get(result.workload, ())) for result in baseline],
        papers=papers_of(designs),
        made_from=[result.provenance for result in results],
        command=command,
    )
