"""How much longer a run takes while hot spots are counted: processor time of the timing model, watched over not watched.

    warploom-lab watching-cost

Each workload is executed once and timed several times, the least of which counts; compilation is not among them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

DESIGNS = ("baseline", "rfc", "gpu-shrink")
WORKLOADS = ("hotspot", "matrixmul", "backprop", "srad", "lib", "bfs")
TIMES = 4


def seconds(workload: str, design: str, executions: Executions, observers: Sequence[str]) -> tuple[float, int]:
    """The least processor time of a run, and its cycles."""
    spent, cycles = [], 0
    for _ in range(TIMES):
        begun = time.process_time()
        cycles = simulate(workload, design, size="small", executions=executions, observers=observers).cycles
        spent.append(time.process_time() - begun)
    return min(spent), cycles


def main() -> None:
    """Print a line for each run, then the mean and the most."""
    ratios = []
    for design in DESIGNS:
        for workload in WORKLOADS:
            executions = Executions()  # of one program
            alone, cycles = seconds(workload, design, executions, ())
            watched, same = seconds(workload, design, executions, ["hot-spots"])
            assert cycles == same
            ratios.append(watched / alone)
            print(f"{workload:10} {design:10} {cycles:8,} cycles {alone:.3f} s, watched {watched:.3f} s: {ratios[-1]:.2f} times")
    mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    print(f"mean {mean:.2f}, least {min(ratios):.2f}, most {max(ratios):.2f}")


if __name__ == "__main__":
    main()
