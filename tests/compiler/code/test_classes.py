"""Operations that a policy adds: what they are to the pipeline, and that no pass of the backend touches them."""

from __future__ import annotations

import pytest

from support.assembler import assemble
from warploom.base.errors import WarploomError
from warploom.compiler.backend.dead import remove_dead
from warploom.compiler.backend.dependences import _is_wall
from warploom.compiler.code.classes import OpClass, Unit, add_operation, is_added, op_class, unit
from warploom.compiler.code.instruction import Code, Imm, Instruction, Operation
from warploom.compiler.code.table import Flag, static_table

HINT = add_operation("test-hint", __name__)
SWITCH = add_operation("test-switch", __name__, issued=True)


def code_with(*added: Instruction) -> Code:
    code = assemble("mov.u32 R0 = 1\n st.global.u32 [R0], R0\n exit", registers=1, allocated=True)
    code.blocks[0].instructions[1:1] = added
    return code


def test_metadata_is_fetched_and_decoded_but_never_issued() -> None:
    row = static_table(code_with(Instruction(HINT, srcs=(Imm(0xABCD),))))[1]
    assert (row["op_class"], row["unit"], row["payload"]) == (OpClass.METADATA, Unit.NONE, 0xABCD)
    assert Flag(int(row["flags"])) == Flag.METADATA
    assert static_table(code_with(Instruction(HINT)))[1]["payload"] == 0  # nothing to say


def test_what_is_issued_takes_no_unit() -> None:
    row = static_table(code_with(Instruction(SWITCH)))[1]
    assert (row["op_class"], row["unit"], row["flags"]) == (OpClass.CONTROL, Unit.NONE, 0)
    assert unit(op_class(SWITCH)) is Unit.NONE


def test_the_backend_neither_removes_nor_crosses_them() -> None:
    added = [Instruction(HINT, srcs=(Imm(1),)), Instruction(SWITCH)]
    code = code_with(*added)
    remove_dead(code)
    assert code.blocks[0].instructions[1:3] == added
    assert all(is_added(one.op) and _is_wall(one) for one in added)
    assert not is_added(Operation("add", "u32"))


@pytest.mark.parametrize("name", ["add", "bra", "mov", "test-hint"])
def test_a_name_is_taken_once(name: str) -> None:
    with pytest.raises(WarploomError, match="somebody: there is an operation"):
        add_operation(name, "somebody")


def test_a_module_may_be_loaded_again() -> None:
    assert add_operation("test-hint", __name__) == HINT
    with pytest.raises(WarploomError):
        add_operation("test-hint", __name__, issued=True)
