"""A design as a drawing: the way from a warp to the cells of the register file, with a box for each of its six choices."""

from __future__ import annotations

from html import escape
from textwrap import wrap

from warploom.chip.sm import CHOICES, baseline_policies
from warploom.designs import Design
from warploom.designs.drawings import STATES, Drawn, drawn
from warploom.show.colours import FIXED

WIDTH, HEIGHT = 880, 330
_BOX_WIDTH, _BOX_HEIGHT = 186, 128
_PLACES = {  # of the boxes: above the way of an instruction, below what is done to the cells
    "scheduler": (8, 26),
    "allocation": (220, 26),
    "hierarchy": (432, 26),
    "gating": (8, 190),
    "encoding": (220, 190),
    "power": (432, 190),
}
_LETTERS, LINES = 26, 5  # of a line in a box, and lines
_FILE_X, _FILE_Y, _COLUMNS, _ROWS, _CELL, _CELL_HEIGHT = 648, 48, 8, 16, 26, 13
_KEY_X = (0, 77, 167)  # of the states below it
_USED = 3  # entries that are being accessed
# Every rule names the drawing: inside a page a style sheet is everybody's.
_STYLE = """
.drawing text { font: 12px system-ui, sans-serif; fill: var(--ink, #1d2733); }
.drawing .choice, .drawing .small { fill: var(--soft, #55636f); font-size: 11.5px; }
.drawing .name { font-weight: 600; font-size: 13px; }
.drawing .box { fill: var(--paper, #fff); stroke: var(--line, #b9c3cc); }
.drawing .changed { fill: var(--mark, #e3f1e9); stroke: var(--good, #17703f); stroke-width: 2; }
.drawing .way { stroke: var(--soft, #55636f); stroke-width: 1.5; fill: none; }
.drawing .head { fill: var(--soft, #55636f); }
.drawing .absent { fill: none; stroke: var(--line, #b9c3cc); stroke-dasharray: 2 2; }
.drawing .cell { stroke: var(--paper, #fff); }
.drawing .off { stroke: var(--soft, #55636f); fill: none; }
"""


def draw_design(design: Design) -> str:
    """An SVG image, which fits a page in light and dark and stands by itself as well."""
    parts = {choice: drawn(policy) for choice, policy in zip(CHOICES, design.policies, strict=True)}
    plain = baseline_policies()
    ours_and_plain = zip(CHOICES, design.policies, plain, strict=True)
    changed = {choice for choice, ours, usual in ours_and_plain if (type(ours), ours) != (type(usual), usual)}
    boxes = [_box(choice, parts[choice], choice in changed) for choice in CHOICES]
    said = f"{design.name}: " + "; ".join(f"{choice}: {parts[choice].says}" for choice in CHOICES)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said)}"><style>{_STYLE}</style>{_ways()}{"".join(boxes)}'
        f"{_register_file(parts, file_share(design))}</svg>"
    )


def file_share(design: Design) -> float:
    """The physical registers of a design as a share of the machine's: its option, or what its allocation shrinks the file to."""
    return design.register_file * float(getattr(design.policies.allocation, "shrink", 1.0))


def entry_states(allocation: Drawn, power: Drawn, rows: int) -> list[list[str]]:
    """The state of each entry of a file with so many rows, row by row; roughly as the policies say."""
    number = rows * _COLUMNS
    held = min(number, round(allocation.held * _ROWS * _COLUMNS))
    step = max(1, held // _USED)
    flat = [power.used if place < held and place % step == step // 2 else power.idle if place < held else power.free
            for place in range(number)]  # fmt: skip
    states = [flat[row * _COLUMNS : (row + 1) * _COLUMNS] for row in range(rows)]
    holding = [[place < held for place in range(row * _COLUMNS, (row + 1) * _COLUMNS)] for row in range(rows)]
    for row in range(rows):
        for column in range(_COLUMNS):
            others = holding[row] if power.together == "row" else [each[column] for each in holding] if power.together else []
            if any(others) and not holding[row][column]:
                states[row][column] = power.idle
    return states


def _register_file(parts: dict[str, Drawn], share: float) -> str:
    rows = max(1, round(share * _ROWS))
    states = entry_states(parts["allocation"], parts["power"], rows)
    title = "main register file" if share == 1 else f"main file, {share:.0%} of it built"
    out = [f'<text class="name" x="{_FILE_X}" y="{_FILE_Y - 12}">{title}</text>']
    for row in range(_ROWS):
        for column in range(_COLUMNS):
            where = f'x="{_FILE_X + column * _CELL}" y="{_FILE_Y + row * _CELL_HEIGHT}"'
            extent = f'width="{_CELL - 2}" height="{_CELL_HEIGHT - 2}"'
            state = states[row][column] if row < rows else "absent"
            colour = f' fill="{FIXED[state]}"' if state in ("on", "drowsy") else ""
            out.append(f'<rect class="{state if state in ("absent", "off") else "cell"}" {where} {extent}{colour}/>')
    counted = [state for line in states for state in line]
    below = _FILE_Y + _ROWS * _CELL_HEIGHT + 18
    for at, state in zip(_KEY_X, STATES, strict=True):
        x = _FILE_X + at
        fill = f'fill="{FIXED[state]}"' if state != "off" else 'class="off"'
        out.append(f'<rect x="{x}" y="{below - 10}" width="11" height="11" {fill}/>')
        out.append(f'<text class="small" x="{x + 16}" y="{below}">{state} {counted.count(state) / len(counted):.0%}</text>')
    out.append(f'<text class="small" x="{_FILE_X}" y="{below + 19}">a sketch: shares are not measured</text>')
    return "".join(out)


def _box(choice: str, part: Drawn, changed: bool) -> str:
    x, y = _PLACES[choice]
    lines = "".join(
        f'<text x="{x + 10}" y="{y + 45 + 17 * number}">{escape(line)}</text>' for number, line in enumerate(said_in_box(part))
    )
    return (
        f'<text class="choice" x="{x}" y="{y - 6}">{choice}</text>'
        f'<rect class="{"changed" if changed else "box"}" x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{x + 10}" y="{y + 23}">{escape(part.box)}</text>{lines}'
    )


def said_in_box(part: Drawn) -> list[str]:
    """The lines of a box; what nobody made short enough ends with an ellipsis."""
    return wrap(part.says, _LETTERS, max_lines=LINES, placeholder=" …")


def _ways() -> str:
    """Arrows: an instruction goes from the scheduler to the file; what is below acts on the file's cells."""
    out = []
    for y in (90, 254):
        for x in (194, 406, 618):
            out.append(f'<path class="way" d="M{x} {y}h20"/><path class="head" d="M{x + 26} {y}l-8 -4v8z"/>')
    return "".join(out)
