"""The options by which commands say how runs are made: size, seed, energy table, checker, policies, budget, processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from warploom.base.cores import use_threads
from warploom.cli.check_option import Check
from warploom.cli.code_option import Code, check_given
from warploom.cli.machine_options import MachineName, Overrides, Sms, chosen_machine
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.emulator.budget import DEFAULT_BUDGET, LARGEST_BUDGET
from warploom.emulator.turns import USUAL

if TYPE_CHECKING:
    from warploom.chip.machines import Machine
    from warploom.designs import Design
    from warploom.programs.origin import Origin
    from warploom.runs.spec import RunSpec

Size = Annotated[str, typer.Option(help="tiny, small, paper or chip.")]
Seed = Annotated[int | None, typer.Option(help="Seed for the workload's inputs; default: its own.", min=0)]
Technology = Annotated[
    str | None, typer.Option(help="An energy table's name or .toml file; else the machine's own, or 'common'.")
]
Caches = Annotated[
    str, typer.Option(help="cold: L2 is empty when the program begins; warm: it also holds what the host copies to the device.")
]
MaxInstructions = Annotated[
    int, typer.Option(help="Stop a launch that executes more warp instructions than this.", min=1, max=LARGEST_BUDGET)
]
Order = Annotated[
    str,
    typer.Option(
        help="In which order warps run. usual: one after the other to the next barrier; turns: in short turns, many blocks at a "
        "time, as chance has it, so that a result that depends on the order shows; turns:SEED: another such order.",
        metavar="usual|turns[:SEED]",
    ),
]
Jobs = Annotated[int, typer.Option(help="Processes; 0: one for each core.", min=0)]
Threads = Annotated[
    int,
    typer.Option(
        help="Threads of each run, with the same result for any number; 0: the cores that --jobs and other programs leave.", min=0
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Let the workers of this Dask scheduler make the runs.", metavar="tcp://HOST:PORT")
]
MaxRegisters = Annotated[
    int | None, typer.Option(help="Registers of a thread at most; the compiler spills the rest.", min=1, max=255)
]
PolicyFiles = Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")]


def check_order(order: str) -> str:
    """An order that is known, or an error that lists what there is."""
    from warploom.emulator.turns import seed_of

    seed_of(order)
    return order


def load_policies(files: Sequence[str] | None) -> None:
    """Load the policies of the files that ``--policy`` names."""
    from warploom.chip.sm import load_policy_file

    for file in files or ():
        load_policy_file(file)


@dataclass(frozen=True)
class RunOptions:
    """How runs are made, besides of which program and under which design; each field is an option."""

    machine: MachineName = "gtx480"
    size: Size = "small"
    code: Code = None
    seed: Seed = None
    technology: Technology = None
    caches: Caches = "cold"
    check: Check = ""
    order: Order = USUAL
    paper: PaperFolders = None
    policy: PolicyFiles = None
    override: Overrides = None
    sms: Sms = None
    max_instructions: MaxInstructions = DEFAULT_BUDGET
    threads: Threads = 0

    def load(self) -> Machine:
        """The machine that is meant, once papers and policies are loaded and what cannot be run is refused."""
        from warploom.designs.energy import load_technology
        from warploom.programs.program import check_size
        from warploom.runs.caches import check_caches

        use_threads(self.threads)
        load_papers(self.paper)
        check_size(self.size)
        check_caches(self.caches)
        check_given(self.code)
        if self.technology is not None:
            load_technology(self.technology)
        load_policies(self.policy)
        return chosen_machine(self.machine, self.override or (), self.sms)

    def spec(self, program: Origin, design: Design, machine: Machine, *, timed: bool = True) -> RunSpec:
        """The run of a program under a design."""
        from warploom.base.checks import check_words
        from warploom.runs.spec import RunSpec

        return RunSpec(
            program,
            design,
            machine,
            size=self.size,
            seed=self.seed,
            code=self.code or "",
            technology=self.technology or "",
            caches=self.caches,
            check=check_words(self.check),
            order=self.order,
            budget=self.max_instructions,
            timed=timed,
        )


AS_USUAL = RunOptions()
