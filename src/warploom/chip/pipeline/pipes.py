"""The pipes of a sub-core without operand collectors, and which of them executes an instruction of SASS."""

from __future__ import annotations

from enum import IntEnum

from warploom.chip.machines import Machine
from warploom.compiler.code.classes import OpClass, Unit
from warploom.compiler.code.instruction import Bank, Instruction, Modified, Reg
from warploom.compiler.code.sass_classes import WARPGROUP_PRODUCTS


class Pipe(IntEnum):
    """Where an instruction goes from issue. Units of half a warp's width take one instruction in two cycles."""

    NONE = 0  # resolved at issue: branches, barriers, exits
    FMA = 1  # the heavy or the light half of the FP32 unit, whichever is free
    HEAVY = 2  # the heavy half alone: multiplication of integers
    ALU = 3  # integers, logic, comparisons, moves
    F64 = 4  # double precision, and half precision of the kind .MMA
    TENSOR = 5
    UNIFORM = 6  # one value for the whole warp
    SPECIAL = 7  # functions, conversions, counts of bits
    LANES = 8  # exchange between lanes, special registers: to a unit of the SM
    MEMORY = 9
    PAIRED = 10  # both halves of the FP32 unit at once: half precision
    CONSTANTS = 11  # constants, and special registers for uniform ones: to another unit of the SM
    UNIFORM_CONSTANTS = 12
    PRODUCTS = 13  # of many registers: to the tensor core, in front of which some wait
    COPIES = 14  # of many bytes: to a unit of the SM


PIPES = len(Pipe)
_ROWS, _INNER_BYTES, _A_REGISTERS = 64, 32, 4  # of a warpgroup's product: A has 16 rows in each warp
_PASS_BYTES = 128  # of shared memory
_BY_NAME: dict[str, Pipe] = {
    **dict.fromkeys(("HMMA", "IMMA", "BMMA", "DMMA", "QMMA"), Pipe.TENSOR),
    **dict.fromkeys(("HFMA2", "HADD2", "HMUL2"), Pipe.PAIRED),
    **dict.fromkeys(("POPC", "FLO", "BREV", "F2F", "F2I", "I2F", "FRND", "MUFU"), Pipe.SPECIAL),
    **dict.fromkeys(("LDC", "S2UR"), Pipe.CONSTANTS),
    "ULDC": Pipe.UNIFORM_CONSTANTS,
    **dict.fromkeys(("S2R", "SHFL", "REDUX", "MATCH", "MOVM", "LEPC", "BMOV", "B2R"), Pipe.LANES),
    **dict.fromkeys(("VOTEU", "R2UR"), Pipe.UNIFORM),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP"), Pipe.F64),
    "NOP": Pipe.NONE,
}
_IN_UNITS_OF_THE_SM = frozenset(("S2R", "S2UR", "LDC", "REDUX"))
_BY_CLASS = {
    OpClass.INT_MUL: Pipe.HEAVY,
    OpClass.INT_MAD: Pipe.HEAVY,
    OpClass.F32_ADD: Pipe.FMA,
    OpClass.F32_MUL: Pipe.FMA,
    OpClass.F32_MAD: Pipe.FMA,
    OpClass.SFU: Pipe.SPECIAL,
    OpClass.SHUFFLE: Pipe.LANES,
}


def pipe_of(instruction: Instruction, kind: OpClass, unit: int, wide: bool) -> Pipe:
    """The pipe of an instruction whose class and unit are known, and whether it has more registers than a record names."""
    name = instruction.op.name
    if wide:  # those with control bits for their time alone go when the tensor core is free, as smaller ones do
        return Pipe.PRODUCTS if name in WARPGROUP_PRODUCTS or name == "DMMA" else Pipe.TENSOR
    if unit == Unit.MEM:
        return Pipe.MEMORY
    if unit == Unit.NONE:
        return Pipe.NONE
    if name == "HFMA2" and "MMA" in instruction.op.modifiers:
        return Pipe.F64
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.startswith("U"):
        return Pipe.UNIFORM
    return _BY_CLASS.get(kind, Pipe.ALU)


