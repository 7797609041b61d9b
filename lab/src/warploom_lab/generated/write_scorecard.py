"""Writes docs/lab/scorecard.md from the values that are kept, after taking in what ``warploom reproduce --json`` printed.

warploom reproduce rfv --code ptx --json > rfv.json
warploom-lab write-scorecard ptx=rfv.json
warploom-lab write-scorecard   # of what is kept already
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.base.library import find_paper, paper_names
from warploom.studies.reproduce.facts import REPRODUCED, VERDICTS, Fact, load_facts
from warploom_lab import CHECKOUT
from warploom_lab.generated.scorecard_originals import SIGNS, originals
from warploom_lab.generated.scorecard_values import (
    BEFORE,
    CODES,
    COUNTS,
    NOW,
    Row,
    Values,
    load_scores,
    merged,
    read_values,
    write_values,
)

TARGET = CHECKOUT / "docs" / "lab" / "scorecard.md"
FROM_MEMORY = ("bow", "ltrf")
HEAD = """# The papers' numbers and ours

Written by `warploom-lab write-scorecard` from `docs/lab/scores/values.tsv`, not by hand; `warploom reproduce --size small` makes
the values. [The rules](scoring.md) say which numbers are headline numbers, how they are judged and what *stands* means; they were
written before the runs. The column that counts is `ptx`, our backend's code, for all papers. Bounds are marked ≤ and ≥. *Made by*
is the commit of the code that made the value under `ptx`: {older}.

## Counts

Headline numbers of the first five papers, without derived ones. An earlier count of this page, with other rules (20%, a code for
each paper, another list), was 12 of 17; a reader who went through these one by one left 4 of 17.

| | numbers | reproduced | stand | stand without every help too |
| --- | ---: | ---: | ---: | ---: |"""
COUNTED = """
| all numbers of all papers, `ptx` | {verdicts} |
| --- |{line}"""
HEADLINE = """
## Headline numbers

| paper | number | stated in | paper | ptx | sm_75 | verdict, ptx to sm_75 | holds without | stands | made by |
| --- | --- | --- | ---: | ---: | ---: | --- | --- | --- | --- |"""
NO_CAUSE = "no cause has been shown"
IN_THE_WAY = """
### What is in the way of those that do not stand

The experiment that takes a cause away, with the value that comes out; else what is known.
"""
QUOTATIONS = """
### Their words
"""
OTHERS = """
### {title}

| number | paper | ptx | sm_75 | verdict | without the cause | made by |
| --- | ---: | ---: | ---: | --- | --- | --- |"""
DERIVED = """
## Derived numbers

They hold by construction, or are another number times a constant, and are counted nowhere above.

