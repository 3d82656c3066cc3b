"""LoCoMo's own observations as the answers of a model that reads its conversations.

The original file (Maharana et al., arXiv:2402.17753, section 3.3; CC BY-NC 4.0, not shipped) has for each session an
`observation`: statements about each speaker that a large model wrote, with the turns that they rest on. Given again as
answers to `extract_items`, they show what a strategy finds whose reader is that model. What compares facts with each
other (`merge_decide`, `match_facts`, `match_entities`) is answered by "nothing is the same, nothing is over"; all else
is left to rules.

Observations state no relations: for `extract_triples` the first word after the speaker's name is taken for the
predicate and the rest for the object, and the fact is the whole statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import Dataset, evidence
from mnemic.lab.kit.scripted_readers import Fields, ScriptedReader, fact, nothing_merged, shown, triple
from mnemic.models.chat.base import Ask
from mnemic.strategies.knowledge import Passage
from mnemic.strategies.showing import in_line, spoken_by

NAME: Final = "locomo-observations"

_SESSION: Final = re.compile(r"session_\d+_observation")
_LONGEST: Final = 120
"""Most characters of a name that the tasks allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoObservation:
    """A statement about a speaker.

    Attributes:
        turns: The turns that it rests on, as LoCoMo names them ("D1:3"), in the order they were said; at least one.
    """

    speaker: str
    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """The observations of a file, by conversation.

    Attributes:
        dropped: How many name no turn that is there, or say nothing.
    """

    by_ns: Mapping[str, tuple[LocomoObservation, ...]]
    dropped: int


def read_observations(path: Path, dataset: Dataset) -> Observations:
    """Read the observations of LoCoMo's original json.

    Args:
        dataset: What `datasets.load` made of the same file.

    Raises:
        Invalid: it is another format, or holds none.
    """
    remedy = "Give LoCoMo's own json (locomo10.json), which holds `observation`; the unified jsonl has none."
    try:
        samples = json.loads(path.read_text("utf-8-sig"))
        stated = {
            str(sample.get("sample_id", number)): list(_stated(sample.get("observation") or {}))
            for number, sample in enumerate(samples)
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise Invalid("model", f"{path.name} holds no observations that can be read ({error!r})", remedy) from error
    sessions = {corpus.ns: {doc.id: doc.session for doc in corpus.docs} for corpus in dataset.corpora}
    by_ns: dict[str, tuple[LocomoObservation, ...]] = {}
    for ns, session_of in sessions.items():
        order = list(session_of).index
        placed = ((who, text, evidence(cited, session_of)[0]) for who, text, cited in stated.get(ns, ()))
        by_ns[ns] = tuple(
            LocomoObservation(speaker=who, text=text, turns=tuple(sorted(turns, key=order)))
            for who, text, turns in placed
            if turns and text
        )
    kept, stated_count = sum(map(len, by_ns.values())), sum(len(stated.get(ns, ())) for ns in sessions)
    if not kept:
        raise Invalid("model", f"{path.name} holds no observations", remedy)
    return Observations(by_ns=by_ns, dropped=stated_count - kept)


def _stated(sessions: Mapping[str, Any]) -> Iterator[tuple[str, str, Sequence[object]]]:
    """Yield speaker, statement and evidence, which is one string or a list of them."""
    for name, speakers in sessions.items():
        if _SESSION.fullmatch(name):
            for speaker, statements in speakers.items():
                for text, cited in statements:
                    yield speaker, " ".join(str(text).split()), cited if isinstance(cited, list) else [cited]


def observing_reader(dataset: Dataset, observations: Observations) -> ScriptedReader:
    """Make the model that, shown a turn, answers with what was observed of it.

    A statement that rests on several turns is answered where the last of them is shown, and cites those that are shown
    beside it. Turns are told by their date, speaker and words, as prompts show them.
    """
    last: dict[tuple[str, str], list[LocomoObservation]] = {}
    for ns, several in observations.by_ns.items():
        for observation in several:
            last.setdefault((ns, observation.turns[-1]), []).append(observation)
    lines: dict[str, list[tuple[str, str]]] = {}
    for corpus in dataset.corpora:
        for doc in corpus.docs:
            line = in_line(spoken_by(Passage(doc.text, doc.speaker, doc.said)))
            lines.setdefault(line, []).append((corpus.ns, doc.id))
    return ScriptedReader(NAME, _Reading(lines, last))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Answers from what was observed: by line the turns that it may be, by turn what was observed of it."""

    lines: Mapping[str, Sequence[tuple[str, str]]]
    last: Mapping[tuple[str, str], Sequence[LocomoObservation]]

    def __call__(self, ask: Ask) -> Fields:
        match ask.task:
            case "extract_items":
                return {"facts": [fact(observation.text, *handles) for observation, handles in self._observed(ask)]}
            case "extract_triples":
                return {"triples": [_related(observation, handles[0]) for observation, handles in self._observed(ask)]}
        return nothing_merged(ask)

    def _observed(self, ask: Ask) -> Iterator[tuple[LocomoObservation, list[int]]]:
        """Yield what was observed of the passages shown, with their handles, the last turn's first."""
        handles = {turn: n for n, line in enumerate(shown(ask), 1) for turn in self.lines.get(line, ())}
        for (ns, id), n in handles.items():
            for observation in self.last.get((ns, id), ()):
                beside = (handles[ns, turn] for turn in observation.turns[:-1] if (ns, turn) in handles)
                yield observation, list(dict.fromkeys((n, *beside)))


def _related(observation: LocomoObservation, handle: int) -> dict[str, Any]:
    """Put a statement as a relation of its speaker; one that does not begin with the name is what they "said"."""
    words = observation.text.removesuffix(".").split()
    if words[0] == observation.speaker and len(words) > 2:
        predicate, rest = words[1], " ".join(words[2:])
    else:
        predicate, rest = "said", " ".join(words)
    return triple(observation.speaker, predicate, rest[:_LONGEST], observation.text, handle)
