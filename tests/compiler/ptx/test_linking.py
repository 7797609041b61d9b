"""The texts of several files become one: each name means one thing, whoever declares it and in whatever order."""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.linking import link
from warploom.compiler.ptx.module import Module, SymbolAddress

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
CALLER = """
.extern .func (.param .b32 r) get (.param .b32 x); // from the other file; not a definition: {
.extern .global .align 4 .b8 shared_table[8];
.visible .global .align 8 .u64 pointer = generic(shared_table)+4;
.global .align 1 .b8 $str[3] = {104, 105};
.visible .entry kernel(.param .u64 out) {
  .reg .b64 %rd<2>;
  .loc 1 4 2
  mov.u64 %rd1, $str;
  ret;
}
"""
CALLED = """
.file 1 "other.cu"
.global .align 1 .b8 $str[5] = {119, 111, 119, 33};
.visible .global .align 4 .b8 shared_table[8] = {1, 0, 0, 0, 2};
.weak .func (.param .b32 r) again (.param .b32 x) { ret; }
.visible .func (.param .b32 r) get (.param .b32 x) {
  .reg .b64 %rd<2>;
  mov.u64 %rd1, $str;
  ret;
}
.section .debug_str { .b8 1, 2 }
"""


def linked(*bodies: str) -> Module:
    return parse(link([HEADER + body for body in bodies], "program"), "program")


def string_of(module: Module, instruction: object) -> bytes:
    address = instruction.operands[1]  # type: ignore[attr-defined]
    assert isinstance(address, SymbolAddress)
    return address.variable.data


@pytest.mark.parametrize("bodies", [(CALLER, CALLED), (CALLED, CALLER)])
def test_what_one_file_defines_is_what_the_other_declares(bodies: tuple[str, str]) -> None:
    module = linked(*bodies)
    assert module.functions["get"].defined and list(module.kernels) == ["kernel"]
    pointer, table = module.variables["pointer"], module.variables["shared_table"]
    assert not table.extern and table.data[:1] == b"\1"
    assert pointer.pointers == ((0, table, 4, 8),)


@pytest.mark.parametrize("bodies", [(CALLER, CALLED), (CALLED, CALLER)])
def test_names_that_only_their_own_file_sees_stay_apart(bodies: tuple[str, str]) -> None:
    module = linked(*bodies)
    assert string_of(module, module.kernels["kernel"].body[0]) == b"hi"
    assert string_of(module, module.functions["get"].body[0]) == b"wow!"


def test_of_weak_definitions_one_is_kept_and_a_strong_one_wins() -> None:
    weak = ".weak .func (.param .b32 r) again (.param .b32 x) { .reg .b32 %r<2>; mov.b32 %r1, 1; ret; }"
    strong = ".visible .func (.param .b32 r) again (.param .b32 x) { ret; }"
    assert len(linked(weak, weak).functions["again"].body) == 2
    assert len(linked(weak, strong).functions["again"].body) == 1
    assert len(linked(strong, weak).functions["again"].body) == 1
    with pytest.raises(WarploomError, match=r"^program: again is defined in two of the files"):
        linked(strong, strong)


def test_the_newest_version_and_target_are_named_and_one_file_is_left_as_it_is() -> None:
    older = ".version 7.8\n.target sm_52, debug\n.address_size 64\n.visible .entry a() { ret; }"
    module = parse(link([older, HEADER + ".visible .entry b() { ret; }"], "program"), "program")
    assert (module.version, module.target, list(module.kernels)) == ((8, 0), "sm_75", ["a", "b"])
    assert link([older], "program") is older


def test_addresses_that_need_each_other_and_texts_that_are_no_ptx_are_refused() -> None:
    one = ".extern .global .u64 b;\n.visible .global .u64 a = b;"
    two = ".extern .global .u64 a;\n.visible .global .u64 b = a;"
    with pytest.raises(WarploomError, match=r"^program: variables of several files begin with each other's addresses: "):
        linked(one, two)
    with pytest.raises(WarploomError, match=r"^program: a part of the program is not PTX"):
        link([HEADER, "nothing"], "program")


def test_what_cuda_itself_supplies_stays_declared() -> None:
    printing = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.visible .entry {}() {{ ret; }}"
    module = linked(printing.format("a"), printing.format("b"))
    assert not module.functions["vprintf"].defined
    assert list(module.kernels) == ["a", "b"]
