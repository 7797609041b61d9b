"""Runs the kernels of tests/data/timing-reference on our model and compares with the recorded simulator."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass

import numpy as np

from support.places import DATA
from warploom.chip.machines import load_machine
from warploom.chip.memory import warm_l2
from warploom.chip.simulate import Simulation, TimingResult
from warploom.chip.sm import baseline_policies, make_policy
from warploom.compiler.backend import Options
from warploom.compiler.code.instruction import Code
from warploom.emulator.trace.format import Trace
from warploom.programs.device import Device
from warploom.studies.validate.programs import initial_value

FOLDER = DATA / "timing-reference"
SCHEDULERS: dict[str, tuple[str, dict[str, int]]] = {
    "gto": ("gto", {}),
    "lrr": ("lrr", {}),
    "two_level_active:6:0:1": ("gpgpusim-two-level", {}),
}


@dataclass(frozen=True)
class Case:
    """One row of the reference."""

    name: str
    scheduler: str
    registers: int
    warm: bool
    cycles: int
    warp_instructions: int
    row: dict[str, str]

    @property
    def title(self) -> str:
        return f"{self.name}-{self.scheduler}-{self.registers}-{'warm' if self.warm else 'cold'}"


def cases() -> list[Case]:
    with (FOLDER / "reference.tsv").open() as file:
        return [
            Case(
                row["name"],
                row["scheduler"],
                int(row["registers_per_SM"]),
                row["l2_warmed_by_memcpy"] == "1",
                int(row["gpu_sim_cycle"]),
                int(row["warp_insts"]),
                row,
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


@dataclass
class Executed:
    """A kernel's trace, and which sectors the copies before the launch left in L2."""

    code: Code
    trace: Trace
    copied: list[tuple[int, int]]


def execute(name: str) -> Executed:
    """Run a kernel in the emulator as literal code, and verify its output."""
    about = json.loads((FOLDER / f"{name}.json").read_text())
    options = Options(literal=True, registers=about["regs_per_thread"])
    device = Device((FOLDER / f"{name}.ptx").read_text(), options, file=f"{name}.ptx")
    values = {argument["name"]: initial_value(argument) for argument in about["args"]}
    passed, copied = [], []
    for argument in about["args"]:
        value = values[argument["name"]]
        if "[" in argument["type"]:
            array = device.array(value)
            passed.append(array)
            if argument["h2d"]:
                copied.append((array.address >> 5, (value.nbytes + 31) >> 5))
        else:
            passed.append(value)
    device.launch(about["kernel"], tuple(about["grid"]), tuple(about["block"]), *passed)
    _verify(about, values, dict(zip(values, passed, strict=True)))
    record = device.launches[0]
    assert record.trace is not None
    return Executed(record.code, record.trace, copied)


def _verify(about: dict, values: dict, passed: dict) -> None:
    scope = {"np": np, **{name: value.copy() if hasattr(value, "copy") else value for name, value in values.items()}}
    exec(about["check"], scope)
    for name, expected in scope["expected"].items():
        np.testing.assert_allclose(passed[name].get(), expected, **about["tol"])


def simulate(executed: Executed, case: Case, machine_name: str = "gpgpusim-gtx480") -> TimingResult:
    """Time a kernel as the reference did."""
    machine = load_machine(
        machine_name,
        **{"sm.registers_per_sm": case.registers, "register_file.entries_per_bank": case.registers // 32 // 16},
    )
    name, parameters = SCHEDULERS[case.scheduler]
    design = baseline_policies()._replace(scheduler=make_policy("scheduler", name, **parameters))
    simulation = Simulation(design, machine)
    if case.warm:
        for first, count in executed.copied:
            warm_l2(simulation.record, simulation.memory[0], first, count)
    simulation.launch(executed.code, executed.trace)
    return simulation.result()


def main() -> None:
    import sys

    only = sys.argv[1:]
    executed: dict[str, Executed] = {}
    differences = []
    for case in cases():
        if (only and not any(word in case.title for word in only)) or case.scheduler not in SCHEDULERS:
            continue
        if case.name not in executed:
            executed[case.name] = execute(case.name)
        result = simulate(executed[case.name], case)
        difference = result.cycles / case.cycles - 1
        differences.append(abs(difference))
        same = (
            ""
            if result.warp_instructions == case.warp_instructions
            else f" INSTRUCTIONS {result.warp_instructions} != {case.warp_instructions}"
        )
        print(f"{case.title:60s} {case.cycles:8d} {result.cycles:8d} {100 * difference:+7.1f}%{same}", flush=True)
    beyond = sum(difference > 0.4 for difference in differences)
    print(f"median {100 * float(np.median(differences)):.1f}%, worst {100 * max(differences):.1f}%, {beyond} beyond 40%")


if __name__ == "__main__":
    main()
