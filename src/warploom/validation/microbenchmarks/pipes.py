"""Pipes: how often an instruction can issue, after how many cycles its result can be read, and what control bits do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, Outputs, Reading, values
from warploom.validation.microbenchmarks.encoding import OPERATIONS, RZ, Instruction
from warploom.validation.microbenchmarks.slopes import RANDOM_VALUES, REPS, Slope
from warploom.validation.microbenchmarks.template import LEAST, from_instructions, placeholder

WIDE = {"DFMA", "DADD", "DMUL", "IMAD.WIDE"}
CHAIN = 96  # instructions of a chain whose result is checked
NOT_COMPUTING = {"CS2R", "BRA", "NOP", "FFMA.CONST"}
STALLS = range(1, 12)
DOUBLES = "\n".join(f"cvt.f64.f32 %y{i}, %v{i};" for i in range(16))
LIVE_DOUBLES = "\n".join(f"mov.b64 {{%v{16 + 2 * i},%v{17 + 2 * i}}}, %y{i};" for i in range(16))  # else ptxas drops what made them

# Chains in PTX, where the wait is for a barrier that ptxas sets: the name, the PTX of one link, what must be in the machine code.
CHAINS = {
    "MUFU.EX2": "ex2.approx.ftz.f32 %v0, %v0;",
    "MUFU.RCP": "rcp.approx.ftz.f32 %v0, %v0;",
    "MUFU.SQRT": "sqrt.approx.ftz.f32 %v0, %v0;",
    "POPC": "popc.b32 %v0, %v0;",
    "SHFL": "shfl.sync.idx.b32 %v0, %v0, %v1, 31, -1;",
    "VOTE": "setp.ne.u32 %q0, %v0, 0; vote.sync.ballot.b32 %v0, %q0, -1;",
    "REDUX": "redux.sync.add.u32 %v0, %v0, -1;",
    "I2F.F64": "cvt.rn.f64.s32 %y0, %v0; cvt.rzi.s32.f64 %v0, %y0;",
    "DFMA": "fma.rn.f64 %y0, %y0, %y0, %y0;",
    "DADD": "add.f64 %y0, %y0, %y0;",
    "F2I": "cvt.rzi.s32.f32 %v0, %v0;",
    "HMMA.16816.F32": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%v0,%v1,%v2,%v3},{%v4,%v5,%v6,%v7},{%v8,%v9},{%v0,%v1,%v2,%v3};",
    "HMMA.1688.F32": "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%v0,%v1,%v2,%v3},{%v4,%v5},{%v8},{%v0,%v1,%v2,%v3};",
    "IMMA.16832": "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%v0,%v1,%v2,%v3},{%v4,%v5,%v6,%v7},{%v8,%v9},{%v0,%v1,%v2,%v3};",
    "BAR.SYNC": "bar.sync 0;",
    "FFMA": "fma.rn.f32 %v0, %v0, %v1, %v2;",
    "IMAD": "mad.lo.s32 %v0, %v0, %v1, %v2;",
    "MEMBAR.GPU": "membar.gl;",
}  # fmt: skip

# The same without dependences, for throughput: sixteen results in turn.
FLOODS = {
    "MUFU.EX2": "ex2.approx.ftz.f32 %v{i}, %v{i};",
    "POPC": "popc.b32 %v{i}, %v{i};",
    "SHFL": "shfl.sync.idx.b32 %v{i}, %v{i}, %v21, 31, -1;",
    "F2I": "cvt.rzi.s32.f32 %v{i}, %v{i};",
    "I2F.F64": "cvt.rn.f64.s32 %y{i}, %v{i}; cvt.rzi.s32.f64 %v{i}, %y{i};",
    "DFMA": "fma.rn.f64 %y{i}, %y{i}, %y{i}, %y{i};",
    "REDUX": "redux.sync.add.u32 %v{i}, %v{i}, -1;",
}  # fmt: skip


def _least_stall(name: str, chain: list[tuple[int, Instruction]], what: str) -> Microbenchmark:
    """The smallest stall count of the producers that gives the same result as the largest does.

    ``chain`` is the instructions, each with 1 where its stall count is the one that is varied, else 0.
    """

    def launches() -> list[Launch]:
        made = []
        for stall in (*STALLS, 15):
            code = [one.with_(stall=stall if varied else 15) for varied, one in chain]
            arguments = (("out", 64), ("words", _small_integers().reshape(-1).tolist()), ("u32", 1), ("u64", 0))
            made.append(Launch(f"{name}.{stall}", from_instructions(code, name), 1, 32, arguments))
        return made

    def read(outputs: Outputs) -> list[Reading]:
        right = values(outputs[f"{name}.15"])
        good = [stall for stall in STALLS if (values(outputs[f"{name}.{stall}"]) == right).all()]
        least = next((stall for stall in good if all(later in good for later in STALLS if later > stall)), 15)
        return [Reading(name, least, "cycles", what)]

    return Microbenchmark(name, launches, read)


def _small_integers() -> np.ndarray:
    """Values that all pipes take: small odd integers, that as floats are tiny but distinct, or 1.xx in the upper half."""
    numbers = (np.arange(48, dtype=np.uint32) * 2 + 1) | 0x3F80_0000
    return np.repeat(numbers[:, None], 32, axis=1)


def _chain(operation: str, registers: list[int], operand: str) -> list[tuple[int, Instruction]]:
    """Each instruction reads the result of the one before as the operand named."""
    step = 2 if operation in WIDE else 1
    pool = [r for r in registers if r % step == 0 and r + step - 1 in registers]
    other = [r for r in registers if r % 2 == 0][-3:]
    results = pool[:8] if step == 1 else pool[:6]
    code = []
    for number in range(CHAIN):
        before, now = results[(number - 1) % len(results)], results[number % len(results)]
        kept = dict(zip("abc", other, strict=True))
        kept[operand] = before
        used = {letter: kept[letter] for letter in OPERATIONS[operation][2]}
        code.append((1, Instruction(operation, d=now, **used)))  # type: ignore[arg-type]
    return code


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    registers = sorted(placeholder(LEAST)[2])
    sources = registers[24:]
    results = registers[:16]
    computing = [name for name in OPERATIONS if name not in NOT_COMPUTING and not name.startswith(("HMMA", "MUFU", "POPC", "F2I"))]
    for name in computing:
        letters = OPERATIONS[name][2]
        for operand in letters:
            yield _least_stall(
                f"latency.{name}.{operand}",
                _chain(name, registers, operand),
                f"least stall count with which a {name} reads the result of another as operand {operand.upper()}",
            )
    pairs = [("FFMA", "IADD3"), ("IADD3", "FFMA"), ("FFMA", "IMAD"), ("IMAD", "FFMA"), ("IMAD", "IADD3"), ("IADD3", "IMAD"), ("HFMA2", "FFMA"),
             ("FFMA", "HFMA2"), ("LOP3", "IMAD"), ("IMAD", "LOP3"), ("HFMA2.MMA", "FFMA"), ("HFMA2.MMA", "IADD3"), ("IADD3", "MOV"), ("MOV", "IADD3"),
             ("SHF", "FFMA"), ("FFMA", "SHF"), ("IADD3", "HFMA2"), ("HFMA2", "IADD3")]  # fmt: skip
    for producer, consumer in pairs:
        chain = []
        for number in range(CHAIN // 2):
            made, used, before = results[2 * number % 16], results[(2 * number + 1) % 16], results[(2 * number - 1) % 16]
            letters = OPERATIONS[producer][2]
            operands = {letter: sources[2 + place] for place, letter in enumerate(letters)} | {letters[0]: before}
            chain.append((1, Instruction(producer, d=made, **operands)))  # type: ignore[arg-type]
            letters = OPERATIONS[consumer][2]
            operands = {letter: sources[2 + place] for place, letter in enumerate(letters)} | {letters[0]: made}
            chain.append((0, Instruction(consumer, d=used, **operands)))  # type: ignore[arg-type]
        yield _least_stall(
            f"latency.{producer}.{consumer}", chain, f"least stall count with which a {consumer} reads the result of a {producer}"
        )

    independent = [*computing, "MUFU.EX2", "POPC", "F2I", "NOP", "BRA", "CS2R"]
    for name in independent:
        wide = name in WIDE

        def pattern(number: int, name: str = name, wide: bool = wide) -> list[Instruction]:
            pool = [r for r in results if not wide or (r % 2 == 0 and r + 1 in registers)]
            even, odd = [r for r in sources if r % 2 == 0], [r for r in sources if r % 2 == 1]
            chosen = {"a": even[0], "b": even[1] if wide else odd[1], "c": RZ}
            used = {letter: chosen[letter] for letter in OPERATIONS[name][2]}
            d = RZ if name in ("NOP", "BRA") else pool[number % len(pool)]
            return [Instruction(name, d=d, **used)]  # type: ignore[arg-type]

        for warps in (1, 4, 8, 16, 32):
            yield Slope(
                f"issue.{name}.{warps}w",
                f"cycles between two {name} of a warp that depend on nothing, operands in both banks, {warps} warps on the SM",
                pattern,
                warps=warps,
            ).microbenchmark()

    mixes = [("FFMA", "IADD3"), ("FFMA", "IMAD"), ("IADD3", "IMAD"), ("FFMA", "HFMA2.MMA"), ("HFMA2", "FFMA"), ("LOP3", "IADD3"), ("FFMA", "DFMA"), ("MUFU.EX2", "FFMA")]  # fmt: skip
    for first, second in mixes:

        def both(number: int, first: str = first, second: str = second) -> list[Instruction]:
            pool = [r for r in results if r % 2 == 0 and r + 1 in registers]
            return [Instruction(first, d=pool[number % 4]), Instruction(second, d=pool[4 + number % 4])]

        for warps in (1, 8):
            yield Slope(
                f"mix.{first}+{second}.{warps}w",
                f"cycles for each instruction of {first} and {second} in turn, operands RZ, {warps} warps on the SM",
                both,
                per=2,
                warps=warps,
            ).microbenchmark()

    for stall in range(1, 16):
        yield Slope(
            f"stall.{stall}",
            f"an FFMA with stall count {stall}, results unused",
            [Instruction("FFMA", d=results[0], stall=stall)],
        ).microbenchmark()
    for warps in (1, 8):
        yield Slope(
            f"yield.{warps}w",
            f"an FFMA with stall count 1 and the yield bit, {warps} warps on the SM",
            [Instruction("FFMA", d=results[0], gives_way=True)],
            warps=warps,
        ).microbenchmark()

    for name, ptx in CHAINS.items():
        start, end = (DOUBLES, LIVE_DOUBLES) if "%y" in ptx else ("", "")
        what = f"cycles from a {name} to the next that needs its result, with ptxas's control bits"
        yield Slope(f"chain.{name}", what, ptx, before=start, after=end).microbenchmark()
    for warps in (2, 4, 8, 16, 32):
        yield Slope(f"barrier.{warps}w", f"cycles for each BAR.SYNC of {warps} warps", "bar.sync 0;", warps=warps).microbenchmark()
    for name, ptx in FLOODS.items():
        start, end = (DOUBLES, LIVE_DOUBLES) if "%y" in ptx else ("", "")
        for warps in (1, 4, 16, 32):
            yield Slope(
                f"flood.{name}.{warps}w",
                f"cycles between two {name} of a warp that do not depend on each other, ptxas's control bits, {warps} warps on the SM",
                ptx,
                before=start,
                after=end,
                warps=warps,
            ).microbenchmark()
    accumulators = [[16 + 4 * k + j for j in range(4)] for k in range(5)]

    def tensor(number: int) -> str:
        d = ",".join(f"%v{i}" for i in accumulators[number % 5])
        return f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{d}}},{{%v4,%v5,%v6,%v7}},{{%v8,%v9}},{{{d}}};"

    for warps in (1, 4, 8, 16):
        yield Slope(
            f"flood.HMMA.16816.F32.{warps}w",
            f"cycles for each HMMA.16816.F32 of a warp, five accumulators in turn, {warps} warps on the SM",
            "\n".join(tensor(k) for k in range(5)),
            per=5,
            warps=warps,
        ).microbenchmark()

    yield _issue_order(registers)


def _issue_order(registers: list[int]) -> Microbenchmark:
    """When each of the warps of a sub-core issues: every instruction of the region reads the clock."""
    counts = (4, 8, 16)

    def launches() -> list[Launch]:
        mapping = placeholder(LEAST)[2]
        code = [Instruction("CS2R", d=register) for register in (*mapping, *mapping)]
        arguments = lambda warps: (("out", 64 * warps), ("words", RANDOM_VALUES.reshape(-1).tolist()), ("u32", REPS), ("u64", 0))  # noqa: E731
        cubin = from_instructions(code, "issue order")
        return [Launch(f"order.{warps}w", cubin, 1, 32 * warps, arguments(warps)) for warps in counts]

    def read(outputs: Outputs) -> list[Reading]:
        found = []
        for warps in counts:
            rows = outputs[f"order.{warps}w"].reshape(-1, warps, 64)[-1, :, 8:56].astype(np.int64)
            mine = rows[::4]  # the warps of the first sub-core
            order = np.argsort(mine.reshape(-1), kind="stable") // 48
            runs = 1 + int((np.diff(order) != 0).sum())
            what = f"readings of the clock by one warp before another of its sub-core has its turn, {warps} warps on the SM"
            found.append(Reading(f"order.{warps}w", order.size / runs, "instructions", what))
        return found

    return Microbenchmark("order", launches, read)
