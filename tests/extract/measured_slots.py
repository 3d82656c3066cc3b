"""Measure what rules find in sentences labelled by hand: of what they find, how much is so; of what is so, how much.

    python tests/extract/measured_slots.py [--missed] [--wrong]

Rules were written from the even lines of the list, and are measured on the odd ones too, which were not looked at. A
finding is right where the sentence says such a thing of its speaker: the attribute is the same and the value overlaps.
Whatever else is found is wrong, be it true of something that the label leaves out. A correction or an end that names no
slot writes nothing unless a fact is known that holds the value; it counts for what is missed, not for what is wrong.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import micros
from mnemic.core.timex import parse_said
from mnemic.extract.entities import canonical
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import Finding, slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SAID: Final = micros(parse_said("2025-09-01T12:00:00+00:00", zone=None)[0])
_SENTENCES: Final = "current_sentences_development.jsonl"
_ATTRIBUTES: Final = {
    "residence": "city origin address home",
    "work": "employer job",
    "study": "school studies employer learning",
    "contact": "phone_number e-mail address",
    "relation": "marital_status family partner mother father sister brother son daughter grandmother grandfather aunt"
    " uncle cousin niece nephew roommate boss colleague friend neighbour teacher tutor twin",
    "possession": "pet car phone possession home",
    "diet": "diet avoids likes dislikes allergy",
    "allergy": "allergy",
    "preference": "likes dislikes favourite",
    "health": "health medication avoids diet",
    "language": "language native_language learning",
    "name": "name nickname",
    "other": "age birthday blood_type",
}  # fmt: skip
_SLOTS: Final = {attribute: frozenset(words.split()) for attribute, words in _ATTRIBUTES.items()}
_ACTS: Final = {
    "state": {SlotAct.STATES},
    "change": {SlotAct.STATES, SlotAct.ENDS},
    "end": {SlotAct.ENDS},
    "negate": {SlotAct.ENDS},
    "correct": {SlotAct.STATES, SlotAct.CORRECTS},
}
_NEGATIVE: Final = frozenset({"avoids", "dislikes", "marital_status", "job"})
"""Slots whose value says that something is over, or is not so: "I quit smoking" states what is avoided."""


@dataclass(slots=True)
class Measured:
    """How many findings were right and wrong, and how many labelled sentences there were to find something in."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        """The part of what was found that is so."""
        return self.right.total() / max(1, self.right.total() + self.wrong.total())

    @property
    def recall(self) -> float:
        """The part of the sentences that state something of their speaker in which that was found."""
        return self.found.total() / max(1, self.told.total())


def labelled() -> list[dict[str, Any]]:
    """Read the list; the second line of the file is even."""
    text = (files("mnemic.lab") / "fixtures" / _SENTENCES).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def halves() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The sentences that rules were written from, and those that they were not."""
    lines = labelled()
    return lines[1::2], lines[::2]


def measured(lines: Iterable[dict[str, Any]], language: str = "") -> Measured:
    """Count what rules find in labelled sentences."""
    counts = Measured()
    for line in lines:
        if language and line["lang"] != language:
            continue
        attribute = line["attribute"]
        findings = slots(line["text"], "user", _SAID)
        right = [finding for finding in findings if _is_right(line, finding)]
        counts.right[attribute] += sum(bool(finding.slot) for finding in right)
        counts.wrong[attribute] += sum(bool(finding.slot) for finding in findings if finding not in right)
        if _tells(line):
            counts.told[attribute] += 1
            counts.found[attribute] += bool(right)
    return counts


def _tells(line: dict[str, Any]) -> bool:
    return line["about"] == "speaker" and line["act"] in _ACTS and line["attribute"] in _SLOTS


def _is_right(line: dict[str, Any], finding: Finding) -> bool:
    if not _tells(line):
        return False
    over = line["act"] in ("end", "negate") and finding.slot in _NEGATIVE
    if finding.act not in _ACTS[line["act"]] and not over:
        return False
    if finding.slot and finding.slot.split(" ")[0] not in _SLOTS[line["attribute"]]:
        return False
    told = str(line["value"])
    return (
        over or (finding.act is SlotAct.ENDS and not finding.value) or _overlap(f"{finding.slot} {finding.value}", told)
    )


def _overlap(found: str, labelled: str) -> bool:
    one, other = canonical(found.replace("(", "").replace(")", "")), canonical(labelled)
    value = one.partition(" ")[2]
    shared = set(one.split()) & (set(other.split()) - {"a", "the", "my", "in", "of", "not", "no"})
    return value in other or other in value or bool(shared)


def _rows() -> Iterator[str]:
    for half, lines in zip(("even", "odd"), halves(), strict=True):
        for language in ("en", "zh"):
            counts = measured(lines, language)
            yield (
                f"{half} {language}: precision {counts.precision:.3f} ({counts.right.total()} right,"
                f" {counts.wrong.total()} wrong), recall {counts.recall:.3f} of {counts.told.total()}"
            )
            for attribute in (*_SLOTS, "plan", "schedule", "none"):
                of = f"{counts.found[attribute]} of {counts.told[attribute]} found"
                yield f"    {attribute}: {counts.right[attribute]} right, {counts.wrong[attribute]} wrong, {of}"


def main(arguments: list[str]) -> None:
    """Print the figures; with `--missed` and `--wrong` the even lines that were missed, or read wrongly."""
    print("\n".join(_rows()))
    for line in halves()[0]:
        findings = slots(line["text"], "user", _SAID)
        right = [finding for finding in findings if _is_right(line, finding)]
        if "--missed" in arguments and _tells(line) and not right:
            print("missed", line["attribute"], line["act"], line["value"], "|", line["text"])
        if "--wrong" in arguments and any(f.slot for f in findings if f not in right):
            shown = [(f.act.value, f.slot, f.value, f.wrong) for f in findings if f not in right and f.slot]
            print("wrong", line["about"], line["act"], line["attribute"], shown, "|", line["text"])


if __name__ == "__main__":
    main(sys.argv[1:])
