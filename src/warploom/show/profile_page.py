"""The page of a profile: a program under one or several designs, instruction by instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warploom.chip.sm.observing import WAIT_MEANINGS
from warploom.programs.custom import kernel_titles
from warploom.runs.limits import limits_of
from warploom.runs.result import Result
from warploom.show.charts import draw
from warploom.show.comparison import summary
from warploom.show.design_pages import design_sections, papers_of
from warploom.show.figures import WIDTH, idle_shares
from warploom.show.limits import use_of
from warploom.show.page import KernelListing, Page, PageFigure, WorkloadSection, hot_spot_rows
from warploom.show.profile import KernelProfile, lost_cycles, paired, scheduler_count
from warploom.show.runs import run_entries
from warploom.studies.reproduce.experiment import Chart

NOTICEABLE = 0.5  # cycles: less is not listed


def profile_page(results: Sequence[Result], profiles: Sequence[Sequence[KernelProfile]], command: str = "") -> Page:
    """The page of runs of one program, with their profiles; the first design is what the others are compared with."""
    first = results[0]
    size = f", size {first.size}" if first.size else ""
    designs = [result.design for result in results]
    return Page(
        title=f"Warploom: profile of {first.workload}",
        subtitle="What each instruction costs: why warps and schedulers wait at it, its register accesses and their energy.",
        headline=summary(results),
        conditions=f"Machine {first.machine}, technology {first.technology}{size}.",
        findings=[*_limits(results), *(_sentence(first, result) for result in results[1:])],
        designs=design_sections(designs),
        runs=run_entries(results),
        lost=[
            row
            for result, kernels in zip(results[1:], profiles[1:], strict=True)
            for row in lost_rows(first, profiles[0], result, kernels)
        ],
        figures=[_idle(results), _waits(results, profiles)],
        workloads=[_section(result, kernels) for result, kernels in zip(results, profiles, strict=True)],
        papers=papers_of(designs),
        made_from=[result.provenance for result in results],
        command=command,
    )


def lost_rows(
    first: Result, before: Sequence[KernelProfile], second: Result, after: Sequence[KernelProfile]
) -> list[dict[str, Any]]:
    """Idle cycles of an average scheduler by instruction under two designs, those that the second loses first."""
    schedulers, known = scheduler_count(first), {kernel.kernel: kernel for kernel in before}
    titles = kernel_titles(list(known))
    rows = []
    for kernel in after:
        if kernel.kernel in known:
            for row, old, new, reason in lost_cycles(paired(known[kernel.kernel].rows, kernel.rows)):
                cycles = {"before": old / schedulers, "after": new / schedulers, "change": (new - old) / schedulers}
                if abs(cycles["change"]) >= NOTICEABLE:
                    place = {"pc": row["pc"], "line": row["line"], "instruction": row["instruction"]}
                    about = {"design": second.design["name"], "kernel": titles[kernel.kernel]}
                    rows.append({**about, **place, **cycles, "reason": reason})
    return rows


def _limits(results: Sequence[Result]) -> list[str]:
    """What limited each run, and how far it used its chip."""
    told = [(result.design["name"], limit) for result in results if (limit := limits_of(result)) is not None]
    return [f"{name} is {limit.sentence} ({use_of(limit)}.)" for name, limit in told]


def _sentence(first: Result, second: Result) -> str:
    more = second.cycles - first.cycles
    kind = "more" if more >= 0 else "less"
    names = first.design["name"], second.design["name"]
    return f"{names[1]} takes {abs(more):,} cycles {kind} than {names[0]}, {abs(more) / first.cycles:.1%} of {first.cycles:,}."


def _idle(results: Sequence[Result]) -> PageFigure:
    chart = Chart("stacked", "design", "share", "reason", y_title="share of the schedulers' cycles")
    caption = "Why schedulers issued nothing: shares of all their cycles, for each design. What is missing to 1 is issue."
    return PageFigure("stalls", caption, draw(chart, idle_shares(results), "Idle schedulers", width=WIDTH))


def _waits(results: Sequence[Result], profiles: Sequence[Sequence[KernelProfile]]) -> PageFigure:
    rows = []
    for result, kernels in zip(results, profiles, strict=True):
        resident = max(1, sum(kernel.resident_cycles for kernel in kernels))
        totals = [kernel.total() for kernel in kernels]
        spent = {reason: sum(total["waits"].get(reason, 0) for total in totals) for reason in WAIT_MEANINGS}
        spent["issuing"] = sum(total["issue_cycles"] for total in totals)
        name = result.design["name"]
        rows += [{"design": name, "reason": reason, "share": cycles / resident} for reason, cycles in spent.items() if cycles]
    chart = Chart("stacked", "design", "share", "reason", y_title="share of the warps' cycles")
    caption = "What resident warps did: shares of all their cycles. " + "; ".join(
        f"{name}: {meaning}" for name, meaning in WAIT_MEANINGS.items()
    )
    return PageFigure("waits", caption + ".", draw(chart, rows, "Warps", width=WIDTH))


def _section(result: Result, kernels: Sequence[KernelProfile]) -> WorkloadSection:
    facts = {"cycles": f"{result.cycles:,}", "IPC": f"{result.ipc:.2f}", "registers": result.registers_per_thread}
    titles = kernel_titles([kernel.kernel for kernel in kernels])
    listings = [KernelListing(titles[kernel.kernel], hot_spots=hot_spot_rows(kernel)) for kernel in kernels]
    return WorkloadSection(f"{result.workload} under {result.design['name']}", "", facts, listings)
