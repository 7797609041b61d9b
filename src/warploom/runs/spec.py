"""What a run is: one value that says all that is asked for, from the keyboard to the page.

A `RunSpec` is frozen and can be hashed, compared and written down; its dictionary is the only form in which runs are written:
in results, for workers, for ``--from``. What a result is stored under (`RunSpec.key`), which runs share executions
(`RunSpec.execution_key`) and which share compiled code (`RunSpec.combination`) all follow from it.

To ask a new question of runs, add a field here, with its check in `__post_init__` and its default meaning what was so before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from warploom.base.checks import REGISTERS, check_words
from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.chip.machines import Machine, load_machine
from warploom.chip.machines.loader import machine_from_dict
from warploom.chip.sm import CHOICES
from warploom.designs import Design, from_dict, parse_design
from warploom.designs.design import OPTIONS
from warploom.designs.energy import technology_names
from warploom.designs.grammar import parse_items
from warploom.emulator.budget import DEFAULT_BUDGET, LARGEST_BUDGET
from warploom.emulator.turns import USUAL as USUAL_ORDER
from warploom.emulator.turns import seed_of
from warploom.programs.named import origin_named
from warploom.programs.origin import Origin
from warploom.programs.origins import origin_from_dict
from warploom.programs.program import check_code, check_size
from warploom.runs.caches import COLD, check_caches

LaunchNumber = tuple[str, int]  # a kernel, and which of its launches, from 0
COMMON_TECHNOLOGY = "common"
_ONLY_TIMED = ("design", "machine", "technology", "caches", "launches", "timed")  # fields that no execution depends on
USUAL = ""  # where a field has it, what is usual for the machine is meant


@dataclass(frozen=True)
class RunSpec:
    """A program under a design on a machine, and how it is run."""

    program: Origin
    design: Design
    machine: Machine
    size: str = "small"  # of a workload; nothing else has sizes
    seed: int | None = None  # of a workload's inputs; None: its own
    code: str = USUAL  # what is executed: "ptx" or machine code such as "sm_90"; empty: the machine's usual code
    technology: str = USUAL  # an energy table by name or file; empty: the machine's own where there is one, else the common one
    caches: str = COLD  # in what condition launches find them
    check: tuple[str, ...] = ()  # what is watched, in alphabetical order: see `warploom.base.checks`
    order: str = USUAL_ORDER  # in which warps run where code is executed: see `warploom.emulator.turns`
    budget: int = DEFAULT_BUDGET  # warp instructions that a launch may execute
    launches: tuple[LaunchNumber, ...] = ()  # those that are timed; empty: all. Cold, each alone; warm, after those before it
    timed: bool = True  # False: executed and compared with the reference only

    def __post_init__(self) -> None:
        if self.size:
            check_size(self.size)
        if self.code:
            check_code(self.code)
        check_caches(self.caches)
        seed_of(self.order)
        object.__setattr__(self, "check", check_words(self.check))
        object.__setattr__(self, "launches", tuple(map(_launch, self.launches)))
        if not 1 <= self.budget <= LARGEST_BUDGET:
            raise WarploomError(f"max_instructions must be from 1 to {LARGEST_BUDGET:,}, not {self.budget:,}")

    @property
    def settled(self) -> RunSpec:
        """The same run with everything said that the program and the machine decide where nobody else does."""
        return replace(
            self,
            size=self.size or "small" if self.program.sized else "",
            seed=self.program.own_seed if self.seed is None else self.seed,
            code=self.program.code_for(self.code, self.machine.code),
            technology=_settled_technology(self.technology, self.machine),
        )

    @property
    def key(self) -> str:
        """What its result is stored under, and told from all others by."""
        from warploom.runs.keys import keys_of

        return keys_of([self])[0]

    @property
    def execution_key(self) -> tuple[Any, ...]:
        """What is executed, but for the code that the design makes of it: runs of equal value can share executions."""
        asked = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _ONLY_TIMED}
        asked |= {"program": repr(self.program), "seed": -1 if self.seed is None else self.seed}
        kept = self.launches if self.caches == COLD else ()  # warm, those before the chosen ones are timed too
        return (*asked.values(), kept)

    @property
    def registers_watched(self) -> bool:
        """Whether the shadow checker watches every access of a register."""
        return REGISTERS in self.check

    @property
    def combination(self) -> tuple[Any, ...]:
        """What decides the compiled core: runs of equal value share it."""
        return (*(policy.NAME for policy in self.design.policies), self.registers_watched)

    def vary(self, path: str, value: Any) -> RunSpec:
        """The same run with another value in one place, by its path.

        A path is a field (``size``, ``design``, ``machine``), or leads into the design (``design.allocation.shrink``,
        ``design.scheduler``, ``design.max_registers``) or the machine (``machine.l1.latency``). ``sms`` gives the machine so many
        SMs with their share of the rest.
        """
        head, _, rest = path.partition(".")
        match head:
            case "design":
                return replace(self, design=changed_design(self.design, {rest: value}) if rest else _as_design(value))
            case "machine":
                return replace(self, machine=_changed_machine(self.machine, rest, value) if rest else _as_machine(value))
            case "sms":
                return replace(self, machine=self.machine.scaled(value))
            case "program":
                return replace(self, program=value if isinstance(value, Origin) else origin_named(value))
        names = [item.name for item in fields(self)]
        if path not in names:
            raise WarploomError(f"a run has no {path!r}{did_you_mean(path, [*names, 'sms'])}")
        changed: dict[str, Any] = {path: tuple(value) if isinstance(value, list) else value}
        return replace(self, **changed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, from which `spec_from_dict` makes an equal one."""
        out: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        out |= {"program": self.program.to_dict(), "design": self.design.to_dict(), "machine": self.machine.to_dict()}
        return out | {"check": list(self.check), "launches": [list(one) for one in self.launches]}

    def __reduce__(self) -> tuple[Any, ...]:
        """As plain data to other processes: policies of the user's files are not the same objects there."""
        return spec_from_dict, (self.to_dict(),)


