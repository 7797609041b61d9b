"""What running a program through `warploom exec` costs beside the emulator's own time: per launch, and per byte copied.

    warploom-lab exec-overhead [--launches 10000] [--megabytes 256]

Needs nvcc. Builds a program that launches a kernel of one block again and again, and one that copies a large array to the device
and back, runs both, and prints milliseconds per launch (with the emulator, and beside it) and GB/s for each direction.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.emulator.emulator import Emulator
from warploom.programs.process import ProcessOrigin
from warploom.programs.runtime import Runtime
from warploom.programs.server import run_program
from warploom.runs.live import ProgramRun
from warploom.runs.spec import RunSpec

SOURCE = r"""
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void one(int *x) { x[threadIdx.x] += 1; }
static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
int main(int, char **words) {
    int launches = atoi(words[1]);
    size_t bytes = (size_t)atoi(words[2]) << 20;
    int *x, first = 0;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    one<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    double start = now();
    for (int i = 0; i < launches; i++) one<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    double launched = now() - start;
    cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
    std::vector<char> host(bytes, 7);
    char *data;
    cudaMalloc(&data, bytes);
    cudaMemset(data, 0, bytes);
    start = now();
    cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice);
    double to = now() - start;
    start = now();
    cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost);
    double from = now() - start;
    printf("%d %.6f %.6f %.6f\n", first, launched, bytes / to / 1e9, bytes / from / 1e9);
    return first != launches + 1 || host[bytes - 1] != 7;
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=256)
    options = parser.parse_args()
    emulating = [0.0]
    execute = Emulator.execute

    def watched(*given: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(*given)
        finally:
            emulating[0] += time.perf_counter() - started

    Emulator.execute = watched  # type: ignore[method-assign, assignment]
    with tempfile.TemporaryDirectory() as folder:
        source, program, printed = Path(folder) / "overhead.cu", Path(folder) / "overhead", Path(folder) / "printed"
        source.write_text(SOURCE)
        way = ["-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75"]
        subprocess.run(["nvcc", *way, "-o", str(program), str(source)], check=True)
        run = ProgramRun(RunSpec(ProcessOrigin((str(program),)), design("baseline"), load_machine("gtx480"), timed=False))
        words = [str(program), str(options.launches), str(options.megabytes)]
        for warm_up in (True, False):  # the first run compiles the emulator
            emulating[0] = 0.0
            given = [words[0], "1", "1"] if warm_up else words
            command = ["sh", "-c", f"{' '.join(given)} > {printed}"]
            status = run_program(command, lambda: Runtime(run.settings(), str(program)))
        if status:
            return status
        _, launched, to, from_ = (float(word) for word in printed.read_text().split())
    whole, emulator = (1000 * seconds / options.launches for seconds in (launched, emulating[0]))
    print(f"{options.launches} launches: {whole:.4f} ms each, of which the emulator {emulator:.4f}, exec {whole - emulator:.4f}")
    print(f"copies of {options.megabytes} MB: {to:.2f} GB/s to the device, {from_:.2f} GB/s back")
    return 0


if __name__ == "__main__":
    sys.exit(main())
