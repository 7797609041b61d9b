"""Designs, machines, energy tables, plans and goals, as text and as TOML files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.machines.loader import FOLDER as MACHINES
from warploom.chip.sm import CHOICES, policies_of
from warploom.designs import Design, load_design, named_designs, parse_design, storage_bits
from warploom.designs.energy import load_technology
from warploom.designs.energy import technology as technology_module
from warploom.studies.search.goal import make_goal
from warploom.studies.search.space import space_of
from warploom.studies.sweep.expansion import expand
from warploom.studies.sweep.plan import read_plan
from warploom_lab import PLANS
from warploom_lab.fuzz.kinds import Kind, Wrong
from warploom_lab.fuzz.mutations import ODD_WORDS, spoilt_text, tokens

FURTHER_GRIDS = """workloads = "vectoradd"
sizes = ["tiny", "small"]
where = ["size == 'tiny' or allocation.shrink < 0.7", "seed in [5, 6] and not l1.latency == 30"]
[overrides]
"l1.latency" = { from = 20, to = 40, count = 3, scale = "log" }
[[grid]]
designs = ["baseline", "rfv(shrink=0.5) + encoding=bdi"]
seeds = [5, 6]
[[grid]]
machines = "gtx480"
parameters = { scheduler = ["gto", "two-level(active=4)"], max_registers = ["none", "fit", 24] }
"""

DERIVED = """title = "one that differs little"
base = "gtx480"
[sources]
default = "made up"
[l1]
mshrs = 8
latency = 40
[dram]
channels = 4
[l2]
slices = 4
"""


def some_design(random: Random) -> str:
    """The text of a design: a named one or policies of some choices, with some parameters."""
    parts = [random.choice(list(named_designs()))] if random.random() < 0.5 else []
    for choice in random.sample(CHOICES, random.randint(0 if parts else 1, 3)):
        kind = random.choice(list(policies_of(choice).values()))
        values = []
        for field in kind._fields:
            if random.random() < 0.4:
                limits = getattr(kind, "LIMITS", {}).get(field)
                if limits is None:
                    values.append(f"{field}={random.choice(['true', 'false'])}")
                elif isinstance(limits[0], str):
                    values.append(f"{field}={random.choice(limits)}")
                else:
                    values.append(f"{field}={random.choice([*limits, kind._field_defaults[field]])}")
        parts.append(f"{choice}={kind.NAME}" + (f"({', '.join(values)})" if values else ""))
    if random.random() < 0.3:
        parts.append(random.choice(["register_file=0.5", "max_registers=24", "max_registers=fit"]))
    return " + ".join(parts)


class DesignText(Kind):
    """The text of ``--design``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        draw = Random(0)
        self.words = sorted({word for _ in range(300) for word in tokens(some_design(draw))})
        self.machine = load_machine("gtx480")

    def make(self, random: Random) -> str:
        text = some_design(random)
        return text if random.random() < 0.1 else spoilt_text(text, self.words, random)

    def attempt(self, spoilt: str) -> None:
        made = parse_design(spoilt)
        storage_bits(made, self.machine)
        _reads_back(made, str(made), parse_design)


def _reads_back(made: Design, written: str, read: Callable[[str], Design]) -> None:
    """What is written of a design must read back as the same design."""
    try:
        again = read(written)
    except WarploomError as error:
        raise Wrong(f"what is written of a design cannot be read\n{made.to_toml()}\n{error}") from error
    if again != made:
        raise Wrong(f"what is written of a design reads back as another\n{made.to_toml()}")


class _Toml(Kind):
    """A TOML file that is given by its path."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "spoilt.toml"
        self.samples = self.texts()
        self.words = sorted({word for text in self.samples for word in tokens(text)} | set(ODD_WORDS))

    def texts(self) -> list[str]:
        """Good files."""
        raise NotImplementedError

    def make(self, random: Random) -> bytes:
        text = spoilt_text(random.choice(self.samples), self.words, random)
        data = text.encode("utf-8", "surrogatepass")
        if random.random() < 0.02:
            place = random.randrange(len(data) + 1)
            data = data[:place] + random.randbytes(3) + data[place:]
        return data

    def attempt(self, spoilt: bytes) -> None:
        self.path.write_bytes(spoilt)
        self.load()

    def load(self) -> None:
        """Read the file."""
        raise NotImplementedError


class DesignToml(_Toml):
    """The file of ``--design x.toml``."""

    def texts(self) -> list[str]:
        return [parse_design(name).to_toml() for name in list(named_designs())]

    def load(self) -> None:
        made = load_design(self.path)
        again = self.folder / "again.toml"
        again.write_text(made.to_toml(), encoding="utf-8")
        _reads_back(made, str(again), load_design)


class MachineToml(_Toml):
    """The file of ``--machine x.toml``."""

    def texts(self) -> list[str]:
        shipped = [path.read_text(encoding="utf-8") for path in sorted(MACHINES.glob("*.toml"))]
        return [*shipped, *[DERIVED] * len(shipped)]

    def load(self) -> None:
        machine = load_machine(self.path)
        machine.record()
        if machine.chip.sms > 1:
            machine.scaled(1)


class TechnologyToml(_Toml):
    """The file of ``--technology x.toml``."""

    def texts(self) -> list[str]:
        folder = Path(technology_module.__file__).parent / "technologies"
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))]

    def load(self) -> None:
        table = load_technology(self.path)
        table.access("read", 1e-9)
        table.register_cache_energy(5, 7)
        table.table(512)
        _ = table.drowsy_ratio, table.wire_energy


class PlanToml(_Toml):
    """The file of ``warploom sweep``."""

    def texts(self) -> list[str]:
        return [(PLANS / "shrink.toml").read_text(encoding="utf-8"), FURTHER_GRIDS]

    def load(self) -> None:
        expand(read_plan(self.path))


class GoalToml(_Toml):
    """The file of ``warploom search``."""

    def texts(self) -> list[str]:
        return [(PLANS / "energy-gtx480.toml").read_text(encoding="utf-8")]

    def load(self) -> None:
        goal = make_goal(self.path)
        space_of(goal.space, goal.place)
