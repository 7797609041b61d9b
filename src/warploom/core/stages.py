"""Which stages a machine's sub-cores have, and whether a design and a code can run on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.code.instruction import Code
from warploom.core.pipeline.subcore_state import SubCores
from warploom.core.pipeline.subcores import ControlledSubCores, ScoreboardedSubCores
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.register_file import Policies

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
    if machine.stages.operands == "collectors":
        return Collecting()
    for policy in design:
        for hook, reason in MEANINGLESS.items():
            if hasattr(policy, hook):
                raise WarploomError(f"{policy.CHOICE}={policy.NAME} cannot run on machine {machine.name}: {reason}")
    kind: Any = ControlledSubCores if machine.stages.dependences == "control_bits" else ScoreboardedSubCores
    return kind()


def kept_by(stages: Any) -> Any:
    """The record that stages keep in every SM; None: nothing."""
    return SubCores if isinstance(stages, ControlledSubCores) else None


def check_code(machine: Machine, code: Code) -> None:
    """Refuse code without control bits on a machine that heeds them."""
    if machine.stages.dependences == "control_bits" and code.binary is None:
        raise WarploomError(
            f"kernel {code.name}: machine {machine.name} heeds the control bits of machine code, and PTX has none; "
            f"run it with `--code {machine.code}`"
        )
