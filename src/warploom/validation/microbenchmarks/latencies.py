"""Latencies: after how many cycles a result can be read.

Of fixed latency, the least stall count that still gives the right result: hardware does not check. Of variable latency, chains
in which ptxas lets each instruction wait for the one before it by a barrier; and the throughput of the same instructions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, Outputs, Reading, values
from warploom.validation.microbenchmarks.encoding import NO_RESULT, OPERATIONS, UNIFORM, WIDE, Instruction
from warploom.validation.microbenchmarks.slopes import Slope
from warploom.validation.microbenchmarks.template import LEAST, from_instructions, usable_registers

STALLS = range(1, 12)
LONG_ENOUGH = 15
VARIABLE = ("HMMA", "MUFU", "POPC", "F2I", "LDS", "SHFL", "S2R", "LDC")
NOT_CHAINED = ("CS2R", "FFMA.CONST", *UNIFORM, *NO_RESULT)
PAIRS = """FFMA IADD3, IADD3 FFMA, FFMA IMAD, IMAD FFMA, IMAD IADD3, IADD3 IMAD, HFMA2 FFMA, FFMA HFMA2, LOP3 IMAD, IMAD LOP3,
HFMA2.MMA FFMA, HFMA2.MMA IADD3, IADD3 MOV, MOV IADD3, SHF FFMA, FFMA SHF, IADD3 HFMA2, HFMA2 IADD3"""
DOUBLES = "\n".join(f"cvt.f64.f32 %y{i}, %v{i};" for i in range(16))
# Without a use behind the region ptxas would drop what made the values.
LIVE_DOUBLES = "\n".join(f"mov.b64 {{%v{16 + 2 * i},%v{17 + 2 * i}}}, %y{i};" for i in range(16))
SUM, A, B = "{%v0,%v1,%v2,%v3}", "{%v4,%v5,%v6,%v7}", "{%v8,%v9}"
CHAINS = {  # the PTX of one link
    "MUFU.EX2": "ex2.approx.ftz.f32 %v0, %v0;",
    "MUFU.SQRT": "sqrt.approx.ftz.f32 %v0, %v0;",
    "POPC": "popc.b32 %v0, %v0;",
    "SHFL": "shfl.sync.idx.b32 %v0, %v0, %v1, 31, -1;",
    "VOTE": "setp.ne.u32 %q0, %v0, 0; vote.sync.ballot.b32 %v0, %q0, -1;",
    "REDUX": "redux.sync.add.u32 %v0, %v0, -1;",
    "I2F.F64": "cvt.rn.f64.s32 %y0, %v0; cvt.rzi.s32.f64 %v0, %y0;",
    "DFMA": "fma.rn.f64 %y0, %y0, %y0, %y0;",
    "DADD": "add.f64 %y0, %y0, %y0;",
    "F2I": "cvt.rzi.s32.f32 %v0, %v0;",
    "HMMA.16816.F32": f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {SUM},{A},{B},{SUM};",
    "HMMA.1688.F32": f"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {SUM},{{%v4,%v5}},{{%v8}},{SUM};",
    "IMMA.16832": f"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {SUM},{A},{B},{SUM};",
    "BAR.SYNC": "bar.sync 0;",
    "FFMA": "fma.rn.f32 %v0, %v0, %v1, %v2;",
    "IMAD": "mad.lo.s32 %v0, %v0, %v1, %v2;",
    "MEMBAR.GPU": "membar.gl;",
}
FLOODS = {  # the same on sixteen values in turn
    "MUFU.EX2": "ex2.approx.ftz.f32 %v{i}, %v{i};",
    "POPC": "popc.b32 %v{i}, %v{i};",
    "SHFL": "shfl.sync.idx.b32 %v{i}, %v{i}, %v21, 31, -1;",
    "F2I": "cvt.rzi.s32.f32 %v{i}, %v{i};",
    "I2F.F64": "cvt.rn.f64.s32 %y{i}, %v{i}; cvt.rzi.s32.f64 %v{i}, %y{i};",
    "DFMA": "fma.rn.f64 %y{i}, %y{i}, %y{i}, %y{i};",
    "REDUX": "redux.sync.add.u32 %v{i}, %v{i}, -1;",
}


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, (_, _, letters) in OPERATIONS.items():
        if not name.startswith(VARIABLE) and name not in NOT_CHAINED:
            for operand in letters:
                what = f"least stall count with which a {name} reads the result of another as operand {operand.upper()}"
                yield _least_stall(f"latency.{name}.{operand}", _chain(name, operand), what)
    for producer, consumer in (pair.split() for pair in PAIRS.split(",")):
        what = f"least stall count with which a {consumer} reads the result of a {producer}"
        yield _least_stall(f"latency.{producer}.{consumer}", _pairs(producer, consumer), what)
    for name, ptx in CHAINS.items():
        what = f"cycles from a {name} to the next that needs its result, with ptxas's control bits"
        yield _ptx(f"chain.{name}", what, ptx, 1)
    for warps in (2, 4, 8, 16, 32):
        what = f"cycles for each BAR.SYNC of {warps} warps"
        yield Slope(f"barrier.{warps}w", what, "bar.sync 0;", warps=warps, together=False).microbenchmark()
    for name, ptx in FLOODS.items():
        for warps in (1, 4, 16, 32):
            what = f"cycles between two {name} of a sub-core that need not wait for each other, {warps} warps on the SM"
            yield _ptx(f"flood.{name}.{warps}w", what, ptx, warps)
    sums = ["{" + ",".join(f"%v{16 + 4 * k + j}" for j in range(4)) + "}" for k in range(5)]
    tensor = "\n".join(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {one},{A},{B},{one};" for one in sums)
    for warps in (1, 4, 8, 16):
        what = f"cycles for each HMMA.16816.F32 of a sub-core, five accumulators in turn, {warps} warps on the SM"
        yield Slope(f"flood.HMMA.16816.F32.{warps}w", what, tensor, per=5, warps=warps).microbenchmark()


def _ptx(name: str, what: str, ptx: str, warps: int) -> Microbenchmark:
    before, after = (DOUBLES, LIVE_DOUBLES) if "%y" in ptx else ("", "")
    return Slope(name, what, ptx, before=before, after=after, warps=warps).microbenchmark()


def _least_stall(name: str, chain: list[tuple[bool, Instruction]], what: str) -> Microbenchmark:
    """``chain`` is the instructions, each with whether its stall count is the one that is varied."""

    def launches() -> list[Launch]:
        # Small odd numbers in the lower half make integers that differ, 0x3f80 in the upper one makes floats near 1.
        numbers = np.repeat(((np.arange(48, dtype=np.uint32) * 2 + 1) | 0x3F80_0000)[:, None], 32, axis=1)
        arguments = (("out", 64), ("words", numbers.reshape(-1).tolist()), ("u32", 1), ("u64", 0))
        made = []
        for stall in (*STALLS, LONG_ENOUGH):
            code = [one.with_(stall=stall if varied else LONG_ENOUGH) for varied, one in chain]
            made.append(Launch(f"{name}.{stall}", from_instructions(code, name), 1, 32, arguments))
        return made

    def read(outputs: Outputs) -> list[Reading]:
        right = values(outputs[f"{name}.{LONG_ENOUGH}"])
        wrong = [stall for stall in STALLS if (values(outputs[f"{name}.{stall}"]) != right).any()]
        return [Reading(name, max(wrong, default=0) + 1, "cycles", what)]

    return Microbenchmark(name, launches, read)


def _chain(operation: str, operand: str) -> list[tuple[bool, Instruction]]:
    """Each instruction reads the result of the one before as the operand named."""
    registers = usable_registers()
    wide = operation in WIDE
    pool = [r for r in registers[:24] if not wide or (r % 2 == 0 and r + 1 in registers)][:6]
    others = dict(zip("abc", [r for r in registers if r % 2 == 0][-3:], strict=True))
    code = []
    for number in range(LEAST):
        used = {letter: others[letter] for letter in OPERATIONS[operation][2]} | {operand: pool[(number - 1) % len(pool)]}
        code.append((True, Instruction(operation, d=pool[number % len(pool)]).with_(**used)))
    return code


def _pairs(producer: str, consumer: str) -> list[tuple[bool, Instruction]]:
    """A result of one kind read by an instruction of another, whose result is safely read by the next of the first kind."""
    registers = usable_registers()
    pool, others = registers[:16], registers[26:]
    code = []
    for number in range(LEAST):
        operation = producer if number % 2 == 0 else consumer
        letters = OPERATIONS[operation][2]
        used = {letter: others[place] for place, letter in enumerate(letters)} | {letters[0]: pool[(number - 1) % len(pool)]}
        code.append((number % 2 == 0, Instruction(operation, d=pool[number % len(pool)]).with_(**used)))
    return code
