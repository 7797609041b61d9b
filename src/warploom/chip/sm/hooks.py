"""The hook points: every question that the pipeline asks a policy, with the answer that counts when the policy has none.

A hook point is called with the policy first. Which method runs is decided by the policy's *type* when Numba compiles the core,
and by plain Python under ``NUMBA_DISABLE_JIT=1``; a policy without a method of that name gets the default written here.

All hooks share their first arguments:

* ``policy``: the NamedTuple itself, its parameters as attributes (words are numbered in the order of ``LIMITS``);
* ``ctx``: what does not change during a launch: ``ctx.machine`` (the machine's record), ``ctx.design`` (the six policies),
  ``ctx.code[pc]`` (what the pipeline knows of an instruction, and under the choice's name the policy's own ``NOTES``),
  ``ctx.info`` (numbers of the launch), ``ctx.trace`` (the columns, read with `warploom.chip.sm.columns`);
  its type is `warploom.chip.sm.context.Context`;
* ``sm``: the SM's record (`warploom.chip.sm.layout.Sm`); a policy's own state is ``sm.scheduler``, ``sm.allocation`` and so
  on;
* ``cycle``: now. Cycles are skipped when nothing can happen, so a hook never counts calls as cycles: it notes
  timestamps and integrates.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from warploom.base.records import Lanes, Mask, u8
from warploom.chip.sm.bits import lowest
from warploom.chip.sm.choices import CHOICES
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.jit import make_callable

Function = TypeVar("Function", bound=Callable[..., Any])
HOOKS: dict[str, dict[str, Callable]] = {choice: {} for choice in CHOICES}


def hook(*choices: str) -> Callable[[Function], Function]:
    """Make a function a hook point of these choices; its body is the default."""

    def decorate(default: Function) -> Function:
        name = default.__name__
        for choice in choices:
            HOOKS[choice][name] = default

        def pick(kind: type) -> Callable:
            return getattr(kind, name, default)

        @functools.wraps(default)
        def point(policy: Any, *args: Any) -> Any:
            return pick(type(policy))(policy, *args)

        make_callable(point, lambda policy, *_: pick(policy.instance_class), inlined=True, widened=True)
        return cast(Function, point)

    return decorate


# --- several choices -----------------------------------------------------------------------------------------------------------


@hook("scheduler", "allocation", "hierarchy", "encoding", "power")
def reset(policy: Any, ctx: Context, sm: Sm, cycle: int) -> None:
    """A launch begins; the policy's state is all zeros."""


@hook("allocation", "encoding", "power")
def finish(policy: Any, ctx: Context, sm: Sm, cycle: int) -> None:
    """Add what has accumulated up to now to the policy's counters: the launch has ended, or a periodic sample is taken.

    It may run many times in a launch, so it notes how far it has come.
    """