def latency_of(instruction: Instruction, kind: OpClass, pipe: Pipe, wide: bool, machine: Machine) -> int:
    """Cycles from issue to the issue of an instruction that needs the result."""
    sub_core = machine.sub_core
    if instruction.op.name == "S2UR":
        return sub_core.special_uniform_cycles
    if instruction.op.name in ("S2R", "B2R", "BMOV", "LEPC"):
        return sub_core.special_register_cycles
    if instruction.op.name in ("LDC", "ULDC"):
        return sub_core.constant_cycles
    if instruction.op.name == "REDUX":
        return sub_core.reduction_cycles
    if instruction.op.name in WARPGROUP_PRODUCTS:
        columns = -(-columns_of(instruction) // sub_core.product_columns)  # no result waits for A's registers that take longer
        return sub_core.product_cycles + columns - _product_cycles(instruction, wide, machine)
    if instruction.op.name == "DMMA":
        made = _double_products(instruction) // sub_core.double_products
        return sub_core.large_double_product_cycles if wide else sub_core.double_product_cycles + made - 1
    if pipe is Pipe.SPECIAL:
        return machine.latency[OpClass.SFU]
    if pipe is Pipe.LANES:
        return machine.latency[OpClass.SHUFFLE]
    if pipe is Pipe.F64:
        return machine.latency[OpClass.F64_MAD]
    return machine.latency[kind]


def interval_of(instruction: Instruction, kind: OpClass, pipe: Pipe, wide: bool, machine: Machine, registers: int) -> int:
    """Cycles for which an instruction that reads so many registers keeps its pipe."""
    sub_core = machine.sub_core
    if pipe is Pipe.CONSTANTS:
        return sub_core.special_uniform_interval if instruction.op.name == "S2UR" else sub_core.special_interval
    if pipe is Pipe.LANES and instruction.op.name == "S2R":
        return sub_core.special_interval
    if pipe is Pipe.LANES and instruction.op.name == "SHFL":  # its registers go the way of addresses and values for memory
        return sub_core.memory_interval * max(1, registers)
    if pipe is Pipe.UNIFORM_CONSTANTS:
        return 1
    if pipe is Pipe.HEAVY and "WIDE" in instruction.op.modifiers:
        return sub_core.wide_product_cycles
    if pipe in (Pipe.TENSOR, Pipe.PRODUCTS):
        return _product_cycles(instruction, wide, machine)
    if pipe is Pipe.UNIFORM:
        return sub_core.uniform_cycles
    if pipe is Pipe.SPECIAL:
        return machine.initiation[OpClass.SFU]
    if pipe is Pipe.LANES:
        return machine.initiation[OpClass.SHUFFLE]
    if pipe in (Pipe.FMA, Pipe.HEAVY, Pipe.PAIRED):
        return machine.initiation[OpClass.INT_MAD]  # of one half
    if pipe is Pipe.F64:
        return machine.initiation[OpClass.F64_MAD]
    return machine.initiation[kind]


def _product_cycles(instruction: Instruction, wide: bool, machine: Machine) -> int:
    """Cycles for which a product of matrices keeps the tensor core of a sub-core.

    All products of warpgroups have an inner dimension of 256 bits, whatever their elements are, and take as long for a column.
    """
    sub_core = machine.sub_core
    if instruction.op.name in WARPGROUP_PRODUCTS:
        columns = columns_of(instruction)
        least = sub_core.product_register_cycles if columns > 0 and isinstance(instruction.srcs[0], Reg) else 0
        return max(least, -(-columns // sub_core.product_columns))
    if instruction.op.name == "DMMA":
        return max(sub_core.double_product_interval, _double_products(instruction) // sub_core.double_products)
    if "SP" in instruction.op.modifiers and wide:
        return sub_core.sparse_cycles
    return sub_core.tensor_cycles


def _double_products(instruction: Instruction) -> int:
    """The products of two numbers in a DMMA (``DMMA.16x8x4``)."""
    rows, columns, inner = (int(size) for size in instruction.op.modifiers[0].split("x"))
    return rows * columns * inner


def columns_of(instruction: Instruction) -> int:
    """The columns of a warpgroup's product (``HGMMA.64x256x16``); 0: it makes none and only ends a group of products."""
    return int(instruction.op.modifiers[0].split("x")[1]) if instruction.dsts[0].bank is not Bank.RZ else 0


def quarter_passes_of(instruction: Instruction) -> int:
    """Passes that four warps together make in shared memory for a warpgroup's product: one for 128 bytes.

    Rows of A, 64 of 32 bytes, are read where they are not in registers; a column of B, 32 bytes, is read once for all four.
    """
    if instruction.op.name not in WARPGROUP_PRODUCTS:
        return 0
    columns = columns_of(instruction)
    in_memory = columns > 0 and not isinstance(instruction.srcs[0], Reg)
    return (_ROWS * in_memory + columns) * _INNER_BYTES // _PASS_BYTES


def cycles_for_a(instruction: Instruction) -> int:
    """Cycles until a warpgroup's product has its A: the passes in shared memory, or one for each register."""
    if instruction.op.name not in WARPGROUP_PRODUCTS or columns_of(instruction) == 0:
        return 0
    return _A_REGISTERS if isinstance(instruction.srcs[0], Reg) else _ROWS * _INNER_BYTES // _PASS_BYTES


def unit_cycles_of(instruction: Instruction, machine: Machine) -> int:
    """Cycles for which an instruction keeps the unit of the SM that its pipe leads to; 0: the unit is the sub-core's own."""
    name = instruction.op.name
    if name == "SHFL":
        return machine.sub_core.shared_interval
    return machine.sub_core.special_interval if name in _IN_UNITS_OF_THE_SM else 0


def operands_read_again(instruction: Instruction) -> int:
    """Which of the registers that an instruction reads it reads once more, as a mask.

    A product with a result of 64 bits makes its lower and its upper word one after the other, and each time reads both factors.
    """
    if instruction.op.name != "IMAD" or "WIDE" not in instruction.op.modifiers:
        return 0
    factors = (source.operand if isinstance(source, Modified) else source for source in instruction.srcs[:2])
    return (1 << sum(len(factor.words) for factor in factors if isinstance(factor, Reg))) - 1
