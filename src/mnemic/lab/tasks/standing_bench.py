"""Standing instructions: how many stand in the context block from then on, and what stands there that is none.

Every sentence is said by a user of its own, who says nothing else, so that none takes another's place. It *stands* if
the always-on part of this user's block shows a standing instruction that was derived from it. A withdrawn instruction
is said twice: by a user who withdraws it in a second turn, and by one who does not.

Sentences come from three files. One is held back: instructions, plain and indirect, and distractors. The others are
those labelled for development and for training: what a person orders or wishes of the assistant for good is an
instruction, everything else a distractor; what can be read either way is left out (a reminder at an hour, a name for
the assistant, what was "said about footnotes", an order to note a fact of the speaker's life, taking something back).

What is taken back in many wordings is looked at in dialogues, each in a user's name: instructions, other talk, and a
last turn that takes the first of them back, or only seems to. Half of the first were not looked at when rules were
tuned, but are of the same author; of those in other voices a part is for testing only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO

import numpy as np

from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.set_clock import SetClock
from mnemic.lab.kit.tables import TextTable, aligned, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES, Half, rows_of
from mnemic.memory import Memory
from mnemic.recall.always import is_standing
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.models.base import Embedder

SAID: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)

_ORDERS: Final = frozenset({"order", "wish", "change"})
_LASTING: Final = frozenset({"preference", "language", "name", "health"})
"""Of what an order to the assistant is that holds for every answer."""
_OPEN: Final = frozenset({("order", "schedule"), ("change", "name")})
"""Acts to the assistant, and of what, that can be read either way; so can an order about style that names none."""
_HALVES: Final = (
    ("development", False, False),
    ("testing", True, False),
    ("other hands", False, True),
    ("other hands, testing", True, True),
)
"""Names of halves of the dialogues; whether they are kept apart, and of other hands than the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingSentence:
    """A sentence of a hand, whether it instructs for good, and the later one that takes it back, if one does.

    Attributes:
        testing: That nothing is learned from or tuned on.
        kind: What sort of instruction it is, or in which way it only looks like one; "" where nobody said.
    """

    lang: str
    text: str
    instructs: bool
    withdrawn_by: str | None = None
    hand: str = ""
    testing: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawalDialogue:
    """Standing instructions, other talk, and a last turn that takes one of them back, or seems to.

    Attributes:
        meant: The place of the instruction that is taken back; None where the last turn only seems to take one.
        testing: Kept apart from those that rules were tuned on and forms were learned from.
        hand: Whose voice; "" for the first dialogues, which are of one.
    """

    lang: str
    standing: tuple[str, ...]
    talk: str
    last: str
    meant: int | None
    testing: bool
    hand: str = ""

    @property
    def withdraws(self) -> bool:
        """Whether the last turn takes an instruction back."""
        return self.meant is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueOutcome:
    """What a dialogue left standing.

    Attributes:
        stood: The instruction that is taken back stood before; where none is, some did.
        remains: It still stands, and is not in doubt.
        hidden: Another one, or where nothing is taken back any, stood before and does no longer.
        doubted: What was to be taken back is in doubt; where nothing is, something is.
    """

    dialogue: WithdrawalDialogue
    stood: bool
    remains: bool
    hidden: bool
    doubted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOutcome:
    """What came of a sentence.

    Attributes:
        stands: It is shown as a standing instruction.
        shown: The always-on part shows something that was derived from it, in whatever form.
        remains: It still stands, and not in doubt, where it was withdrawn; None for one that was not withdrawn.
        doubted: It was withdrawn, and stands in doubt.
        lines: What the always-on part shows.
    """

    sentence: StandingSentence
    stands: bool
    shown: bool
    remains: bool | None
    doubted: bool
    lines: tuple[str, ...]


def read_sentences(half: Half) -> list[StandingSentence]:
    """The sentences of a half that are one or the other."""
    if half is Half.HELD_BACK:
        return [_plainly(row) for row in rows_of("standing_held_back")]
    return [sentence for row in rows_of(f"current_sentences_{half}") if (sentence := _labelled(row)) is not None]


def more_sentences() -> list[StandingSentence]:
    """Sentences written to learn from, and some hands' to test on: wishes in many wordings, and what looks like one."""
    return [_plainly(row) for row in rows_of("standing_sentences_training")]


def read_dialogues() -> list[WithdrawalDialogue]:
    """The dialogues about withdrawals, for development and for testing."""
    return [
        WithdrawalDialogue(
            lang=row["lang"],
            standing=tuple(row["standing"]),
            talk=row["talk"],
            last=row["last"],
            meant=row["gone"],
            testing=row["half"] == "testing",
            hand=row.get("hand", ""),
        )
        for name in ("standing_withdrawals", "standing_withdrawals_training")
        for row in rows_of(name)
    ]


