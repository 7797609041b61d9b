"""Energy of the loops in `energy.json`, from the GPU's own counter of energy (NVML), read while each loop runs for seconds.

The counter moves in steps of some ten to a hundred milliseconds: a window begins and ends with such a step, so that its length
is known. Loops take turns, and what is compared is compared within a turn, so that the chip's warming cancels.
"""

from __future__ import annotations

import ctypes
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 2.0  # of a loop; the first part is left out
SETTLING = 0.5


class Counter:
    """The energy that the GPU has used since the driver was loaded, in millijoules."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.device = ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))

    def millijoules(self) -> int:
        """The counter now."""
        value = ctypes.c_ulonglong()
        problem = self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(value))
        if problem:
            raise RuntimeError(f"NVML answers {problem}")
        return value.value

    def step(self) -> tuple[float, int]:
        """Wait for the counter to move: when it did, and what it says then."""
        before = self.millijoules()
        while (now := self.millijoules()) == before:
            time.sleep(0.0005)
        return time.perf_counter(), now

    def clock_mhz(self) -> int:
        """The clock of the SMs now."""
        value = ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(value))
        return value.value

    def watts_and_degrees(self) -> tuple[float, int]:
        """The driver's own power and temperature."""
        power, degrees = ctypes.c_uint(), ctypes.c_uint()
        self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(power))
        self.nvml.nvmlDeviceGetTemperature(self.device, 0, ctypes.byref(degrees))
        return power.value / 1000, degrees.value


def measure_energy(folder: Path, out: Path, seconds: float) -> None:
    """Run all loops in turns for as long as there is time, and write one row for each window."""
    import cupy
    from measure import _argument, device_facts

    plan = json.loads((folder / "energy.json").read_text())
    counter, started = Counter(), time.time()
    loops: list[tuple[dict[str, Any], Any, list[Any]]] = []
    for loop in plan["loops"]:
        kept: list[Any] = []
        arguments = [_argument(kind, value, plan["words"], kept) for kind, value in loop["arguments"]]
        function = cupy.RawModule(path=str(folder / "code" / f"{loop['code']}.cubin")).get_function("bench")
        loop["kept"] = kept
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        for reps in (1000, 20_000):
            arguments[2] = np.uint32(reps)
            begin.record()
            function((loop["grid"],), (loop["block"],), tuple(arguments))
            end.record()
            end.synchronize()
        arguments[2] = np.uint32(20_000 * SECONDS / (cupy.cuda.get_elapsed_time(begin, end) * 1e-3))
        loops.append((loop, function, arguments))
    lines = [
        f"# {json.dumps(device_facts())}",
        "turn\tloop\twatts\tinstructions_per_second\tclock_mhz\tdriver_watts\tdegrees\twindow_s",
    ]
    turn = 0
    while time.time() - started + len(loops) * (SECONDS + 0.3) < seconds:
        for loop, function, arguments in loops if turn % 2 == 0 else loops[::-1]:
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            function((loop["grid"],), (loop["block"],), tuple(arguments))
            end.record()
            at = time.perf_counter()
            time.sleep(SETTLING)
            first_time, first = counter.step()
            last_time, last = first_time, first
            while time.perf_counter() - at < SECONDS - 0.2:
                last_time, last = counter.step()
            clock, (watts, degrees) = counter.clock_mhz(), counter.watts_and_degrees()
            end.synchronize()
            took = cupy.cuda.get_elapsed_time(begin, end) * 1e-3
            rate = float(arguments[2]) * loop["slots"] * loop["grid"] * loop["block"] / 32 / took
            power = (last - first) / 1000 / (last_time - first_time)
            lines.append(
                f"{turn}\t{loop['name']}\t{power:.3f}\t{rate:.6e}\t{clock}\t{watts:.1f}\t{degrees}\t{last_time - first_time:.3f}"
            )
        turn += 1
    (out / "energy.tsv").write_text("\n".join(lines) + "\n")
    print("\n".join(lines[-len(loops) :]), flush=True)
    print(f"energy: {turn} turns in {time.time() - started:.0f} s")
