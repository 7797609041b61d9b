"""Write docs/workloads.md: every workload as the papers give it and as it runs here.

python scripts/write_workload_table.py [--size small]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from warploom.machines import load_machine
from warploom.simulation.description import describe_workload
from warploom.workloads.registry import workload_names

PAGE = Path(__file__).parents[1] / "docs" / "workloads.md"
HEAD = """# The workloads

Written by `python scripts/write_workload_table.py`, not by hand: sizes are `{size}`, registers are per thread after our
backend, CTAs per SM on machine `gtx480`, counts over all launches. *Divergent* is the share of warp instructions that not all of
the warp's threads execute. A workload is in the set of each paper that it names; `-` where the paper gives no number.

| workload | what it computes | papers: registers, CTAs/SM | registers | CTAs/SM | threads | instructions | divergent | lanes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def published(row: dict[str, Any]) -> str:
    """What the papers say of a workload."""
    parts = [f"{item['paper']}: {item.get('registers', '-')}, {item.get('ctas_per_sm', '-')}" for item in row["published"]]
    return "; ".join(parts)


def line(row: dict[str, Any]) -> str:
    """One workload."""
    counted = f"{row['warp_instructions']:,} | {row['divergent_share']:.1%} | {row['average_active_lanes']:.1f}"
    launch = f"{row['registers']} | {row['ctas_per_sm']} | {row['threads_per_cta']}"
    return f"| {row['name']} | {row['title']} | {published(row)} | {launch} | {counted} |"


def main() -> None:
    """Describe all workloads and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="small")
    size = parser.parse_args().size
    machine = load_machine("gtx480")
    rows = [describe_workload(name, size, machine) for name in workload_names()]
    PAGE.write_text(HEAD.format(size=size) + "\n".join(map(line, rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
