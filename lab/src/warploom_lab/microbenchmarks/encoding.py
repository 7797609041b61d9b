"""Single instructions of sm_90 with registers and control bits of our choice, for code that no compiler would write.

An instruction has 128 bits: the result in bits 16 to 23, operand A in 24 to 31, B in 32 to 39 and C in 64 to 71; the control bits
from 105 on (stall count, yield, barrier at write-back, barrier at operand read, barriers waited for, reuse of A, B and C). The
guard is in bits 12 to 15. Branches go so many bytes from the next instruction on, in words of four bytes: in bits 34 and up, the
lowest eight of BRA in bits 16 to 23. The words below are those that ptxas makes for the same operation, registers and control
bits cleared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

RZ = 255
ALWAYS = 7  # the guard of an instruction that every lane executes
NO_BARRIER = 7
WIDE = ("DFMA", "DADD", "DMUL", "IMAD.WIDE")  # whose results are pairs of registers
UNIFORM = ("UIADD3", "ULDC", "S2UR")  # whose registers are uniform ones
NO_RESULT = ("NOP", "BRA", "BSSY", "BSYNC", "ISETP", "STS")
LONGEST_STALL = 11  # without the yield bit

# operation: low and high word, and which of A, B and C are registers
OPERATIONS: dict[str, tuple[int, int, str]] = {
    "FFMA": (0x7223, 0x0, "abc"),
    "FFMA.IMM": (0x3F9D70A4_00007823, 0x0, "ac"),  # d = a * 1.23 + c
    "FFMA.CONST": (0x00008600_00007A23, 0x0, "ac"),  # d = a * c[0x0][0x218] + c
    "FADD": (0x7221, 0x0, "ab"),
    "FMUL": (0x7220, 0x00400000, "ab"),
    "FMNMX": (0x7209, 0x07800000, "ab"),
    "IADD3": (0x7210, 0x07FFE000, "abc"),
    "IMAD": (0x7224, 0x078E0200, "abc"),
    "IMAD.WIDE": (0x7225, 0x078E0200, "abc"),
    "LOP3": (0x7212, 0x078E9600, "abc"),  # a ^ b ^ c
    "SHF": (0x7219, 0x00010E00, "abc"),
    "PRMT": (0x7216, 0x0, "abc"),
    "SEL": (0x7207, 0x03800000, "ab"),
    "MOV": (0x7202, 0x00000F00, "b"),
    "VIMNMX": (0x7248, 0x03FE0100, "ab"),
    "IDP": (0x7226, 0x0, "abc"),
    "HFMA2": (0x7231, 0x0, "abc"),
    "HFMA2.MMA": (0x7235, 0x0, "abc"),
    "DFMA": (0x722B, 0x0, "abc"),
    "DADD": (0x7229, 0x0, "ac"),
    "DMUL": (0x7228, 0x0, "ab"),
    "I2FP": (0x7245, 0x00201400, "b"),
    "MUFU.EX2": (0x7308, 0x00000800, "b"),
    "MUFU.RCP": (0x7308, 0x00001000, "b"),
    "POPC": (0x7309, 0x0, "b"),
    "F2I": (0x7305, 0x0020F100, "b"),
    "HMMA.16816.F32": (0x723C, 0x00001800, "abc"),
    "CS2R": (0x00000000_00007805, 0x00005000, ""),  # the low word of the clock
    "BRA": (0x7947, 0x03800000, ""),
    "NOP": (0x7918, 0x0, ""),
    "BSSY": (0x7945, 0x03800000, ""),  # B0
    "BSYNC": (0x7941, 0x03800000, ""),  # B0
    "ISETP": (0x720C, 0x03F05270, "ab"),  # P0 = a != b
    "LDS": (0x7984, 0x00000800, "a"),
    "STS": (0x7388, 0x00000800, "ab"),  # b to the address a
    "SHFL": (0x00001F00_00007589, 0x000E0000, "ab"),  # a of the lane b
    "S2R": (0x7919, 0x00002100, ""),  # the thread's number
    "LDC": (0x00008600_FF007B82, 0x00000800, ""),  # c[0x0][0x218]
    "UIADD3": (0x00000001_00007890, 0x0FFFE03F, "a"),  # a + 1
    "ULDC": (0x00008600_00007AB9, 0x00000800, ""),  # c[0x0][0x218]
    "S2UR": (0x79C3, 0x00002500, ""),  # the CTA's number
}


@dataclass(frozen=True)
class WrittenInstruction:
    """One instruction that a microbenchmark is written in: registers by number, control bits by meaning."""

    operation: str
    d: int = RZ
    a: int = RZ
    b: int = RZ
    c: int = RZ
    stall: int = 1
    gives_way: bool = False  # the yield bit; stall counts above 11 exist only with it
    reuse: str = ""  # the operands that are kept, of "abc"
    sets: int = NO_BARRIER  # the counter that is held until the result is there
    waits: int = 0  # the counters that are waited for, a bit each
    guard: int = ALWAYS  # the predicate that decides which lanes execute it
    target: int = 0  # of a branch: bytes from the next instruction on

    def with_(self, **changes: object) -> WrittenInstruction:
        """The same with other registers or control bits."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def words(self) -> tuple[int, int]:
        """The low and the high word."""
        low, high, registers = OPERATIONS[self.operation]
        low = low & ~(0xF << 12) | self.guard << 12
        if self.operation not in NO_RESULT:
            low |= self.d << 16
        if "a" in registers:
            low |= self.a << 24
        if "b" in registers:
            low |= self.b << 32
        if "c" in registers:
            high |= self.c
        reuse = sum(1 << "abc".index(letter) for letter in self.reuse)
        control = (
            self.stall
            | (0 if self.gives_way or self.stall > LONGEST_STALL else 1) << 4
            | self.sets << 5
            | NO_BARRIER << 8
            | self.waits << 11
            | reuse << 17
        )
        both = low | high << 64 | self._branch() | control << 105
        return both & (1 << 64) - 1, both >> 64

    def _branch(self) -> int:
        """The bits that say where a branch goes."""
        words = self.target // 4
        if self.operation == "BRA":
            return (words & 0xFF) << 16 | (words >> 8 & (1 << 48) - 1) << 34
        return words << 34 if self.operation == "BSSY" else 0

    def __str__(self) -> str:
        operands = [f"R{self.d}"] if self.d != RZ else []
        for letter in OPERATIONS[self.operation][2]:
            number = getattr(self, letter)
            operands.append(("RZ" if number == RZ else f"R{number}") + (".reuse" if letter in self.reuse else ""))
        return f"{self.operation} {', '.join(operands)}".strip()