| paper | number | paper | ptx | verdict | why derived | made by |
| --- | --- | ---: | ---: | --- | --- | --- |"""


def main(arguments: Sequence[str]) -> None:
    """Take in new values, `CODE=FILE` each, and write the page."""
    values = read_values(NOW)
    for argument in arguments:
        code, _, name = argument.partition("=")
        if code not in CODES or not name:
            raise WarploomError(f"{argument}: name a code and a file, such as {COUNTS}=rfv.json; codes are {', '.join(CODES)}")
        values = merged(values, load_scores(Path(name)), code, name)
    if arguments:
        write_values(NOW, values.rows)
    TARGET.write_text(page(values, read_values(BEFORE)), encoding="utf-8")


def page(values: Values, before: Values) -> str:
    """The whole page."""
    papers = sorted(paper_names(), key=lambda name: name in FROM_MEMORY)
    facts = [fact for name in papers for fact in load_facts(name)]
    shown = [fact for fact in facts if values.value(fact.full_id)]
    measured = [fact for fact in shown if not fact.derived]
    lines = [HEAD.format(older=_age(shown, values, before))]
    lines += [_count_row(f"before ({older_of(before)})", facts, before), _count_row("now", facts, values)]
    for name in papers:
        lines.append(_count_row(f"now, {name}", load_facts(name), values, of=name))
    lines.append(COUNTED.format(verdicts=" | ".join(VERDICTS), line=" ---: |" * len(VERDICTS)))
    for label, kept in (("before", before), ("now", values)):
        verdicts = [verdict_of(fact, kept) for fact in facts if not fact.derived]
        lines.append(f"| {label} | " + " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS) + " |")
    headline = [fact for fact in shown if fact.headline]
    lines += [HEADLINE, *(_headline_row(fact, values) for fact in headline)]
    lines += [IN_THE_WAY, *(_in_the_way(fact, values) for fact in headline if not stands(fact, values, "chosen"))]
    lines += [QUOTATIONS, *(f'- {f.paper}, {f.what}: "{f.quotation}" ({f.headline})' for f in headline if f.quotation)]
    lines.append("\n## All other numbers")
    for name in papers:
        lines.append(OTHERS.format(title=find_paper(name).title))
        lines += [_row(fact, values) for fact in measured if fact.paper == name and not fact.headline]
    lines += [DERIVED, *(_derived_row(fact, values) for fact in shown if fact.derived)]
    return "\n".join([*lines, *originals()]) + "\n"


def _age(shown: Sequence[Fact], values: Values, before: Values) -> str:
    """How many of the values are of the older model."""
    commits = {row.made_by for row in before.rows}
    rows = [row for fact in shown if (row := values.value(fact.full_id))]
    older = sum(row.made_by in commits for row in rows)
    return f"{older} of {len(rows)} rows are of the older model of {older_of(before)} and were not made again"


def older_of(before: Values) -> str:
    """The commit of the values of before."""
    return ", ".join(sorted({row.made_by for row in before.rows}))


def verdict_of(fact: Fact, values: Values, code: str = COUNTS) -> str:
    """The verdict with a code; empty where it was not made."""
    row = values.value(fact.full_id, code)
    return fact.verdict(row.number) if row else ""


def stands(fact: Fact, values: Values, *kinds: str) -> bool:
    """Whether a number is reproduced, not derived, and also without what it leans on, of some kinds and with any code."""
    leaning = [row for code in CODES for kind in kinds for row in values.of_kind(fact.full_id, kind, code)]
    if fact.derived or verdict_of(fact, values) != REPRODUCED:
        return False
    return all(fact.verdict(row.number) == REPRODUCED for row in leaning)


def _count_row(label: str, facts: Sequence[Fact], values: Values, of: str = "") -> str:
    chosen = [f for f in facts if f.headline and not f.derived and (of or f.paper not in FROM_MEMORY)]
    made = [fact for fact in chosen if values.value(fact.full_id)]
    reproduced = sum(verdict_of(fact, values) == REPRODUCED for fact in made)
    strict = sum(stands(fact, values, "chosen") for fact in made)
    strictest = sum(stands(fact, values, "chosen", "help") for fact in made)
    lacking = f" ({len(chosen) - len(made)} not made)" if len(made) < len(chosen) else ""
    return f"| {label} | {len(chosen)}{lacking} | {reproduced} | {strict} | {strictest} |"


def _headline_row(fact: Fact, values: Values) -> str:
    row = values.value(fact.full_id)
    assert row is not None
    verdicts = list(dict.fromkeys(filter(None, (verdict_of(fact, values, code) for code in CODES))))
    leaning = [each for kind in ("chosen", "help") for code in CODES for each in values.of_kind(fact.full_id, kind, code)]
    standing = "derived" if fact.derived else "yes" if stands(fact, values, "chosen") else "no"
    cells = [fact.paper, f"{fact.what}, {fact.unit}", fact.headline, _published(fact), *_ours(fact, values)]
    cells += [" to ".join(verdicts), "; ".join(_leaning(fact, each) for each in leaning), standing, row.made_by]
    return "| " + " | ".join(cells) + " |"


def _in_the_way(fact: Fact, values: Values) -> str:
    """Why a headline number does not stand, with whichever code the experiment was made."""
    shown = " (another number times a constant)" if fact.derived else ""
    found = [f"{row.number:.3g} without {row.label}" for code in CODES for row in values.of_kind(fact.full_id, "cause", code)]
    found += [row.label for code in CODES for row in values.of_kind(fact.full_id, "reason", code)]
    return f"- {fact.paper}, {fact.what}{shown}: {'; '.join(dict.fromkeys(found)) or NO_CAUSE}."


def _leaning(fact: Fact, row: Row) -> str:
    kept = "holds" if fact.verdict(row.number) == REPRODUCED else "does not hold"
    after = "chosen after, " if row.kind == "chosen" else ""
    code = "" if row.code == COUNTS else f", {row.code}"
    return f"{row.label} ({after}without: {row.number:.3g}{code}, {kept})"


def _row(fact: Fact, values: Values) -> str:
    row, verdict = values.value(fact.full_id), verdict_of(fact, values)
    assert row is not None
    causes = [f"{each.number:.3g} without {each.label}" for each in values.of_kind(fact.full_id, "cause")]
    reasons = [each.label for each in values.of_kind(fact.full_id, "reason")]
    why = "" if verdict == REPRODUCED else "; ".join([*causes, *reasons])
    cells = [f"{fact.what}, {fact.unit}", _published(fact), *_ours(fact, values), verdict, why, row.made_by]
    return "| " + " | ".join(cells) + " |"


def _derived_row(fact: Fact, values: Values) -> str:
    row = values.value(fact.full_id)
    assert row is not None
    cells = [fact.paper, f"{fact.what}, {fact.unit}", _published(fact), f"{row.number:.3g}", verdict_of(fact, values)]
    return "| " + " | ".join([*cells, fact.derived, row.made_by]) + " |"


def _published(fact: Fact) -> str:
    return f"{SIGNS.get(fact.meaning, '')}{fact.value:g}"


def _ours(fact: Fact, values: Values) -> list[str]:
    rows = [values.value(fact.full_id, code) for code in CODES]
    return [f"{row.number:.3g}" if row else "-" for row in rows]


if __name__ == "__main__":
    main(sys.argv[1:])
