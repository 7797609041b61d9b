"""Sentences for runs that went wrong: a fault of the shadow checker, or a deadlock."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.errors import SimulationError
from warploom.chip import checker
from warploom.compiler.code.instruction import Code

_WAITS = (
    ("held", "held back by the allocation or the hierarchy"),
    ("at_barrier", "at a barrier"),
    ("blocked", "for a result"),
    ("stalled_memory", "for its memory accesses"),
    ("draining", "for its stores"),
    ("no_code", "for code"),
)


def _instruction(code: Code, pc: int) -> str:
    if pc < 0:
        return ""
    return f", instruction {pc}: {list(code.instructions())[pc]}"


def fault(sms: np.ndarray, code: Code, design: Any) -> SimulationError:
    """What the shadow checker found first."""
    found = min((sm["fault"] for sm in sms if sm["fault"]["kind"]), key=lambda one: (int(one["cycle"]), int(one["sm"])))
    kind = int(found["kind"])
    where = f"SM {found['sm']}, warp {found['warp']}, register R{found['register']}, cycle {found['cycle']}"
    where += _instruction(code, int(found["pc"]))
    entry, wanted, got = found["entry"], found["version"], found["found_version"]
    other = f"warp with age {int(found['found_warp']) - 1}, R{found['found_register']}"
    nobody = int(found["found_warp"]) == 0
    what = {
        checker.WRONG_OWNER: f"reads entry {entry}, which holds "
        + ("a value of nobody" if nobody else f"a value of another owner ({other})")
        + ": the register was released or remapped too early",
        checker.STALE: f"reads version {got} from entry {entry} where the program means version {wanted}: a newer value was not "
        "written there",
        checker.UNMAPPED: "names a register that has no physical entry: it was released too early or never allocated",
        checker.GIVEN_TWICE: f"is given entry {entry}, which is still held by {other}: two registers share one entry",
        checker.ASLEEP: f"accesses entry {entry} before it has woken up",
        checker.STALE_PLACE: f"reads version {got} from upper-level place {entry} where the program means version {wanted}",
        checker.LOST_BELOW: f"is to be written down to entry {entry} from a place that holds another register's value",
        checker.LOST_LANES: f"writes some lanes of entry {entry}, which is encoded: the other lanes are lost",
        checker.GARBLED: f"is written to entry {entry} in a form from which its value cannot be read back",
        checker.UNDER_WAY: "reads or overwrites a register that a product of matrices under way has yet to make or to read",
    }[kind]
    names = ", ".join(f"{policy.CHOICE}={policy.NAME}" for policy in design)
    return SimulationError(f"{where}: it {what} (design {names})")


def deadlock(sms: np.ndarray, code: Code, trace: Any, design: Any, cycle: int) -> SimulationError:
    """Who waits for what, when nothing moves any more."""
    lines = []
    for sm in sms:
        resident = int(sm["resident"])
        for warp in range(64):
            if not resident >> warp & 1:
                continue
            state = sm["warp"][warp]
            index = int(state["next"])
            pc = int(trace.pc[index]) if index < int(state["end"]) else -1
            reason = next((text for name, text in _WAITS if int(sm[name]) >> warp & 1), "for an issue slot")
            what = "has ended and waits" if pc < 0 else "waits"
            lines.append(f"SM {sm['number']} warp {warp} {what} {reason}{_instruction(code, pc)}")
    shown = "; ".join(lines[:6]) + (f"; and {len(lines) - 6} more warps" if len(lines) > 6 else "")
    names = ", ".join(f"{policy.CHOICE}={policy.NAME}" for policy in design)
    return SimulationError(f"kernel {code.name}: deadlock at cycle {cycle} (design {names}): {shown or 'no CTA can be launched'}")
