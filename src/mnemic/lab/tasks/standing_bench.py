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

from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, Doc, made_dataset
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.tables import TextTable, aligned, made_up, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES, Half, rows_of

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
    from mnemic.lab.kit.metrics import Outcome

SAID: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)

_ORDERS: Final = frozenset({"order", "wish", "change"})
_LASTING: Final = frozenset({"preference", "language", "name", "health"})
"""Of what an order to the assistant is that holds for every answer."""
_OPEN: Final = frozenset({("order", "schedule"), ("change", "name")})
"""Acts to the assistant, and of what, that can be read either way; so can an order about style that names none."""
INSTRUCTION, DISTRACTOR, WITHDRAWN = "instruction", "distractor", "withdrawn"
"""Categories of sentences; `WITHDRAWN` of the memory where one is taken back."""
BEFORE, AFTER = "before a last turn", "after it"
"""Categories of dialogues."""
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


def dialogue_sentences() -> list[StandingSentence]:
    """What the dialogues say that instructs, and what does not: other talk, and what only seems to take something back.

    A last turn that takes something back is left out, for it may ask for something else in its place. What is said in
    a dialogue to test on is to test on wherever it is said.
    """
    dialogues = read_dialogues()
    said = [
        (dialogue, text, instructs)
        for dialogue in dialogues
        for text, instructs in (
            *((text, True) for text in dialogue.standing),
            (dialogue.talk, False),
            *(() if dialogue.withdraws else ((dialogue.last, False),)),
        )
    ]
    tested = {text for dialogue, text, _ in said if dialogue.testing}
    sentences = (
        StandingSentence(lang=dialogue.lang, text=text, instructs=instructs, hand=dialogue.hand, testing=text in tested)
        for dialogue, text, instructs in said
    )
    return list(dict.fromkeys(sentences))


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


# What is told and asked, and what became of it in the log of a run


def standing_dataset(half: Half, limit: int | None = None) -> Dataset:
    """Every sentence of a half as a memory that was told it and nothing else, asked for what stands in its context.

    What is withdrawn is told to a second one, with the turn that withdraws it. For development the dialogues stand
    behind: each is two memories, one without its last turn.

    Args:
        limit: Only the first so many sentences of each language, instructions and distractors apart, and dialogues.
    """
    corpora: list[Corpus] = []
    questions: list[BenchQuestion] = []

    def told(ns: str, texts: Sequence[str], category: str, lang: str, gold: int | None, **key: tuple[str, ...]) -> None:
        corpora.append(Corpus(ns=ns, docs=tuple(_doc(ns, n, text) for n, text in enumerate(texts)), told=True))
        questions.append(
            BenchQuestion(
                ns=ns, id=ns, text="", answer="", category=category, gold=() if gold is None else (f"s{gold}",),
                sessions=(), origin=lang, asked=SAID, of_context=True,
                key={name: value for name, value in key.items() if value},
            )
        )  # fmt: skip

    for n, sentence in enumerate(_first(read_sentences(half), limit)):
        sort, gold = (INSTRUCTION, 0) if sentence.instructs else (DISTRACTOR, None)
        told(f"says {n}", [sentence.text], sort, sentence.lang, gold)
        if sentence.withdrawn_by is not None:
            told(
                f"withdraws {n}", [sentence.text, sentence.withdrawn_by], WITHDRAWN, sentence.lang, None, meant=("s0",)
            )
    for n, dialogue in enumerate(read_dialogues()[:limit] if half is Half.DEVELOPMENT else ()):
        said = [*dialogue.standing, dialogue.talk]
        key = {
            "meant": () if dialogue.meant is None else (f"s{dialogue.meant}",),
            "testing": ("yes",) if dialogue.testing else (),
            "hand": (dialogue.hand,) if dialogue.hand else (),
        }
        told(f"dialogue {n} before", said, BEFORE, dialogue.lang, dialogue.meant, **key)
        told(f"dialogue {n} after", [*said, dialogue.last], AFTER, dialogue.lang, None, **key)
    return made_dataset(f"standing_{half}", corpora, questions)


def _doc(ns: str, n: int, text: str) -> Doc:
    return Doc(ns=ns, id=f"s{n}", session="", pos=n, when="", said=SAID, speaker="", text=text, role="user")


def standing_docs(answer: LoggedAnswer | Outcome) -> set[str]:
    """The turns behind what stands as an instruction; of who keeps no context, behind all that is shown."""
    if answer.block is None:
        return set(answer.ranked)
    return {doc for line in answer.block if line.standing for doc in line.docs}


def doubted_docs(answer: LoggedAnswer | Outcome) -> set[str]:
    """Those behind instructions that stand there in doubt."""
    return {doc for line in answer.block or () if line.standing and line.doubted for doc in line.docs}


def standing_outcomes(run: LoggedRun, system: str) -> list[StandingOutcome]:
    """What one contestant made of each sentence, in their order."""
    answers = run.answers.get(system, [])
    withdrawn = {a.ns.removeprefix("withdraws "): a for a in answers if a.category == WITHDRAWN}
    return [
        _outcome(run, answer, withdrawn.get(answer.ns.removeprefix("says ")))
        for answer in answers
        if answer.category in (INSTRUCTION, DISTRACTOR)
    ]