def _plainly(row: dict[str, Any]) -> StandingSentence:
    return StandingSentence(
        lang=row["lang"],
        text=row["text"],
        instructs=row.get("instructs", not row.get("distractor", False)),
        withdrawn_by=row.get("withdrawn_by"),
        hand=row.get("hand", ""),
        testing=row.get("half") == "testing",
        kind=row.get("kind", ""),
    )


def _labelled(row: dict[str, Any]) -> StandingSentence | None:
    """A labelled sentence; None for one that can be read either way."""
    act, attribute, valued = row["act"], row["attribute"], row["value"] is not None
    to_us = row["about"] == "assistant"
    ordered = to_us and act in _ORDERS
    if to_us and (act == "end" or (act, attribute) in _OPEN or (ordered and attribute == "preference" and not valued)):
        return None
    if ordered and valued and attribute not in _LASTING:
        return None
    return StandingSentence(lang=row["lang"], text=row["text"], instructs=ordered and valued and attribute in _LASTING)


def bench_standing(
    half: Half = Half.DEVELOPMENT,
    *,
    limit: int | None = None,
    embedder: Embedder | None = None,
    progress: Progress = silent,
) -> list[StandingOutcome]:
    """Say every sentence, and look at what stands.

    Args:
        limit: Only the first so many of each language, instructions and distractors apart.
        embedder: What meaning is read with; None for words alone.
    """
    sentences = _first(read_sentences(half), limit)
    reader = "none" if embedder is None else CachedEmbedder(embedder)
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=reader, clock=SetClock(SAID)) as memory:
        withdrawn: dict[int, ItemId] = {}
        for n, sentence in enumerate(sentences):
            memory.scope(user=f"says {n}").observe(sentence.text, role="user")
            if sentence.withdrawn_by is not None:
                me = memory.scope(user=f"withdraws {n}")
                withdrawn[n] = me.observe(sentence.text, role="user").id
                me.observe(sentence.withdrawn_by, role="user")
            progress("said", n + 1, len(sentences))
        memory.flush()
        return [_outcome(memory, n, sentence, withdrawn.get(n)) for n, sentence in enumerate(sentences)]


def bench_dialogues(*, limit: int | None = None, embedder: Embedder | None = None) -> list[DialogueOutcome]:
    """Say each dialogue in a user's name, and look at what stands before its last turn and after it."""
    reader = "none" if embedder is None else CachedEmbedder(embedder)
    outcomes = []
    clock = SetClock(SAID)
    with Memory("memory:", settings=Settings(background=False), embedder=reader, clock=clock) as memory:
        for n, dialogue in enumerate(read_dialogues()[:limit]):
            me = memory.scope(user=f"dialogue {n}")
            asked = [me.observe(text, role="user").id for text in (*dialogue.standing, dialogue.talk)]
            before, _ = _standing_of(memory, n)
            me.observe(dialogue.last, role="user")
            after, doubted = _standing_of(memory, n)
            meant = None if dialogue.meant is None else asked[dialogue.meant]
            outcomes.append(
                DialogueOutcome(
                    dialogue=dialogue,
                    stood=meant in before if dialogue.withdraws else bool(before),
                    remains=meant in after - doubted,
                    hidden=bool(before - after - {meant}),
                    doubted=meant in doubted if dialogue.withdraws else bool(doubted),
                )
            )
    return outcomes


def _standing_of(memory: Memory, n: int) -> tuple[set[ItemId | None], set[ItemId | None]]:
    """The turns that what stands for the user of a dialogue was derived from, and those of them that are in doubt."""
    memory.flush()
    me = memory.scope(user=f"dialogue {n}")
    standing: set[ItemId | None] = {
        source for item in me.context("").always if is_standing(item) for source in item.source
    }
    return standing, {source for doubt in me.review() if is_standing(doubt.fact) for source in doubt.fact.source}


def dialogue_figures(outcomes: Sequence[DialogueOutcome]) -> list[Figure]:
    """Of the halves of the dialogues: what still stands of what was taken back, and what went that should not.

    What is in doubt is shown as such, and counts as neither.
    """
    made = []
    for half, testing, others in _HALVES:
        of = [o for o in outcomes if o.dialogue.testing is testing and bool(o.dialogue.hand) is others and o.stood]
        taken, kept = ([o for o in of if o.dialogue.withdraws is withdraws] for withdraws in (True, False))
        for name, side, count, doubted in (
            ("taken back, and still shown", taken, sum(o.remains for o in taken), sum(o.doubted for o in taken)),
            ("not taken back, and hidden", of, sum(o.hidden for o in of), sum(o.doubted for o in kept)),
        ):
            if side:
                detail = f"{count} of {len(side)}; in doubt {doubted}"
                made.append(
                    Figure(
                        name=f"dialogues, {half}: {name}",
                        value=100 * count / len(side),
                        unit="%",
                        bar=0,
                        more=False,
                        detail=detail,
                    )
                )
    return made


