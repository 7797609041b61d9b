"""Machine code as people read it: each instruction with the registers that are live beside it.

One column per register, as `nvdisasm -plr` draws it: ``^`` written, ``v`` read, ``x`` both, ``:`` live and untouched.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from warploom.compiler.code.convergence import meetings
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Code, Instruction
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.loops import find_loops, loop_depths
from warploom.compiler.code.slots import PREDICATES, REGISTER_MASK, UNIFORM, bits
from warploom.compiler.cuda.demangle import demangle

_NARROWEST_TEXT = 42  # characters kept for the instruction before register columns are left out
_DRAWN = (1 << UNIFORM) - 1  # registers and predicates of a thread
_LEGEND = "^ written   v read (bold: for the last time)   x both   : live"


def inspect_summary(code: Code) -> dict[str, str | int]:
    """The figures of one kernel's allocated code."""
    return {
        "name": code.name,
        "instructions": len(code),
        "blocks": len(code.blocks),
        "registers": code.registers,
        "max_live": thread_liveness(code).max_live,
        "predicates": code.predicates,
        "spill_loads": code.spill_loads,
        "spill_stores": code.spill_stores,
        "shared_bytes": code.shared_bytes,
        "local_bytes": code.local_bytes,
    }


def render_listing(
    code: Code,
    console: Console,
    *,
    blocks: Collection[int] | None = None,
    annotations: Mapping[int, str] | None = None,
) -> None:
    """Print allocated code block by block; `blocks` selects some, `annotations` are notes drawn beside instructions, by pc.

    On a terminal that is typed at, a listing longer than the screen pauses between blocks.
    """
    listing = _Listing(code, console.width, annotations or {})
    for line in listing.heading():
        console.print(line, soft_wrap=True)
    chosen = [number for number in range(len(code.blocks)) if blocks is None or number in blocks]
    shown = 0
    for position, number in enumerate(chosen):
        lines = listing.block(number)
        if shown and shown + len(lines) > console.height and console.is_terminal and sys.stdin.isatty():
            answer = console.input(f"[dim]-- Enter for block B{number} ({len(chosen) - position} to come), q to stop --[/] ")
            if answer.strip().lower().startswith("q"):
                return
            shown = 0
        for line in lines:
            console.print(line, soft_wrap=True, highlight=False)
        shown += len(lines)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


@dataclass
class _Columns:
    """The registers drawn beside a block, and how many of those live there are not."""

    slots: list[int]
    left_out: int
    first_predicate: int  # position among the slots

    def header(self) -> list[str]:
        """The numbers of the registers, written downwards."""
        numbers = [slot - PREDICATES if slot >= PREDICATES else slot for slot in self.slots]
        rows = [f"{number:>3}" for number in numbers]
        if not rows:
            return []
        height = max(len(row.strip()) for row in rows)
        return [self.gap([row[3 - height + digit] for row in rows]) for digit in range(height)]

    def gap(self, characters: list[str]) -> str:
        """The characters of a row with a gap before the predicates."""
        text = "".join(characters)
        cut = self.first_predicate
        return text if cut in (0, len(text)) else f"{text[:cut]} {text[cut:]}"


