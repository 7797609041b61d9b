"""A tiny kernel for any spelling of an instruction: every operand of the right kind, every result stored."""

from __future__ import annotations

from warploom.compiler.ptx.opcodes import Opcode, OperandRule, decode
from warploom.compiler.ptx.types import SIZE

HEADER = ".version 8.5\n.target sm_80\n.address_size 64\n"

DECLARATIONS = """
.global .align 16 .b8 words[64];
.const .align 16 .b8 fixed[64] = {1, 2, 3};
.global .texref picture;
.func (.param .b64 result) twice (.param .b64 value)
{
  .reg .b64 %x<3>;
  ld.param.b64 %x1, [value];
  add.s64 %x2, %x1, %x1;
  st.param.b64 [result], %x2;
  ret;
}
"""

PROLOGUE = """
.visible .entry tiny (.param .u64 out, .param .u32 n, .param .align 8 .b8 pack[16])
{
  .reg .pred %p<9>;
  .reg .b16 %h<12>;
  .reg .b32 %r<12>;
  .reg .b64 %d<12>;
  .shared .align 16 .b8 tile[256];
  .local .align 16 .b8 stack[64];
  .param .b64 staged;
  ld.param.u64 %d9, [out];
  cvta.to.global.u64 %d8, %d9;
  mov.u32 %r8, %tid.x;
  mov.u32 %r1, %r8;
  add.s32 %r2, %r8, 3;
  add.s32 %r3, %r8, 5;
  add.s32 %r4, %r8, 7;
  cvt.u16.u32 %h1, %r1;
  cvt.u16.u32 %h2, %r2;
  cvt.u16.u32 %h3, %r3;
  cvt.u16.u32 %h4, %r4;
  cvt.u64.u32 %d1, %r1;
  cvt.s64.s32 %d2, %r2;
  cvt.u64.u32 %d3, %r3;
  cvt.u64.u32 %d4, %r4;
  setp.lt.s32 %p1, %r1, 8;
  setp.gt.s32 %p2, %r2, 4;
  mov.u32 %r10, tile;
  add.s32 %r10, %r10, 16;
"""

BASES = {"global": "%d8", "": "%d8", "shared": "%r10", "const": "fixed", "param": "pack", "local": "stack"}
COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}


def register(type_: str, number: int, destination: bool = False) -> str:
    """A register that holds the type; destinations do not overlap sources."""
    bank = {0: "p", 1: "h", 2: "h", 4: "r", 8: "d"}[SIZE[type_]]
    return f"%{bank}{number + (4 if destination else 0)}"


def operand(rule: OperandRule, opcode: Opcode, sources: int) -> str:
    """The text of one operand."""
    kind = rule.kind
    if kind in ("d", "dm"):
        return register(rule.type, 1, True)
    if kind in ("s", "sm", "sa", "sp"):
        if opcode.name in ("bar", "barrier") and rule.type == "u32":
            return "32" if sources else "0"
        if opcode.name == "lop3" and sources == 3:
            return "0x3c"
        if opcode.name == "pmevent":
            return "3"
        return register(rule.type or "u64", sources + 1 if rule.type != "pred" else 1 + sources % 2)
    if kind in ("p|q", "d|p"):
        return f"{register('pred' if kind == 'p|q' else rule.type, 1, True)}|%p6"
    if kind in ("vd", "vs"):
        names = [register(rule.type, 1 + number % 4, kind == "vd") for number in range(opcode.vector)]
        return names[0] if opcode.vector == 1 else "{" + ", ".join(names) + "}"
    if kind == "[]":
        return f"[{BASES[opcode.space]}]" if opcode.name != "st" or opcode.space != "param" else "[staged]"
    if kind == "label":
        return "DONE"
    if kind == "tex":
        count = COORDINATES[opcode.space]
        return "[picture, {" + ", ".join(register(opcode.source_type, number + 1) for number in range(count)) + "}]"
    raise AssertionError(kind)


def instruction(spelling: str) -> str:
    """The instruction with operands, and what must stand around it."""
    opcode = decode(spelling)
    assert opcode is not None, f"{spelling} is not in the table"
    if opcode.name == "call":
        call = f"{spelling} (back), twice, (staged);"
        return f"st.param.b64 [staged], %d1;\n  .param .b64 back;\n  {call}\n  ld.param.b64 %d5, [back];"
    if opcode.name == "brx":
        return f"{{ LIST: .branchtargets DONE, NEXT; {spelling} %r1, LIST; NEXT: }}"
    texts: list[str] = []
    sources = 0
    for rule in opcode.rules:
        texts.append(operand(rule, opcode, sources))
        sources += rule.kind in ("s", "sm", "sa", "sp")
    text = f"{spelling} {', '.join(texts)};"
    if opcode.name in ("addc", "subc"):
        text = f"{spelling[:3]}.cc.u32 %r6, %r1, %r2;\n  {text}"
    if opcode.name == "madc":
        text = f"mad.lo.cc.u32 %r6, %r1, %r2, %r3;\n  {text}"
    if opcode.name == "st" and opcode.space == "param":
        staged = ".param .align 16 .b8 gathered[32];" if opcode.vector > 1 else ".param .b64 gathered;"
        text = f"{staged}\n  {text.replace('staged', 'gathered')}"
    return text


def tiny_kernel(spelling: str) -> str:
    """PTX with one kernel, ``tiny``, that uses the spelling."""
    stores = "\n".join(
        f"  st.global.{type_} [%d8+{64 * place + 8 * number}], %{bank}{number + 4};"
        for place, (bank, type_, count) in enumerate((("d", "b64", 4), ("r", "b32", 4), ("h", "b16", 4)))
        for number in range(1, count + 1)
        if not (bank == "d" and number == 4)
    )
    predicates = (
        "  selp.b32 %r9, 1, 0, %p5;\n  st.global.u32 [%d8+200], %r9;\n  selp.b32 %r9, 1, 0, %p6;\n  st.global.u32 [%d8+204], %r9;"
    )
    return f"{HEADER}{DECLARATIONS}{PROLOGUE}  {instruction(spelling)}\n{stores}\n{predicates}\nDONE:\n  ret;\n}}\n"