def _first(sentences: Sequence[StandingSentence], limit: int | None) -> list[StandingSentence]:
    taken: dict[tuple[str, bool], list[StandingSentence]] = {}
    for sentence in sentences:
        taken.setdefault((sentence.lang, sentence.instructs), []).append(sentence)
    return [sentence for same in taken.values() for sentence in same[:limit]]


def _outcome(memory: Memory, n: int, sentence: StandingSentence, withdrawn: ItemId | None) -> StandingOutcome:
    always = memory.scope(user=f"says {n}").context("").always
    me = memory.scope(user=f"withdraws {n}")
    left = me.context("").always if withdrawn else ()
    doubted = withdrawn is not None and any(withdrawn in doubt.fact.source for doubt in me.review())
    stays = any(is_standing(item) and withdrawn in item.source for item in left)
    return StandingOutcome(
        sentence=sentence,
        stands=any(map(is_standing, always)),
        shown=bool(always),
        remains=stays and not doubted if withdrawn else None,
        doubted=stays and doubted,
        lines=tuple(item.text for item in always),
    )


# Counting

_Belongs = Callable[[StandingOutcome], bool]
_WITHDRAWN: Final = "withdrawn, and still shown"


def figures(outcomes: Sequence[StandingOutcome], seed: int = 0) -> list[Figure]:
    """What it must show, beside its bars."""
    sides: tuple[tuple[str, _Belongs, Callable[[StandingOutcome], object], float, bool], ...] = (
        ("instructions found in the context block", _instructs, lambda o: o.stands, 85, True),
        ("distractors that stand there", lambda o: not _instructs(o), lambda o: o.stands, 2, False),
        (_WITHDRAWN, lambda o: o.remains is not None, lambda o: o.remains, 0, False),
    )
    made = []
    for name, belongs, counts, least, more in sides:
        share = _share([o for o in outcomes if belongs(o)], counts, seed)
        if share.n:
            detail = f"[{100 * share.low:.1f}, {100 * share.high:.1f}], n = {share.n}"
            if name == _WITHDRAWN:
                detail += f"; in doubt {sum(o.doubted for o in outcomes)}"
            made.append(Figure(name=name, value=100 * share.mean, unit="%", bar=least, more=more, detail=detail))
    return made


def table(outcomes: Sequence[StandingOutcome], seed: int = 0) -> TextTable:
    """The same by language; beside it what the block shows in whatever form."""
    groups = {"all": list(outcomes)}
    groups |= {name: [o for o in outcomes if o.sentence.lang == lang] for lang, name in LANGUAGES.items()}
    rows = tuple((name, *_cells(group, seed)) for name, group in groups.items() if group)
    columns = ("", "n", "found, %", "in any form, %", "distractors", "false, %", "in any form, %", "withdrawn", "shown")
    return TextTable("2. By language", columns, rows)


def _cells(group: Sequence[StandingOutcome], seed: int) -> Iterator[str]:
    for side in ([o for o in group if _instructs(o)], [o for o in group if not _instructs(o)]):
        yield str(len(side))
        yield percent(_share(side, lambda o: o.stands, seed))
        yield percent(_share(side, lambda o: o.shown, seed))
    withdrawn = [o for o in group if o.remains is not None]
    yield str(len(withdrawn))
    yield str(sum(bool(o.remains) for o in withdrawn))


def _instructs(o: StandingOutcome) -> bool:
    return o.sentence.instructs


def _share(side: Sequence[StandingOutcome], counts: Callable[[StandingOutcome], object], seed: int) -> Estimate:
    return estimates({"": np.array([float(bool(counts(o))) for o in side])}, seed)[""]


def show(
    outcomes: Sequence[StandingOutcome],
    stream: TextIO,
    *,
    dialogues: Sequence[DialogueOutcome] = (),
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Write the bars and the table as aligned text, or the bars as JSON."""
    bars = [*figures(outcomes, seed), *dialogue_figures(dialogues)]
    if as_json:
        made = [{**asdict(figure), "met": figure.met} for figure in bars]
        json.dump({"header": provenance(), "figures": made}, stream, indent=2)
        stream.write("\n")
    else:
        stream.write(f"{aligned(beside_bars('1. Standing instructions', bars))}\n\n{aligned(table(outcomes, seed))}\n")


def write_failures(outcomes: Sequence[StandingOutcome], most: int, stream: TextIO) -> None:
    """Write the first sentences that do not stand and should, and the first that do and should not."""
    for title, instructs in (("not found", True), ("no instruction, and stands", False)):
        there = [o for o in outcomes if _instructs(o) is instructs and o.stands is not instructs]
        stream.write(f"\n{title}: {len(there)}, of which {min(most, len(there))} are\n")
        for o in there[:most]:
            beside = f"  ({'; '.join(o.lines)})" if o.lines else ""
            stream.write(f"  {o.sentence.text}{beside}\n")