def _outcome(run: LoggedRun, answer: LoggedAnswer, withdrawn: LoggedAnswer | None) -> StandingOutcome:
    lines = answer.block or ()
    stays = withdrawn is not None and "s0" in standing_docs(withdrawn)
    doubted = withdrawn is not None and "s0" in doubted_docs(withdrawn)
    return StandingOutcome(
        sentence=StandingSentence(
            lang=answer.origin,
            text=run.texts.get((answer.ns, "s0"), ""),
            instructs=answer.category == INSTRUCTION,
            withdrawn_by=None if withdrawn is None else run.texts.get((withdrawn.ns, "s1"), ""),
        ),
        stands=bool(standing_docs(answer)),
        shown=bool(answer.ranked),
        remains=None if withdrawn is None else stays and not doubted,
        doubted=doubted,
        lines=tuple(line.text for line in lines),
    )


def dialogue_outcomes(run: LoggedRun, system: str) -> list[DialogueOutcome]:
    """What one contestant made of each dialogue."""
    answers = {answer.ns: answer for answer in run.answers.get(system, ())}
    pairs = (
        (answer, answers.get(f"{ns.removesuffix(' before')} after"))
        for ns, answer in answers.items()
        if answer.category == BEFORE
    )
    return [_dialogue(run, before, after) for before, after in pairs if after is not None]


def _dialogue(run: LoggedRun, was: LoggedAnswer, now: LoggedAnswer) -> DialogueOutcome:
    before, after, doubted = standing_docs(was), standing_docs(now), doubted_docs(now)
    count = len(run.docs[was.ns])
    meant = next(iter(was.key.get("meant", ())), None)
    texts = [run.texts.get((now.ns, f"s{n}"), "") for n in range(count + 1)]
    dialogue = WithdrawalDialogue(
        lang=was.origin, standing=tuple(texts[: count - 1]), talk=texts[count - 1], last=texts[count],
        meant=None if meant is None else int(meant[1:]), testing="testing" in was.key,
        hand=next(iter(was.key.get("hand", ())), ""),
    )  # fmt: skip
    return DialogueOutcome(
        dialogue=dialogue,
        stood=bool(before) if meant is None else meant in before,
        remains=meant in after - doubted,
        hidden=bool(before - after - {meant}),
        doubted=bool(doubted) if meant is None else meant in doubted,
    )


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


# Counting

_Belongs = Callable[[StandingOutcome], bool]
_STILL_SHOWN: Final = "withdrawn, and still shown"


def figures(outcomes: Sequence[StandingOutcome], seed: int = 0) -> list[Figure]:
    """What it must show, beside its bars."""
    sides: tuple[tuple[str, _Belongs, Callable[[StandingOutcome], object], float, bool], ...] = (
        ("instructions found in the context block", _instructs, lambda o: o.stands, 85, True),
        ("distractors that stand there", lambda o: not _instructs(o), lambda o: o.stands, 2, False),
        (_STILL_SHOWN, lambda o: o.remains is not None, lambda o: o.remains, 0, False),
    )
    made = []
    for name, belongs, counts, least, more in sides:
        share = _share([o for o in outcomes if belongs(o)], counts, seed)
        if share.n:
            detail = f"[{100 * share.low:.1f}, {100 * share.high:.1f}], n = {share.n}"
            if name == _STILL_SHOWN:
                detail += f"; in doubt {sum(o.doubted for o in outcomes)}"
            made.append(Figure(name=name, value=100 * share.mean, unit="%", bar=least, more=more, detail=detail))
    return made


def table(outcomes: Sequence[StandingOutcome], seed: int = 0, title: str = "2. By language") -> TextTable:
    """The same by language; beside it what the block shows in whatever form."""
    groups = {"all": list(outcomes)}
    groups |= {name: [o for o in outcomes if o.sentence.lang == lang] for lang, name in LANGUAGES.items()}
    rows = tuple((name, *_cells(group, seed)) for name, group in groups.items() if group)
    columns = ("", "n", "found, %", "in any form, %", "distractors", "false, %", "in any form, %", "withdrawn", "shown")
    return TextTable(title, columns, rows)


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
        shown = (beside_bars("1. Standing instructions", bars), table(outcomes, seed))
        stream.write("\n\n".join(map(aligned, map(made_up, shown))) + "\n")


def write_failures(outcomes: Sequence[StandingOutcome], most: int, stream: TextIO) -> None:
    """Write the first sentences that do not stand and should, and the first that do and should not."""
    for title, instructs in (("not found", True), ("no instruction, and stands", False)):
        there = [o for o in outcomes if _instructs(o) is instructs and o.stands is not instructs]
        stream.write(f"\n{title}: {len(there)}, of which {min(most, len(there))} are\n")
        for o in there[:most]:
            beside = f"  ({'; '.join(o.lines)})" if o.lines else ""
            stream.write(f"  {o.sentence.text}{beside}\n")