@hook("allocation")
def on_cta_launch(policy: Any, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
    """A CTA takes a slot; its warps are launched next."""


@hook("allocation")
def on_cta_exit(policy: Any, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
    """A CTA's last warp has exited."""


@hook("scheduler", "allocation", "hierarchy")
def on_warp_launch(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp becomes resident. The allocation policy gives it its first registers here (`services.allocate`)."""


@hook("scheduler", "allocation", "hierarchy")
def on_warp_exit(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp has issued its last instruction, and all of its instructions have ended.

    Registers that are still mapped are freed right after this, or with the CTA if `freed_with_cta` says so.
    """


@hook("scheduler", "allocation", "hierarchy", "encoding")
def on_issue(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
    """An instruction has been issued, in program order of its warp; sources and destinations are resolved.

    ``index`` is the instruction's index in the trace's columns. The allocation policy releases registers here
    (`services.release`): from then on the register has no entry, and the entry is freed when its last access has finished.
    """


@hook("scheduler", "hierarchy")
def on_complete(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, issued_at: int) -> None:
    """An instruction has ended: its results are written. Not called for what is resolved at issue (branches, barriers)."""


@hook("allocation", "hierarchy")
def may_issue(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
    """Asked when a warp has been chosen; True lets it issue now. False holds it: not asked again until `services.wake` names it.

    The hierarchy is asked first. It must not take anything yet, for the allocation is asked next and may refuse; the allocation
    may take entries when it answers True. The scheduler hears of a warp that the allocation holds (`on_wait`) and may let
    another warp become active; it does not hear of one that the hierarchy holds, which takes a few cycles only.
    """
    return True


@hook("allocation")
def metadata_cached(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> bool:
    """Whether a metadata instruction need not be fetched or decoded (asked at each try to fetch it)."""
    return False


@hook("allocation", "hierarchy")
def on_metadata(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, payload: u8) -> None:
    """A metadata instruction takes effect, in program order: all instructions before it have been issued."""


# --- scheduler --------------------------------------------------------------------------------------------------------------


@hook("scheduler")
def choose(policy: Any, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
    """The warp to issue from, out of a mask (never empty) of this scheduler's warps whose next instruction could issue now.

    -1: none. Must not change any state: it is also asked what would be chosen.
    """
    return lowest(ready)


@hook("scheduler")
def on_blocked(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, long_latency: bool) -> None:
    """A warp's next instruction waits for a result; ``long_latency``: of a slow load (global, local, texture), or a fence.

    A two-level scheduler suspends here by clearing the warp's bit in ``sm.active``.
    """


@hook("scheduler")
def on_unblocked(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """The results that a blocked warp waited for have arrived."""


@hook("scheduler")
def on_wait(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp waits at a barrier, or the allocation policy holds it (`may_issue`); `on_unblocked` says when it goes on."""


@hook("scheduler")
def next_warp(policy: Any, ctx: Context, sm: Sm, cycle: int, scheduler: int, after: int) -> int:
    """The warp that this scheduler will issue from after it has issued from warp ``after``; -1 if it cannot know that yet."""
    return -1


@hook("scheduler", "power")
def next_event(policy: Any, ctx: Context, sm: Sm, cycle: int) -> int:
    """The next cycle that must not be skipped although nothing else may happen in it; -1: none.

    For a scheduler, the one at which `choose` could answer differently; for a power policy, that of its next `on_event`.
    """
    return -1


@hook("power")
def on_event(policy: Any, ctx: Context, sm: Sm, cycle: int) -> None:
    """The cycle that `next_event` named has come: the timer of a policy that acts by the clock."""


# --- allocation -------------------------------------------------------------------------------------------------------------


@hook("allocation")
def can_launch(policy: Any, ctx: Context, sm: Sm, cycle: int) -> bool:
    """Whether the SM may take one more CTA now. Asked only while there are fewer than the occupancy limit allows."""
    return True


@hook("allocation")
def freed_with_cta(policy: Any) -> bool:
    """When the registers that an exited warp still has are freed. True: when all warps of its CTA have exited; False: at once."""
    return False


@hook("allocation")
def map_write(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
    """The physical entry that a result will be written to; it may be allocated here if `may_issue` made sure that one is free."""
    return sm.map[warp, register]


@hook("allocation")
def issue_delay(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> int:
    """Cycles that an instruction needs between issue and operand collection besides the usual ones, such as those of renaming."""
    return 0


@hook("allocation", "power")
def issue_stages(policy: Any) -> int:
    """Pipeline stages that the policy puts between issue and the collectors; each holds as many instructions as one latch."""
    return 0


@hook("allocation", "power")
def on_allocate(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """A physical entry has been given to a register."""


@hook("allocation", "encoding", "power")
def on_free(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """A physical entry is free: nothing reads or writes it any more. The allocation policy may wake held warps."""


@hook("allocation")
def on_stuck(policy: Any, ctx: Context, sm: Sm, cycle: int) -> bool:
    """All warps that could issue are held and nothing is in flight: spill now (`services.inject`), or the SM never goes on.

    True: the policy did something.
    """
    return False


@hook("allocation")
def on_injected(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int, kind: int) -> None:
    """An injected operation (`services.SPILL`, `services.REFILL`) has finished."""


# --- hierarchy --------------------------------------------------------------------------------------------------------------


@hook("hierarchy")
def lookup(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, operand: int) -> int:
    """The place of the upper level (0 to 2047) that an operand is read from, in program order; -1: the main register file."""
    return -1


@hook("hierarchy")
def on_ports(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, at: int) -> None:
    """Where read ports are reserved: an instruction that came for its sources at a cycle has all of its ports at another.

    Its sources are looked up before, with the same cycle.
    """


@hook("hierarchy")
def on_result(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int, mask: Lanes) -> int:
    """The place of the upper level that a result is written to; -1: the main register file.

    A value that must leave its place first is written down with `services.write_back`.
    """
    return -1


@hook("hierarchy")
def on_placed(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
    """A result is in its place of the upper level. A level that writes through calls `services.write_back` here."""


@hook("hierarchy")
def on_filled(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
    """What `services.bring_up` asked for has arrived in its place."""


@hook("hierarchy")
def on_suspend(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """The scheduler has taken a warp out of ``sm.active``."""


@hook("hierarchy")
def on_activate(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """The scheduler has put a warp into ``sm.active``."""


@hook("hierarchy")
def flush(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A register of a warp is about to be spilled: write down every value of the warp that only the upper level holds."""


@hook("hierarchy")
def on_release(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
    """The allocation policy has released a register: its value is dead wherever it is."""


@hook("hierarchy")
def holds(policy: Any, ctx: Context, sm: Sm, warp: int, register: int) -> bool:
    """Whether the upper level holds the newest value of a register, so that the main register file's may be old."""
    return False


@hook("hierarchy")
def collectors(policy: Any, ctx: Context, unit: int, built: int) -> int:
    """How many operand collectors stand before a kind of unit (1: SP, 2: SFU, 3: MEM) where the machine has built so many.

    With `may_issue` and `on_collected` a policy gives them to warps as it likes, such as a few to each.
    """
    return built


@hook("hierarchy")
def on_collected(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """An instruction has all its operands and leaves its collector."""


@hook("hierarchy")
def shares_reads(policy: Any) -> bool:
    """Whether `lookup` may name a place that `services.share_read` is still filling; the operand then waits for that."""
    return False


@hook("hierarchy")
def fetch_cycles(policy: Any, ctx: Context, sm: Sm) -> int:
    """Cycles from the assignment of a collector until operands from the upper level have arrived in it."""
    return 1


@hook("hierarchy")
def branch_delay(policy: Any, ctx: Context, sm: Sm) -> int:
    """Cycles that a branch takes to be resolved besides the machine's own."""
    return 0


# --- encoding ---------------------------------------------------------------------------------------------------------------


# An encoding numbers the forms in which it stores a register; 0 is the register as it is. The core keeps the form of each
# entry (``sm.entry[entry].form``): it changes with the write, so that reads of the old value still see the old form.


@hook("encoding")
def form_of(policy: Any, ctx: Context, sm: Sm, cycle: int, value: np.uint32, mask: Lanes, whole: bool) -> int:
    """The form in which a result is stored. ``value`` is its entry in the trace's value column, or `services.UNKNOWN`.

    Not ``whole``: only the lanes of ``mask`` are written, which no form but 0 allows. A mask that has every lane of the warp is
    given as one of 32 lanes, also where the warp was launched with fewer.
    """
    return 0


@hook("encoding")
def write_ready(policy: Any, ctx: Context, sm: Sm, cycle: int, form: int, value: np.uint32, whole: bool) -> int:
    """The cycle at which a result, encoded, may go to its bank."""
    return cycle


@hook("encoding")
def stored_lanes(policy: Any, form: int) -> int:
    """How many of the 32 lanes of 32 bits a register takes in this form; they are packed into its lowest banks."""
    return 32


@hook("encoding")
def read_ready(policy: Any, ctx: Context, sm: Sm, cycle: int, form: int) -> int:
    """The cycle at which an operand is decoded that leaves its collector at ``cycle`` in this form (never 0)."""
    return cycle


@hook("encoding")
def operand_stages(policy: Any) -> int:
    """Pipeline stages that decoding puts between collectors and units; each holds as many instructions as one latch."""
    return 0


@hook("encoding")
def on_store(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int, form: int) -> None:
    """An entry takes a value in this form; ``sm.entry[entry].form`` is still that of the old one."""


@hook("encoding")
def merges(policy: Any) -> bool:
    """Whether an instruction that writes some lanes reads its destination too, so that it is written whole."""
    return False


@hook("encoding")
def recoverable(policy: Any, form: int, value: np.uint32) -> bool:
    """Whether a value can be read back from a form. Asked by the shadow checker alone, at every write."""
    return form == 0


@hook("encoding")
def needs_move(policy: Any, ctx: Context, sm: Sm, warp: int, register: int, entry: int, mask: Lanes) -> bool:
    """Whether a MOV of the register onto itself must be injected before an instruction with this mask may write to it."""
    return False


# --- power ------------------------------------------------------------------------------------------------------------------


@hook("power")
def prepare_read(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
    """An entry is going to be read, by an issued instruction or for the upper level: the cycle from which it can be.

    At ``cycle``, which may be to come, the instruction is in front of the collectors; it takes one when its sources are awake. A
    policy that ``wakes_in_collectors`` hears of it when the instruction has been given a collector, which is held meanwhile.
    """
    return cycle


@hook("power")
def prepare_write(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """An instruction that will write the entry has been issued, or a value of the upper level sets out for the entry."""


@hook("power")
def write_awake(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
    """A result is ready to be written to ``banks`` banks of the entry. The answer is the cycle from which they can be written."""
    return cycle


@hook("power")
def on_read(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """The entry has been read; ``sm.entry[entry].readers`` says how many more reads are under way."""


@hook("power")
def on_write(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> None:
    """The entry has been written."""


@hook("power")
def on_unwritten(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """A result that `prepare_write` announced went to the upper level instead."""


@hook("power")
def wakes_in_collectors(policy: Any) -> bool:
    """Whether entries are woken when a collector is assigned, on machines that have collectors, instead of at issue."""
    return False


@hook("power")
def looks_ahead(policy: Any) -> int:
    """Of how many warps whose turns come next the policy wants to hear (`foresee`), if the scheduler can tell (`next_warp`)."""
    return 0


@hook("power")
def foresee(policy: Any, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> None:
    """The scheduler will soon issue from this warp (`next_warp`); ``pc`` is of the warp's next instruction."""


@hook("power")
def powered(policy: Any, ctx: Context, sm: Sm, entry: int) -> bool:
    """Whether a free entry could be used without waking anything. Allocation policies that search take such entries first."""
    return True


@hook("power")
def awake(policy: Any, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
    """Whether the entry can be accessed at this cycle. Asked by the shadow checker alone, at every access."""
    return True


# --- gating -----------------------------------------------------------------------------------------------------------------


@hook("gating")
def lanes_accessed(policy: Any, ctx: Context, sm: Sm, mask: Lanes, write: bool) -> int:
    """How many of the 32 lanes an access of the main register file really switches."""
    return 32
