"""Every modifier that an operand can have is heeded: negated, absolute, inverted, a part, uniform, a constant, a number, zero.

Single bits of some thousand encodings are turned round, and nvdisasm says what came out. Whatever it prints is executed as it is
written and with plain registers that hold what the operands are read as; and no word that appears may be passed over.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from support.plain_operands import NotPlain, Twice, execute_twice, guarded, reading, twice
from support.sass_variants import Printed, bare, listed, modified, printed, turned
from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Bank, Binary, Block, Code, Instruction
from warploom.compiler.sass.module import from_ptx
from warploom.emulator.encode import EncodedKernel
from warploom.emulator.records import Kind
from warploom.emulator.sass.encode import encode_sass
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encoders
from warploom.programs.device import Device

ARCHITECTURES = ["sm_90", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sm_75", "sm_80"))]
TOGETHER = 1200  # instructions that are executed by one kernel
COMPUTES = {Kind.COMPUTE, Kind.WARP, SassKind.UNIFORM, SassKind.MATRIX_PRODUCT}
ELSEWHERE = ("LDC", "ULDC", "LEPC", "S2R", "CS2R", "S2UR", "B2R")  # what they read is no operand that could be a register
# What is refused by name although nvdisasm prints it; no compiler was seen to write it.
REFUSED = re.compile(
    r"(DSETP\.(MIN|MAX)|FSET)\..*, !PT$|(F2FP|F2IP)\..*\.H1$|ELECT.*!PT$"
    r"|UIADD3\.64 .*-|VABSDIFF4\.U8 .*RZ$|PLOP3.*, !UP\d|BMMA|IMMA|TEX"
)


# Opcodes that the code from which the list is made has not. Tests of their own execute them.
NOT_LISTED = {"BGMMA", "BPT", "BRX", "I2IP", "IGMMA", "JMP", "KILL", "MOVM", "QGMMA", "QMMA", "REDAS", "STAS"}
NOT_LISTED |= {"UBLKPF", "UBREV", "UCGABAR_ARV", "UCGABAR_WAIT", "UIMNMX", "USETMAXREG", "USGXT", "VHMNMX"}
NOT_LISTED |= {"UTMACCTL", "UTMALDG", "UTMAPF", "UTMAREDG", "UTMASTG"}


@dataclass(frozen=True)
class Same:
    """Why instructions that are printed otherwise do the same: these opcodes, these words."""

    why: str
    names: str
    words: str = ""  # that came or went, as a regular expression for all of them
    texts: str = ""  # what one of the two has; nothing: their operands are the same

    def explains(self, one: Printed, other: Printed) -> bool:
        if not re.fullmatch(self.names, one.name):
            return False
        words = set(one.opcode.split(".")) ^ set(other.opcode.split("."))
        if not all(re.fullmatch(self.words, word) for word in words):
            return False
        if not self.texts:
            return one.operands == other.operands
        return re.search(self.texts, one.text) is not None or re.search(self.texts, other.text) is not None


_MEMORY = "LD[GLS]?|ST[GLS]?|ATOM[GS]?|RED|REDG|LDGSTS|SULD|SUST|TEX|TLD4?|TXD"
_HINTS = "CONSTANT|STRONG|WEAK|MMIO|GPU|SYS|SM|CTA|PRIVATE|VC|E[FLU]|LU|NA|LC|LTC(64|128|256)B|BYPASS|NODEP|U|SPIN"
SAME = (
    Same("scopes and hints for caches: memory is written in the order of execution", _MEMORY, _HINTS),
    Same("a texture has one level of detail; operands tell where they lie", "TEX|TLD4?|TXD", "L[BLZ]|SCR|B", ", "),
    Same("a NaN becomes zero, as without it", "F2I|F2IP", "NTZ"),
    Same("only numbers of 32 bits are flushed", "F2I", "FTZ", r"F64"),
    Same("equality has no sign", "U?ISETP", "U32", r"\.(EQ|NE)\."),
    Same("the lower half of a product or of a sum has no sign", "U?IMAD|REDUX", "[US]32"),
    Same("what is shifted to the left has no sign", "U?SHF", "[US](32|64)", r"\.L\."),
    Same("of what is shifted to the right, the lower word has no sign", "U?SHF", "[US]32", r"\.R(\.W)?\.[US]32 "),
    Same("nothing that is negated and nothing carried", "U?(IADD3|IMAD|LEA)", "X", "!U?PT$"),
    Same("-0 is 0", "U?IADD3|U?IMAD|VIADDMNMX", "", "-U?RZ"),
    Same("-0 is added", "HADD2", "", r"-\|?RZ|HADD2.F32 R\d+, R"),
    Same("a constant: 0 x 0 is added", "HFMA2", "MMA|BF16_V2", r"-\|?RZ"),
    Same("which unit multiplies", "HFMA2", "MMA"),
    Same("no predicate is written", "U?LOP3", "PAND", r"!?U?PT$"),
    Same("a ballot asks all lanes", "VOTEU?", "ALL|ANY"),
    Same("shared memory of the cluster lies in its window", "QSPC", "[SD]"),
    Same("the address is a pair", "QSPC", "E"),
    Same("the answer is thrown away", "SYNCS", "RED"),
    Same("a hint for caches", "UBLKCP|UBLKRED", "", "desc"),
    Same(
        "memory is written in order, and who sleeps ends its turn",
        "CCTL|DEPBAR|MEMBAR|FENCE|NANOSLEEP|YIELD",
        ".*",
        "^",
    ),
    Same("products are done at once", "WARPGROUP", ".*", "^"),
    Same("nobody runs when it has ended", "EXIT", "KEEPREFCOUNT|NO_ATEXIT|PREEMPTED"),
    Same("how lanes that wait are blocked", "BAR", "DEFER_BLOCKING"),
)


def _offset(architecture: str) -> int:
    return 0x210 if architecture == "sm_90" else 0x160


def _number(architecture: str) -> int:
    return int(architecture.removeprefix("sm_"))


def _encoded(instruction: Instruction, architecture: str) -> EncodedKernel:
    binary = Binary(_number(architecture), _offset(architecture))
    return encode_sass(
        Code("variant", [Block([instruction])], registers=255, predicates=7, allocated=True, source="", binary=binary)
    )


@dataclass(frozen=True)
class Variants:
    """What nvdisasm prints for an architecture."""

    architecture: str

    @cached_property
    def plain(self) -> list[Printed]:
        """What is listed."""
        return [one for one in printed(self.architecture, listed(self.architecture)).values() if one.name in encoders()]

    @cached_property
    def pairs(self) -> list[tuple[Printed, Printed]]:
        """Each beside all that differ from it in one bit."""
        return list(turned(self.architecture, [one.bits for one in self.plain]))

    @cached_property
    def modified(self) -> list[Printed]:
        """What differs from a listed one in the modifiers of an operand."""
        return modified(self.architecture, self.pairs)


def _only_numbers(one: Printed, other: Printed) -> bool:
    """Whether registers or constants are others, so that nothing can be said of their modifiers."""
    if one.opcode != other.opcode or len(one.operands) != len(other.operands):
        return False
    return [bare(operand) for operand in one.operands] != [bare(operand) for operand in other.operands]


def _signature(one: Printed, architecture: str) -> bytes | None:
    """All that the emulator is told of an instruction; none if it is refused."""
    try:
        encoded = _encoded(one.read(), architecture)
    except WarploomError:
        return None
    return encoded.instructions.tobytes() + encoded.micro.tobytes() + repr(encoded.constants).encode()


def _texts(architecture: str) -> list[str]:
    return [one.text for one in printed(architecture, listed(architecture)).values()]


@functools.cache
def variants(architecture: str) -> Variants:
    return Variants(architecture)


def _case(one: Printed, architecture: str) -> Twice | None:
    """An instruction in both ways; none if it does not compute, or writes nothing."""
    instruction = one.read()
    nowhere = (Bank.RZ, Bank.URZ, Bank.PT, Bank.UPT)
    if all(dst.bank in nowhere for dst in instruction.dsts):
        return None
    made = twice(instruction, _offset(architecture))
    if int(_encoded(made.written, architecture).instructions["kind"][0]) not in COMPUTES:
        return None
    try:
        _encoded(made.plain, architecture)
    except WarploomError:  # it wants to know beforehand which of two it is, such as the lesser or the greater
        made = twice(one.read(), _offset(architecture), fixed=True)
        _encoded(made.plain, architecture)
    return made


def _is_nan(words: np.ndarray, kind: str) -> np.ndarray:
    if kind == "single":
        return np.isnan(words.view(np.float32))
    low, high = words[0::2], words[1::2] & 0x7FFFFFFF
    return np.repeat((high > 0x7FF00000) | ((high == 0x7FF00000) & (low != 0)), 2, axis=0)


def _differs(case: Twice, written: np.ndarray, plain: np.ndarray) -> bool:
    """Whether results differ: a NaN is as good as another, and zero that is negated carries, for it is ~0 + 1."""
    op = case.written.op
    different = written != plain
    doubles = op.name in ("DADD", "DMUL", "DFMA")
    if doubles or reading(op.name, op.modifiers, 0) != "integer" or op.name in ("I2F", "F2F"):
        kind = "double" if doubles else "single"
        different &= ~(_is_nan(written, kind) & _is_nan(plain, kind))
    if op.name in ("IADD3", "UIADD3", "LEA", "ULEA") and len(case.written.dsts) > 1:
        signs = [getattr(source, "negated", False) for source in case.written.srcs if not _is_truth(source)]
        for negated, values in zip(signs, case.values, strict=True):
            if negated:
                different &= values[0] != 0
    return bool(different.any())


def _is_truth(operand: object) -> bool:
    inner = getattr(operand, "operand", operand)
    return getattr(inner, "bank", None) in (Bank.P, Bank.UP, Bank.PT, Bank.UPT)


def _wrong(cases: list[tuple[str, Twice]], architecture: str) -> list[str]:
    """The texts of those that write something else than with plain operands."""
    wrong = []
    for first in range(0, len(cases), TOGETHER):
        part = cases[first : first + TOGETHER]
        answers = execute_twice([made for _, made in part], _number(architecture), _offset(architecture))
        wrong += [text for (text, made), (written, plain) in zip(part, answers, strict=True) if _differs(made, written, plain)]
    return wrong


def _cases(instructions: list[Printed], architecture: str) -> tuple[list[tuple[str, Twice]], list[str]]:
    """What can be executed in both ways, and the texts of what is refused."""
    cases, refused = [], []
    for one in instructions:
        try:
            made = _case(one, architecture) if one.name not in ELSEWHERE else None
        except NotPlain:  # an address, or a part that belongs to the operation
            continue
        except WarploomError:
            refused.append(one.text)
            continue
        if made is not None:
            cases.append((one.text, made))
    return cases, refused


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_operand_is_read_as_it_is_written(architecture: str) -> None:
    found = variants(architecture)
    cases, refused = _cases([*found.plain, *found.modified], architecture)
    assert not _wrong(cases, architecture)
    assert not [text for text in refused if not REFUSED.search(text)]
    assert len(cases) > 3500
    assert len({text.partition(" ")[0].partition(".")[0] for text, _ in cases}) > 60


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_operation_heeds_its_guard(architecture: str) -> None:
    cases, _ = _cases(variants(architecture).plain, architecture)
    assert not _wrong([(text, guarded(made)) for text, made in cases], architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_word_is_passed_over(architecture: str) -> None:
    """An instruction that is printed otherwise is encoded otherwise, or refused, or it is known why it is the same."""
    known: dict[str, bytes | None] = {}
    passed = []
    for one, other in variants(architecture).pairs:
        if one.name != other.name or one.plain == other.plain or _only_numbers(one, other):
            continue
        for each in (one, other):
            if each.text not in known:
                known[each.text] = _signature(each, architecture)
        same = known[one.text] is not None and known[one.text] == known[other.text]
        if same and not any(rule.explains(one, other) for rule in SAME):
            passed.append(f"{one.text} => {other.text}")
    assert not passed
    assert len(known) > 10_000


def test_every_opcode_that_computes_is_in_the_list() -> None:
    """One that is not: let ``warploom-lab sass-instructions`` make the list again, from code that has it."""
    found = {Printed(text, 0).name for name in ("sm_75", "sm_80", "sm_90") for text in _texts(name)}
    assert set(encoders()) - found == NOT_LISTED


def _stored(ptx: str, given: np.ndarray, words: int) -> np.ndarray:
    """What the kernel k writes in machine code of an H200."""
    device = Device(lambda kernel, _shape: from_ptx(ptx, "k.ptx", "sm_90").kernel(kernel), record=None)
    out = device.array(np.zeros(words, np.uint32))
    device.launch("k", (1,), (32,), device.array(given), out)
    return out.get()


HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 out) {
.reg .b32 %t; .reg .b64 %g, %o, %w; .reg .f32 %f<4>; .reg .f64 %d<8>;
ld.param.u64 %g, [given]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
"""
SIGNED = "mul.wide.u32 %w, %t, 8; add.u64 %g, %g, %w; ld.global.v2.f32 {{%f1, %f2}}, [%g];\n"
SIGNED += "{name}.xorsign.abs.f32 %f3, %f1, %f2;\nmul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; st.global.f32 [%o], %f3; ret; }}\n"


