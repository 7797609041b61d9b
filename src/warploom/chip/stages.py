"""Which stages a machine's sub-cores have, and whether a design and a code can run on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine
from warploom.chip.machines.sm_tables import Dependences, OperandPath
from warploom.chip.pipeline.subcore_state import SubCores
from warploom.chip.pipeline.subcores import ControlledSubCores, ScoreboardedSubCores
from warploom.chip.sm import Policies
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.wide import first_wide

# Hooks that have no meaning where operands come through reserved read ports, and why.
MEANINGLESS = {
    "collectors": "it decides over operand collectors, and these sub-cores have none",
    "on_collected": "it waits for operand collectors, and these sub-cores have none",
    "shares_reads": "it lets operands wait in collectors, and these sub-cores have none",
    "on_result": "dependants are issued by stall counts before a result is written, so its upper level would be asked too early",
    "read_ready": "decoding an operand takes time that the compiler's stall counts do not know of, and nothing can wait for it",
    "needs_move": "it puts moves into code whose stall counts do not know of them",
}


class Collecting(NamedTuple):
    """Operand collectors and a scoreboard: what the pipeline does where nothing else answers."""


def stages_of(machine: Machine, design: Policies) -> Any:
    """The stages of a machine; a design that has no meaning on them is refused."""
    if machine.stages.operands == OperandPath.COLLECTORS:
        return Collecting()
    for policy in design:
        for hook, reason in MEANINGLESS.items():
            if hasattr(policy, hook):
                raise WarploomError(f"{policy.CHOICE}={policy.NAME} cannot run on machine {machine.name}: {reason}")
    kind: Any = ControlledSubCores if machine.stages.dependences == Dependences.CONTROL_BITS else ScoreboardedSubCores
    return kind()


def kept_by(stages: Any) -> Any:
    """The record that stages keep in every SM; None: nothing."""
    return SubCores if isinstance(stages, ControlledSubCores) else None


def check_code(machine: Machine, design: Policies, code: Code) -> None:
    """Refuse code without control bits on a machine that heeds them, and products of matrices where nothing can make them."""
    if machine.stages.dependences == Dependences.CONTROL_BITS and code.binary is None:
        raise WarploomError(
            f"kernel {code.name}: machine {machine.name} heeds the control bits of machine code, and PTX has none; "
            f"run it with `--code {machine.code}`"
        )
    if machine.stages.operands == OperandPath.PORTS and (reason := _takes_registers(design)) is None and _heeds(machine):
        return
    wide = first_wide(code)
    if wide is None:
        return
    if machine.stages.operands != OperandPath.PORTS or not _heeds(machine):
        reason = f"machine {machine.name} has no tensor cores that read and write many registers under control bits"
    raise WarploomError(
        f"{code.source or code.name}: kernel {code.name}: {wide.op} is executed but cannot be timed: {reason}; "
        "with --emulate-only it runs."
    )


def _heeds(machine: Machine) -> bool:
    return machine.stages.dependences == Dependences.CONTROL_BITS


def _takes_registers(design: Policies) -> str | None:
    """Why a design cannot leave registers to a product that accesses them long after its issue; None: it can."""
    allocation = design.allocation
    if any(hasattr(allocation, hook) for hook in ("compile", "map_write", "on_issue")):
        return (
            f"allocation={allocation.NAME} gives and takes registers by what is issued, "
            "and it accesses its registers long after its issue"
        )
    return None
