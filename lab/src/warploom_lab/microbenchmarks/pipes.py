"""Pipes: how often an instruction can issue, alone and mixed with others, and what stall counts and the yield bit do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.studies.validate.benchmark import REPS, Launch, Microbenchmark, Outputs, Reading
from warploom_lab.microbenchmarks.encoding import NO_RESULT, OPERATIONS, RZ, UNIFORM, WIDE, WrittenInstruction
from warploom_lab.microbenchmarks.slopes import RANDOM_VALUES, Slope
from warploom_lab.microbenchmarks.template import LEAST, VALUES, from_instructions, placeholder, usable_registers

NOT_PATCHED = ("FFMA.CONST", "HMMA.16816.F32", "BSSY", "BSYNC", "ISETP")  # ISETP would write the guard of the loop around it
UNIFORM_RESULTS = range(24, 32)
WARPS = (1, 8, 32)
OF_THE_SM = ("S2R", "LDC", "S2UR", "BRA", "SHFL", "LDS")  # what sub-cores may have to share
MIXES = (
    ("FFMA", "IADD3"),
    ("FFMA", "IMAD"),
    ("IADD3", "IMAD"),
    ("FFMA", "HFMA2.MMA"),
    ("HFMA2", "FFMA"),
    ("LOP3", "IADD3"),
    ("FFMA", "DFMA"),
    ("MUFU.EX2", "FFMA"),
    ("HFMA2", "IADD3"),
    ("HFMA2", "IMAD"),
    ("HFMA2", "HFMA2.MMA"),
    ("HFMA2", "FFMA", "FFMA"),
    ("HFMA2", "HFMA2", "FFMA", "FFMA"),
    ("FFMA", "FFMA", "IMAD"),
    ("FFMA", "FFMA", "IADD3"),
    ("FFMA", "IADD3", "IMAD"),
    ("IMAD", "HFMA2.MMA"),
    ("DFMA", "IMAD"),
    ("DFMA", "IADD3"),
    ("DFMA", "HFMA2.MMA"),
    ("IMAD.WIDE", "FFMA", "FFMA", "FFMA"),
    ("IMAD.WIDE", "IADD3"),
    ("FMNMX", "IADD3"),
    ("MUFU.EX2", "POPC"),
    ("MUFU.EX2", "SHFL"),
    ("UIADD3", "FFMA"),
    ("ULDC", "FFMA"),
    ("ULDC", "UIADD3"),
    ("S2R", "LDC"),
    ("S2R", "S2UR"),
    ("LDC", "S2UR"),
    ("S2R", "SHFL"),
    ("LDC", "SHFL"),
    ("S2R", "MUFU.EX2"),
    ("LDC", "MUFU.EX2"),
    ("LDC", "ULDC"),
    ("S2R", "FFMA", "FFMA", "FFMA"),
    ("S2UR", "FFMA"),
    ("S2UR", "UIADD3"),
    ("S2UR", "ULDC"),
    ("S2UR", "S2UR", "LDC"),
    ("S2UR", "LDC", "LDC"),
)
IN_SHARED_MEMORY = 0x400  # an address there; below it is what the system keeps for itself


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name in OPERATIONS:
        if name not in NOT_PATCHED:
            for warps in sorted({*WARPS, 2, 4, 16} if name in OF_THE_SM else WARPS):
                yield _issue(name, warps)
    for names in MIXES:
        for warps in (1, 8):
            yield _mix(names, warps)
    result = usable_registers()[0]
    for stall in range(1, 16):
        what = f"an FFMA with stall count {stall}, results unused"
        yield Slope(f"stall.{stall}", what, [WrittenInstruction("FFMA", d=result, stall=stall)]).microbenchmark()
    for warps in (1, 8):
        what = f"an FFMA with stall count 1 and the yield bit, {warps} warps on the SM"
        code = [WrittenInstruction("FFMA", d=result, gives_way=True)]
        yield Slope(f"yield.{warps}w", what, code, warps=warps).microbenchmark()
    yield _issue_order()


def results_for(wide: bool) -> list[int]:
    """Registers for results, with their neighbour where a result has two."""
    registers = usable_registers()
    return [r for r in registers[:16] if not wide or (r % 2 == 0 and r + 1 in registers)]


def _issue(name: str, warps: int) -> Microbenchmark:
    """Instructions that depend on nothing: results in turn, one operand in each bank."""
    sources = usable_registers()[24:]
    even, odd = [r for r in sources if r % 2 == 0], [r for r in sources if r % 2 == 1]
    operands = {"a": even[0], "b": even[1] if name in WIDE else odd[1], "c": RZ}

    def pattern(number: int) -> list[WrittenInstruction]:
        used = {letter: operands[letter] for letter in OPERATIONS[name][2]}
        return [independent(name, number).with_(**used)]

    what = f"cycles between two {name} of a sub-core that depend on nothing, operands in both banks, {warps} warps on the SM"
    return Slope(f"issue.{name}.{warps}w", what, pattern, warps=warps, inputs=addresses_for(name)).microbenchmark()


def independent(name: str, number: int) -> WrittenInstruction:
    """An instruction whose result no other reads; results take turns."""
    if name in NO_RESULT:
        return WrittenInstruction(name)
    results = UNIFORM_RESULTS if name in UNIFORM else results_for(name in WIDE)
    return WrittenInstruction(name, d=results[number % len(results)])


def addresses_for(name: str) -> np.ndarray | None:
    """What registers must hold for an operation: an address in shared memory, or anything."""
    return np.full_like(RANDOM_VALUES, IN_SHARED_MEMORY) if name in ("LDS", "STS") else None


def _mix(names: tuple[str, ...], warps: int) -> Microbenchmark:
    def pattern(number: int) -> list[WrittenInstruction]:
        return [independent(name, number * len(names) + place) for place, name in enumerate(names)]

    what = f"cycles for each instruction of {', '.join(names)} in turn, operands RZ, {warps} warps on the SM"
    return Slope(f"mix.{'+'.join(names)}.{warps}w", what, pattern, per=len(names), warps=warps).microbenchmark()


def _issue_order() -> Microbenchmark:
    """When each of the warps of a sub-core issues: every instruction of the region reads the clock."""
    counts = (8, 16)

    def launches() -> list[Launch]:
        values = placeholder(LEAST)[2]
        cubin = from_instructions([WrittenInstruction("CS2R", d=register) for register in (*values, *values)], "issue order")
        words = ("words", RANDOM_VALUES.reshape(-1).tolist())
        return [
            Launch(f"order.{warps}w", cubin, 1, 32 * warps, (("out", 64 * warps), words, ("u32", REPS), ("u64", 0)))
            for warps in counts
        ]

    def read(outputs: Outputs) -> list[Reading]:
        found = []
        for warps in counts:
            clocks = outputs[f"order.{warps}w"].reshape(-1, warps, 64)[-1, ::4, 8 : 8 + VALUES].astype(np.int64)
            whose = np.argsort(clocks.reshape(-1), kind="stable") // VALUES  # the warp of each reading, in order of time
            runs = 1 + int((np.diff(whose) != 0).sum())
            what = f"readings of the clock by a warp before another of its sub-core has its turn, {warps} warps on the SM"
            found.append(Reading(f"order.{warps}w", whose.size / runs, "instructions", what))
        return found

    return Microbenchmark("order", launches, read)