@pytest.mark.parametrize("name", ["min", "max", "min.NaN", "max.NaN"])
def test_an_extreme_with_the_product_of_the_signs(name: str) -> None:
    """ptxas writes FMNMX.XORSIGN for it; a result that is a NaN keeps its sign."""
    values = [0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 3.0]
    given = np.array([(x, y) for x in values for y in values[::2]], np.float32)
    got = _stored(HEAD + SIGNED.format(name=name), given.reshape(-1).view(np.uint32), 32)
    x, y = np.abs(given).T
    extreme = {"min": np.fmin, "max": np.fmax, "min.NaN": np.minimum, "max.NaN": np.maximum}[name](x, y).view(np.uint32)
    sign = (given.view(np.uint32)[:, 0] ^ given.view(np.uint32)[:, 1]) & 0x80000000
    assert got.tolist() == np.where(np.isnan(extreme.view(np.float32)), 0x7FFFFFFF, extreme | sign).tolist()


PRODUCT = """
mul.wide.u32 %w, %t, 8; add.u64 %g, %g, %w; ld.global.f64 %d1, [%g]; ld.global.f64 %d2, [%g+256];
neg.f64 %d1, %d1; abs.f64 %d2, %d2; mov.f64 %d3, 0d0000000000000000;
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d1}, {%d2}, {%d3, %d3};
mul.wide.u32 %w, %t, 16; add.u64 %o, %o, %w; st.global.v2.f64 [%o], {%d4, %d5}; ret; }
"""


def test_a_product_of_matrices_whose_signs_are_turned() -> None:
    """ptxas lets DMMA change the signs of its matrices."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(8, 4)), rng.normal(size=(4, 8))
    got = _stored(HEAD + PRODUCT, np.concatenate([a.reshape(-1), b.T.reshape(-1)]).view(np.uint32), 128)
    assert np.allclose(got.view(np.float64).reshape(8, 8), -a @ np.abs(b), rtol=1e-14)
