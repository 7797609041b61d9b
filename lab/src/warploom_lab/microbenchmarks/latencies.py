"""Latencies: after how many cycles a result can be read.

Of fixed latency, the least stall count that still gives the right result: hardware does not check. It is 1 where the pipe itself
takes the next instruction no earlier. Of variable latency, chains
in which ptxas lets each instruction wait for the one before it by a barrier; and the throughput of the same instructions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warploom.studies.validate.benchmark import Launch, Microbenchmark, Outputs, Reading, values
from warploom_lab.microbenchmarks.encoding import NO_RESULT, OPERATIONS, UNIFORM, WIDE, WrittenInstruction
from warploom_lab.microbenchmarks.slopes import Slope
from warploom_lab.microbenchmarks.template import LEAST, from_instructions, placeholder, usable_registers

Code = list[tuple[bool, WrittenInstruction]]  # instructions, each with whether its stall count is the one that is varied
STALLS = range(1, 12)
LONG_ENOUGH = 15
VARIABLE = ("HMMA", "MUFU", "POPC", "F2I", "LDS", "SHFL", "S2R", "LDC")
NOT_CHAINED = ("CS2R", "FFMA.CONST", *UNIFORM, *NO_RESULT)
PAIRS = """FFMA IADD3, IADD3 FFMA, FFMA IMAD, IMAD FFMA, IMAD IADD3, IADD3 IMAD, HFMA2 FFMA, FFMA HFMA2, LOP3 IMAD, IMAD LOP3,
HFMA2.MMA FFMA, HFMA2.MMA IADD3, IADD3 MOV, MOV IADD3, SHF FFMA, FFMA SHF, IADD3 HFMA2, HFMA2 IADD3,
IMAD.WIDE FFMA, IMAD.WIDE IADD3, IMAD.WIDE IMAD, IMAD IMAD.WIDE, IADD3 IMAD.WIDE,
DFMA FFMA, DFMA IADD3, DADD DFMA, IMAD.WIDE DFMA"""
CONSTANTS = {"any": 0x3F99_3B17, "low bytes": 0x3210, "high bytes": 0x7654, "largest": 0x7FFF_FFFF, "least": 0}
BESIDE = {  # what stands beside the operand that is read, where not any number shows what was read
    ("PRMT", "a"): "low bytes",
    ("PRMT", "c"): "high bytes",
    ("VIMNMX", "a"): "largest",
    ("VIMNMX", "b"): "largest",
    ("FMNMX", "a"): "least",
    ("FMNMX", "b"): "least",
}
NEVER_SEEN = (("SEL", "b"),)  # its predicate is true: the other operand is the result
SOURCES, PRODUCED = 5, 3  # registers that producers read and write in turn
LANES = 32
DOUBLES = "\n".join(f"cvt.f64.f32 %y{i}, %v{i};" for i in range(16))
# Without a use behind the region ptxas would drop what made the values.
LIVE_DOUBLES = "\n".join(f"mov.b64 {{%v{16 + 2 * i},%v{17 + 2 * i}}}, %y{i};" for i in range(16))
SUM, A, B = "{%v0,%v1,%v2,%v3}", "{%v4,%v5,%v6,%v7}", "{%v8,%v9}"
B4 = "{%v8,%v9,%v10,%v11}"
DOUBLE_SUM, DOUBLE_A, DOUBLE_B = ("{" + ",".join(f"%y{n}" for n in range(*ends)) + "}" for ends in ((0, 4), (4, 12), (12, 16)))
CHAINS = {  # the PTX of one link
    "MUFU.EX2": "ex2.approx.ftz.f32 %v0, %v0;",
    "MUFU.SQRT": "sqrt.approx.ftz.f32 %v0, %v0;",
    "POPC": "popc.b32 %v0, %v0;",
    "SHFL": "shfl.sync.idx.b32 %v0, %v0, %v1, 31, -1;",
    "VOTE": "setp.ne.u32 %q0, %v0, 0; vote.sync.ballot.b32 %v0, %q0, -1;",
    "REDUX": "redux.sync.add.u32 %v0, %v0, -1;",
    "I2F.F64": "cvt.rn.f64.s32 %y0, %v0; cvt.rzi.s32.f64 %v0, %y0;",
    "I2D": "cvt.rn.f64.s32 %y0, %v0; mov.b64 {%v0, %s1}, %y0;",
    "D2I": "cvt.rzi.s32.f64 %v0, %y0; mov.b64 %y0, {%v0, %v1};",
    "DFMA": "fma.rn.f64 %y0, %y0, %y0, %y0;",
    "DADD": "add.f64 %y0, %y0, %y0;",
    "F2I": "cvt.rzi.s32.f32 %v0, %v0;",
    "HMMA.16816.F32": f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {SUM},{A},{B},{SUM};",
    "HMMA.1688.F32": f"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {SUM},{{%v4,%v5}},{{%v8}},{SUM};",
    "IMMA.16832": f"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {SUM},{A},{B},{SUM};",
    "HMMA.SP.16832.F32": f"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {SUM},{A},{B4},{SUM},%v12,0;",
    "DMMA.8x8x4": "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%y0,%y1},{%y4},{%y5},{%y0,%y1};",
    "DMMA.16x8x4": f"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {DOUBLE_SUM},{{%y4,%y5}},{{%y6}},{DOUBLE_SUM};",
    "DMMA.16x8x8": f"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {DOUBLE_SUM},{{%y4,%y5,%y6,%y7}},{{%y8,%y9}},{DOUBLE_SUM};",
    "DMMA.16x8x16": f"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {DOUBLE_SUM},{DOUBLE_A},{DOUBLE_B},{DOUBLE_SUM};",
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
    "I2D": "cvt.rn.f64.s32 %y{i}, %v{i}; mov.b64 {%v{i}, %s1}, %y{i};",
    "D2I": "cvt.rzi.s32.f64 %v{i}, %y{i}; mov.b64 %y{i}, {%v{i}, %v16};",
    "DFMA": "fma.rn.f64 %y{i}, %y{i}, %y{i}, %y{i};",
    "REDUX": "redux.sync.add.u32 %v{i}, %v{i}, -1;",
}


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for name, what, code in results_read():
        yield _least_stall(name, code, what)
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
    for name in CHAINS:
        if name.startswith(("DMMA", "HMMA.SP")):
            for warps in (4, 16):
                what = f"cycles for each {name} of a sub-core, a chain in each of {warps} warps on the SM"
                yield _ptx(f"flood.{name}.{warps}w", what, CHAINS[name], warps)


def results_read() -> Iterator[tuple[str, str, Code]]:
    """Name, meaning and code of every benchmark that finds a least stall count."""
    for name, (_, _, letters) in OPERATIONS.items():
        if not name.startswith(VARIABLE) and name not in NOT_CHAINED:
            for operand in letters:
                if (name, operand) not in NEVER_SEEN:
                    what = f"least stall count with which a {name} reads the result of another as operand {operand.upper()}"
                    yield f"latency.{name}.{operand}", what, _result_read(name, name, operand)
    for producer, consumer in (pair.split() for pair in PAIRS.split(",")):
        operand = OPERATIONS[consumer][2][0]
        what = f"least stall count with which a {consumer} reads the result of a {producer}"
        yield f"latency.{producer}.{consumer}", what, _result_read(producer, consumer, operand)
        if producer in WIDE and consumer not in WIDE:
            code = _result_read(producer, consumer, operand, upper=True)
            yield f"latency.{producer}.{consumer}.upper", f"{what}, its upper word", code


def _ptx(name: str, what: str, ptx: str, warps: int) -> Microbenchmark:
    before, after = (DOUBLES, LIVE_DOUBLES) if "%y" in ptx else ("", "")
    return Slope(name, what, ptx, before=before, after=after, warps=warps).microbenchmark()


def _least_stall(name: str, code: Code, what: str) -> Microbenchmark:
    def launches() -> list[Launch]:
        words = np.repeat(numbers()[:, None], LANES, axis=1).reshape(-1).tolist()
        arguments = (("out", 64), ("words", words), ("u32", 1), ("u64", 0))
        made = []
        for stall in (*STALLS, LONG_ENOUGH):
            region = [one.with_(stall=stall if varied else LONG_ENOUGH) for varied, one in code]
            made.append(Launch(f"{name}.{stall}", from_instructions(region, name), 1, LANES, arguments))
        return made

    def read(outputs: Outputs) -> list[Reading]:
        right = values(outputs[f"{name}.{LONG_ENOUGH}"])
        wrong = [stall for stall in STALLS if (values(outputs[f"{name}.{stall}"]) != right).any()]
        return [Reading(name, max(wrong, default=0) + 1, "cycles", what)]

    return Microbenchmark(name, launches, read)


class _Places(NamedTuple):
    """Registers by what they are for. All are even and have a neighbour, so that each can be a pair."""

    constants: dict[str, int]
    sources: list[int]
    produced: list[int]
    kept: list[int]


@functools.cache
def _places() -> _Places:
    registers = usable_registers()
    pairs = [r for r in registers if r % 2 == 0 and r + 1 in registers]
    constants = dict(zip(CONSTANTS, pairs, strict=False))
    others = pairs[len(CONSTANTS) :]
    return _Places(constants, others[:SOURCES], others[SOURCES : SOURCES + PRODUCED], others[SOURCES + PRODUCED :])


def numbers() -> np.ndarray:
    """What the 48 values are before the region: constants at their places, else numbers that differ in all of their parts.

    Each is a float near 1, two halves near 1, the upper or the lower word of a small double, and an integer with any shift count
    in its lowest bits.
    """
    places = _places()
    by_register = {places.constants[name]: value for name, value in CONSTANTS.items()}
    return np.array(
        [by_register.get(r, (0x3F80 + 3 * r) << 16 | 0x3800 + 37 * r) for r in placeholder(LEAST)[2]],
        np.uint32,
    )


def _result_read(producer: str, consumer: str, operand: str, upper: bool = False) -> Code:
    """Results of one kind, each read by an instruction of a kind; nothing else depends on anything.

    Producers take different operands in turn, so that what their register held before differs from their result, and enough
    results of consumers are kept to show one that was read too early. ``upper``: the upper word of a pair is read.
    """
    places = _places()
    code = []
    for number in range(LEAST // 2):
        source, result = places.sources[number % SOURCES], places.produced[number % PRODUCED]
        code.append((True, WrittenInstruction(producer, d=result).with_(**dict.fromkeys(OPERATIONS[producer][2], source))))
        beside = {letter: places.constants[BESIDE.get((consumer, operand), "any")] for letter in OPERATIONS[consumer][2]}
        kept = places.kept[number % len(places.kept)]
        code.append((False, WrittenInstruction(consumer, d=kept).with_(**beside | {operand: result + upper})))
    return code