class _Listing:
    def __init__(self, code: Code, width: int, annotations: Mapping[int, str]):
        self.code, self.width, self.annotations = code, width, annotations
        self.graph = flow_graph(code)
        self.liveness: Liveness = thread_liveness(code, self.graph)
        self.loops = find_loops(self.graph)
        self.depths = loop_depths(self.graph, self.loops)
        self.divergent = analyse_divergence(code, self.graph).branches
        self.starts = code.block_starts()
        self.note_width = max((len(note) for note in annotations.values()), default=0)
        self.max_live = self.liveness.max_live
        blocks = enumerate(code.blocks)
        self.longest = max((len(self._text(number, each)) for number, block in blocks for each in block.instructions), default=0)

    def heading(self) -> list[Text]:
        code = self.code
        lines = [
            Text.assemble(
                (demangle(code.name).path, "bold"),
                f"  {len(code)} instructions in {len(code.blocks)} blocks, {len(self.loops)} loops",
            )
        ]
        lines.append(
            Text(f"{code.registers} registers allocated, {self.max_live} live at most; {code.predicates} predicates"),
        )
        memory = f"{code.shared_bytes} bytes of shared memory, {code.local_bytes} of local memory"
        spills = (
            f"; {code.spill_loads} spill loads, {code.spill_stores} spill stores" if code.spill_loads + code.spill_stores else ""
        )
        lines += [Text(memory + spills), Text(_LEGEND, style="dim"), Text("")]
        return lines

    def block(self, number: int) -> list[Text]:
        """The lines of one block."""
        columns = self._columns(number)
        marks_width = len(columns.slots) + 1
        text_width = self._text_width(marks_width)
        lines = [self._title(number)]
        header = columns.header()
        for row, digits in enumerate(header):
            label = "live" if row == len(header) - 1 else ""
            lines.append(Text(f"{'':5} {'':{text_width}} {label:>4} {digits}", style="dim"))
        for pc in range(self.starts[number], self.starts[number + 1]):
            lines.append(self._line(number, pc, columns, text_width, marks_width))
        if columns.left_out:
            lines.append(Text(f"{'':5} and {columns.left_out} registers live throughout, not drawn", style="dim"))
        lines.append(Text(""))
        return lines

    def _title(self, number: int) -> Text:
        title = Text(f"{'  ' * self.depths[number]}B{number}", style="bold cyan")
        label = self.code.blocks[number].label
        notes = [label] if label else []
        before, after = self.graph.predecessors[number], self.graph.successors[number]
        notes.append("from " + (", ".join(f"B{b}" for b in before) if before else "the start" if number == 0 else "nowhere"))
        notes.append("to " + (", ".join(f"B{b}" for b in after) or "the end"))
        if number in self.loops:
            loop = self.loops[number]
            notes.append(f"loop of {_count(len(loop.blocks), 'block')}, depth {loop.depth}")
        if number in self.divergent:
            together = [f"B{block}" for block in meetings(self.graph, number)]
            notes.append("divergent, meets at " + (" or ".join(together) or "the end"))
        return title.append("  " + "; ".join(notes), style="dim")

    def _text_width(self, marks_width: int) -> int:
        fixed = 5 + 1 + 1 + 4 + 1 + marks_width + (1 + self.note_width if self.note_width else 0)
        return max(min(self.width - fixed, self.longest), 16)

    def _columns(self, number: int) -> _Columns:
        """All registers of the kernel if they fit; else those of this block; else without those that only live through it."""
        pcs = range(self.starts[number], self.starts[number + 1])
        accesses = self.liveness.accesses[number]
        touched = live = 0
        for pc, access in zip(pcs, accesses, strict=True):
            touched |= access.reads | access.writes
            live |= self.liveness.before[pc] | self.liveness.after[pc]
        touched, live = touched & _DRAWN, live & _DRAWN
        everything = (1 << self.code.registers) - 1 | ((1 << self.code.predicates) - 1) << PREDICATES
        room = self.width - _NARROWEST_TEXT - 13 - (1 + self.note_width if self.note_width else 0)
        for mask in (everything | touched | live, touched | live, touched):
            if mask.bit_count() <= room:
                break
        slots = list(bits(mask))[: max(room, 8)]
        drawn = sum(1 << slot for slot in slots)
        left_out = ((touched | live) & REGISTER_MASK & ~drawn).bit_count()
        return _Columns(slots, left_out, (drawn & REGISTER_MASK).bit_count())

    def _text(self, number: int, instruction: Instruction) -> str:
        control = f"{instruction.control} " if instruction.control is not None else ""
        return "  " * self.depths[number] + control + str(instruction)

    def _line(self, number: int, pc: int, columns: _Columns, text_width: int, marks_width: int) -> Text:
        instruction = self.code.blocks[number].instructions[pc - self.starts[number]]
        access = self.liveness.accesses[number][pc - self.starts[number]]
        before, after = self.liveness.before[pc], self.liveness.after[pc]
        text = self._text(number, instruction)
        if len(text) > text_width:
            text = text[: text_width - 1] + "…"
        pressure = self.liveness.pressure[pc]
        line = Text(f"{pc:5} ", style="dim")
        line.append(f"{text:{text_width}}", style="not dim")
        line.append(f" {pressure:4} ", style="not dim bold red" if pressure == self.max_live else "not dim")
        for position, slot in enumerate(columns.slots):
            if position == columns.first_predicate and position:
                line.append(" ")
            reads, writes = access.reads >> slot & 1, access.writes >> slot & 1
            mark = "x" if reads and writes else "^" if writes else "v" if reads else ":" if (before & after) >> slot & 1 else " "
            last = reads and not writes and not after >> slot & 1
            line.append(mark, style="not dim bold yellow" if last else "not dim green" if writes else "not dim")
        note = self.annotations.get(pc)
        if note:
            line.append(" " * (marks_width - len(columns.slots)) + note, style="not dim magenta")
        line.rstrip()
        return line