def spec_from_dict(data: Any, place: str = "a run") -> RunSpec:
    """A run from what `RunSpec.to_dict` gave. The data may be a stranger's: it is looked at before it is believed."""
    if not isinstance(data, Mapping):
        raise WarploomError(f"{place}: `spec` is damaged: {data!r}")
    known = {item.name: item.default for item in fields(RunSpec)}
    for name in data:
        if name not in known:
            raise WarploomError(f"{place}: `spec` is damaged: a run has no {name!r}{did_you_mean(str(name), list(known))}")
    try:
        given = dict(data)
        program = origin_from_dict(given.pop("program"), place)
        design, machine = from_dict(given.pop("design"), place), machine_from_dict(given.pop("machine"), place)
        for name, value in given.items():
            if not _is_like(value, known[name]):
                raise WarploomError(f"{place}: `spec.{name}` is damaged: {value!r}")
        return RunSpec(program, design, machine, **given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WarploomError(f"{place}: `spec` is damaged: {type(error).__name__}: {error}") from None


def _is_like(value: Any, default: Any) -> bool:
    """Whether a value has the type of a field, by the field's default."""
    if default is None:
        return value is None or type(value) is int
    if isinstance(default, tuple):
        return isinstance(value, list | tuple)
    return type(value) is type(default)


def _launch(one: Any) -> LaunchNumber:
    match one:
        case (str(kernel), int(number)) if number >= 0:
            return kernel, number
    raise WarploomError(f"launch {one!r} is not a kernel and which of its launches, from 0")


def _settled_technology(technology: str, machine: Machine) -> str:
    """The name of an energy table, or its file's whole path."""
    if technology.endswith(".toml"):
        return str(Path(technology).resolve())
    return technology or default_technology(machine)


def default_technology(machine: Machine) -> str:
    """The energy table of a machine's own paper, or the common one."""
    return machine.name if machine.name in technology_names() else COMMON_TECHNOLOGY


def _as_design(value: Any) -> Design:
    return value if isinstance(value, Design) else parse_design(value)


def _as_machine(value: Any) -> Machine:
    return value if isinstance(value, Machine) else load_machine(value)


def _changed_machine(machine: Machine, path: str, value: Any) -> Machine:
    numbers = machine.to_dict()
    table, _, key = path.partition(".")
    if not isinstance(numbers.get(table), dict) or key not in numbers[table]:
        known = [f"{name}.{inner}" for name, entries in numbers.items() if isinstance(entries, dict) for inner in entries]
        raise WarploomError(f"a machine has no {path!r}{did_you_mean(path, known)}")
    changed = machine_from_dict(numbers | {table: numbers[table] | {key: value}}, f"machine {machine.name}")
    return replace(changed, sources=machine.sources)


def changed_design(base: Design, values: Mapping[str, Any]) -> Design:
    """A design with other policies (``scheduler``), parameters (``allocation.shrink``) and options (``max_registers``)."""
    tables = base.to_dict()
    for name, value in values.items():
        choice, dot, parameter = name.partition(".")
        if dot and choice in CHOICES:
            tables[choice] = {**tables[choice], parameter: value}
        elif choice in CHOICES:
            tables[choice] = policy_table(choice, value)
        elif name in OPTIONS:
            tables[choice] = None if value == "none" else value
        else:
            raise WarploomError(f"a design has no {name!r}{did_you_mean(name, [*CHOICES, *OPTIONS])}")
    return from_dict(tables, base.name)


def policy_table(choice: str, value: Any) -> dict[str, Any]:
    """A policy with its parameters, such as ``two-level(active=8)``, as the table of a design."""
    if not isinstance(value, str):
        raise WarploomError(f"{choice}: it wants the name of a policy, not {value!r}")
    (item, *others) = parse_items(f"{choice}={value}")
    if others or not item.name:
        raise WarploomError(f"{choice}: it wants one policy, such as two-level(active=8), not {value!r}")
    return {"policy": item.name, **item.parameters}
