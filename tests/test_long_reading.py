"""A long text is read segment by segment: one call each, notes of a fixed size, and no segment is paid for twice."""

from __future__ import annotations

import io
import json
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic import Conflict, Invalid, Kind, Memory, NotFound, Refused, ScopedMemory, TooLarge
from mnemic.core.tokens import count_tokens
from mnemic.errors import ModelError
from mnemic.flow import Request, run
from mnemic.lab.tasks.needles_bench import CASES, NeedleCase, NeedleReader, text_of
from mnemic.long_reading import LongReading, ReadingProgress
from mnemic.models.chat.base import Ask, Pieces
from mnemic.models.model_requests import NameModel
from mnemic.strategies.knowledge import SentenceCard
from mnemic.strategies.memagent import ReaderState, TextStretch, folded, pieces_of, segments_of
from mnemic.testing.generators import ManualClock, SeededEntropy

SEGMENT = 256
CASE: NeedleCase = CASES["multi-value"](random.Random(7))
TEXT = "".join(text_of(CASE, 2_000, 7))
SEGMENTS = math.ceil(sum(count_tokens(piece.line) for piece in pieces_of([TextStretch(TEXT, "text")])) / SEGMENT)


class Faulty(NeedleReader):
    """A model that fails at one of its calls, and is sound again behind it."""

    def __init__(self, case: NeedleCase, *, at: int, fault: Exception | str) -> None:
        super().__init__(case)
        self.calls, self._at, self._fault = 0, at, fault

    def stream(self, ask: Ask) -> Pieces:
        self.calls += 1
        if self.calls == self._at and isinstance(self._fault, Exception):
            raise self._fault
        reply = yield from super().stream(ask)
        return reply


class Babbling(NeedleReader):
    """A model that says something else than it is asked for, so many times."""

    def __init__(self, case: NeedleCase, *, times: int) -> None:
        super().__init__(case)
        self._times = times

    def _notes(self, prompt: str) -> dict[str, object]:
        self._times -= 1
        return super()._notes(prompt) if self._times < 0 else {"notes": [{"text": "Trust me.", "from": [999_999]}]}


def opened(model: NeedleReader | None = None) -> tuple[Memory, ScopedMemory]:
    memory = Memory(
        "memory:", clock=ManualClock(step=1), entropy=SeededEntropy(1), embedder="none", strategies=(), model=model
    )
    return memory, memory.scope(user="ada")


def read(me: ScopedMemory, text: object = TEXT, **options: object) -> LongReading:
    return me.read(CASE.question, text, segment=SEGMENT, **options)  # type: ignore[arg-type]


def told(reading: LongReading) -> tuple[object, ...]:
    """What a reading says, whoever read it, in however many goes."""
    return reading.answer, reading.notes, reading.evidence, reading.tokens, reading.segments


def test_a_model_is_asked_once_a_segment_and_once_for_the_answer() -> None:
    model = NeedleReader(CASE)
    _, me = opened(model)
    found = read(me)
    assert model.asked == {"overwrite_fold": SEGMENTS, "answer_from_notes": 1}
    assert found.segments == SEGMENTS > 5
    assert set(found.answer.split(", ")) == set(CASE.values)
    assert {note.text for note in found.notes} == set(CASE.needles)
    assert found.judged == {"answer": SEGMENTS + 1}
    assert model.most < SEGMENT * 3 + 1_024


def test_what_is_cited_stands_in_the_source_word_for_word_where_it_says() -> None:
    for model in (NeedleReader(CASE), None):
        _, me = opened(model)
        found = read(me)
        assert {note.text for note in found.notes} >= set(CASE.needles)
        for place in (place for note in found.notes for place in note.evidence):
            assert TEXT[place.start : place.end] == place.quote
            assert place.source == "text 1"
        assert set(found.evidence) <= {place for note in found.notes for place in note.evidence}


def test_each_state_of_the_notes_is_a_version_within_the_budget_that_no_recall_finds() -> None:
    memory, me = opened(NeedleReader(CASE))
    found = read(me, notes=128)
    story = me.history(found.id)
    assert [version.item.slots["segment"] for version in story] == [*range(1, SEGMENTS + 1), SEGMENTS]
    assert all(count_tokens(version.item.text) <= 128 for version in story)
    assert story[-1].item.kind is Kind.SUMMARY
    assert me.recall(CASE.question).items == ()
    assert me.context(CASE.question).items == ()
    assert memory.admin.verify() == []
    calls = {one.task: one.calls for one in memory.admin.spending() if one.strategy == "memagent"}
    assert calls == {"overwrite_fold": SEGMENTS, "answer_from_notes": 1}


@pytest.mark.parametrize("at", range(1, SEGMENTS + 2))
def test_a_reading_that_was_cut_short_anywhere_goes_on_and_pays_nothing_twice(at: int) -> None:
    whole = read(opened(NeedleReader(CASE))[1])
    model = Faulty(CASE, at=at, fault=ModelError("told: 429"))
    _, me = opened(model)
    with pytest.raises(ModelError, match="429"):
        read(me)
    kept = me.list()
    assert [version.item.slots["segment"] for version in kept] == ([at - 1] if at > 1 else [])
    found = read(me)
    assert told(found) == told(whole)
    assert found.resumed == at - 1
    assert model.asked == {"overwrite_fold": SEGMENTS, "answer_from_notes": 1}
    again = read(me)
    assert told(again) == told(whole)
    assert (again.id, again.seq, again.resumed) == (found.id, found.seq, SEGMENTS)
    assert model.asked.total() == SEGMENTS + 1


@pytest.mark.parametrize("at", range(1, SEGMENTS + 1))
def test_a_source_that_breaks_off_anywhere_loses_nothing_that_was_noted(at: int) -> None:
    class Interrupt(Exception):
        pass

    def until(reached: ReadingProgress) -> None:
        if reached.segment == at:
            raise Interrupt

    model = NeedleReader(CASE)
    _, me = opened(model)
    with pytest.raises(Interrupt):
        read(me, iter([TEXT]), progress=until)
    found = read(me, iter([TEXT[:1_000], TEXT[1_000:]]))
    assert found.resumed == at
    assert told(found)[1:2] == told(read(opened(NeedleReader(CASE))[1], iter([TEXT])))[1:2]
    assert model.asked.total() == SEGMENTS + 1


def test_a_bad_answer_goes_back_once_and_then_rules_stand_in_and_it_is_counted() -> None:
    _, me = opened(Babbling(CASE, times=1))
    assert read(me).judged == {"repair": 1, "answer": SEGMENTS}
    _, me = opened(Babbling(CASE, times=2))
    found = read(me)
    assert found.judged == {"rules": 1, "answer": SEGMENTS}
    assert set(CASE.values) == set(found.answer.split(", "))


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("what is the boat called?", "From now on call me May. He has a dog called Rex.", ""),
        ("what is the dog called?", "From now on call me May. He has a dog called Rex.", "Rex"),
        ("what is the boat called?", "The boat's name is Kestrel. He has a dog called Rex.", "Kestrel"),
        ("What colour is the gate of Harrow?", "The gate of Harrow is green.", "green"),
        ("What year did she buy the mill?", "It was a good year for plums.", ""),
        ("How long did she stay?", "It was a long road.", ""),
        ("那条船叫什么名字？", "以后叫我小梅。他有一只狗，名字叫小黑。", ""),
        ("那只狗叫什么名字？", "以后叫我小梅。他有一只狗，名字叫小黑。", "小黑"),
    ],
)
def test_rules_quote_no_note_that_only_shares_how_it_is_asked(question: str, text: str, answer: str) -> None:
    found = opened()[1].read(question, io.StringIO(text))
    assert (answer in found.answer, found.known) == (True, bool(answer)), found.answer


def test_another_question_model_or_budget_is_another_reading() -> None:
    memory, me = opened()
    first = read(me)
    assert me.read("Who is the keeper of the mill?", TEXT, segment=SEGMENT).id != first.id
    assert read(me, notes=512).id != first.id
    assert read(me).id == first.id
    assert me.count() == 3
    memory.close()


def test_a_text_that_changed_is_read_anew_from_where_it_differs(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text(TEXT)
    model = NeedleReader(CASE)
    _, me = opened(model)
    first = me.read(CASE.question, file, segment=SEGMENT)
    halfway = TEXT.index(" ", len(TEXT) // 2)
    file.write_text(f"{TEXT[:halfway]} Nobody had seen it before.{TEXT[halfway:]}")
    second = me.read(CASE.question, file, segment=SEGMENT)
    assert second.id != first.id
    assert 0 < second.resumed < SEGMENTS - 1
    assert me.get(first.id).seq_to is None, "the notes on what the file said before stay as they are"
    assert me.history(second.id)[0].item.slots["segment"] == second.resumed + 1
    anew = opened(NeedleReader(CASE))[1].read(CASE.question, file, segment=SEGMENT)
    assert told(anew) == told(second)
    file.write_text(f"Quite another beginning. {TEXT}")
    assert me.read(CASE.question, file, segment=SEGMENT).resumed == 0
    file.write_text(TEXT)
    asked = model.asked.total()
    assert told(me.read(CASE.question, file, segment=SEGMENT)) == told(first)
    assert model.asked.total() == asked, "what it said at first is known"


def test_undo_takes_the_last_step_back_and_reading_goes_on_from_there() -> None:
    model = NeedleReader(CASE)
    _, me = opened(model)
    found = read(me)
    me.undo_range(found.seq - 1, found.seq)
    assert me.get(found.id).item.slots["segment"] == SEGMENTS - 1
    again = read(me)
    assert (again.id, again.resumed) == (found.id, SEGMENTS - 1)
    assert told(again) == told(found)
    assert model.asked.total() == SEGMENTS + 3


def test_notes_that_were_forgotten_or_erased_are_gone_and_it_is_read_anew() -> None:
    memory, me = opened()
    found = read(me)
    assert set(me.erase(found.id).ids) == {found.id}
    with pytest.raises(NotFound):
        me.history(found.id)
    again = read(me)
    assert again.resumed == 0
    me.forget(again.id)
    assert read(me).resumed == 0
    assert memory.admin.verify() == []


def test_of_two_that_read_the_same_one_is_told_to_try_again() -> None:
    _, me = opened()

    def beside(reached: ReadingProgress) -> None:
        if reached.segment == 3:
            read(me)

    with pytest.raises(Conflict):
        read(me, progress=beside)
    assert read(me).resumed == SEGMENTS
    assert me.count() == 1


def test_a_reading_goes_on_though_its_past_lies_behind_the_horizon() -> None:
    model = Faulty(CASE, at=6, fault=ModelError("told: 503"))
    memory, me = opened(model)
    with pytest.raises(ModelError):
        read(me)
    memory.admin.compact(5)
    with pytest.raises(Conflict, match="no longer kept"):
        read(me, f"A new beginning. {TEXT}")
    assert told(read(me)) == told(read(opened(NeedleReader(CASE))[1]))
    assert model.asked["overwrite_fold"] == SEGMENTS


def test_a_session_and_a_document_are_read_from_memory_and_their_erasure_takes_the_notes() -> None:
    memory, me = opened()
    me.observe("The spare key lies under the blue pot.", speaker="Ada", said="2025-03-01T10:00:00Z")
    talk = me.shelf(session="trip")
    talk.observe([{"role": "user", "content": f"We talked about the weather of day {n}."} for n in range(40)])
    said = talk.observe("Mara keeps the tickets in the green folder.", speaker="Mara").id
    found = me.read("Where are the tickets?", session="trip", segment=SEGMENT)
    (place,) = found.evidence
    assert (place.quote, place.part, place.source) == (
        "Mara keeps the tickets in the green folder.",
        said,
        "session trip",
    )
    assert me.get(found.id).item.source == (said,)
    assert "Mara: " in me.get(found.id).item.text
    book = me.observe(TEXT * 6).ids[0]
    by_id = me.read(CASE.question, ids=[book])
    assert by_id.tokens > 10_000
    assert all(value in " ".join(note.text for note in by_id.notes) for value in CASE.values)
    gone = me.erase(said)
    assert {said, found.id} <= set(gone.ids)
    assert me.read("Where are the tickets?", session="trip", segment=SEGMENT).resumed == 0
    assert memory.admin.verify() == []
    with pytest.raises(NotFound, match="'nix'"):
        me.read("Where?", session="nix")


class Gossiping(NeedleReader):
    """A model that notes in its own words what it was shown, and cites another line of the same segment."""

    def __init__(self, case: NeedleCase, *, about: str) -> None:
        super().__init__(case)
        self._about = about

    def _notes(self, prompt: str) -> dict[str, object]:
        before = re.findall(r"^(Somebody .+?) \[(\d+)\]", prompt, re.MULTILINE)
        notes = [{"text": text, "from": [int(number)]} for text, number in before]
        lines = re.findall(r"^\[(\d+)\] (.+)$", prompt, re.MULTILINE)
        heard = [place for place, (_, line) in enumerate(lines) if self._about in line]
        if heard and not notes:
            notes = [{"text": f"Somebody spoke of {self._about}.", "from": [int(lines[heard[0] - 1][0])]}]
        return {"notes": notes}


def test_notes_of_a_model_go_with_every_turn_that_fed_them_and_stay_with_those_that_did_not() -> None:
    memory, me = opened(Gossiping(CASE, about="Xanadu"))
    talk = me.shelf(session="trip")
    ids = talk.observe([f"We talked about the weather of day {n}, as usual." for n in range(80)]).ids
    secret = talk.observe("The palace is in Xanadu, by the river.").id
    later = talk.observe([f"We talked about the rain of day {n}, as usual." for n in range(80)]).ids
    found = me.read("Where is the palace?", session="trip", segment=SEGMENT)
    item = me.get(found.id).item
    assert ("Xanadu" in item.text, secret in item.source) == (True, False)
    assert secret in item.context
    assert ids[0] not in item.context, "a segment that changed no note feeds none"
    assert later[-1] not in item.context
    assert found.id not in me.erase(ids[0]).ids
    assert found.id in me.erase(secret).ids
    assert b"Xanadu" not in b"".join(memory.admin.export())
    assert memory.admin.verify() == []


def test_what_nobody_can_read_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    _, me = opened()
    empty, binary, latin = tmp_path / "empty.txt", tmp_path / "a.bin", tmp_path / "latin.txt"
    empty.write_text("")
    binary.write_bytes(b"\x00\x01\x02" * 100)
    latin.write_bytes(b"fine\n" * 20_000 + "caf\xe9".encode("latin-1"))
    for source, why in (
        (empty, "is empty"),
        (binary, "is binary"),
        (tmp_path, "holds no text"),
        ("  ", "is empty"),
        (str(empty), "the name of a file"),
        (b"bytes", "is bytes"),
        (7, "is int"),
        (iter([]), "holds no text"),
        (iter([1]), "gives a int"),
        (io.BytesIO(b"ok \xff\xfe"), "not UTF-8"),
        (io.StringIO("nul \x00"), "is binary"),
        (iter(["\ud800"]), "not UTF-8"),
    ):
        with pytest.raises(Invalid, match=why):
            me.read("What?", source)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="there is no file"):
        me.read("What?", tmp_path / "nix.txt")
    with pytest.raises(Invalid, match="are missing"):
        me.read("What?")
    with pytest.raises(Invalid, match="question: is empty"):
        me.read(" ", TEXT)
    with pytest.raises(TooLarge, match="question: has"):
        me.read("why is it so? " * 715, TEXT)
    with pytest.raises(Invalid, match="notes"):
        me.read("What?", TEXT, notes=3)
    assert me.count() == 0
    with pytest.raises(Invalid, match="not UTF-8"):
        me.read("What?", latin)
    with pytest.raises(Refused):
        me.as_of("2020-01-01").read("What?", TEXT)


def test_a_file_that_is_written_to_meanwhile_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text(TEXT)
    _, me = opened()

    def write(reached: ReadingProgress) -> None:
        if reached.segment == 2:
            file.write_text(f"{TEXT} And one more line.")

    with pytest.raises(Conflict, match="was changed while it was read"):
        me.read(CASE.question, file, segment=SEGMENT, progress=write)
    assert me.read(CASE.question, file, segment=SEGMENT).resumed >= 2


def test_formats_of_import_and_streams_are_read(tmp_path: Path) -> None:
    _, me = opened()
    chat = tmp_path / "chat.jsonl"
    lines = [{"id": "1", "speaker": "Ben", "text": "The ferry leaves at nine."}, {"id": "2", "text": "\x00"}]
    chat.write_text("\n".join(map(json.dumps, lines)))
    found = me.read("When does the ferry leave?", chat)
    assert (found.evidence[0].quote, found.evidence[0].part) == ("The ferry leaves at nine.", "chat::1")
    assert [skipped.where for skipped in found.skipped] == ["line 2"]
    for stream in (io.StringIO(TEXT), io.BytesIO(TEXT.encode()), iter([TEXT[:100], TEXT[100:]])):
        assert read(me, stream).tokens == read(me).tokens


def test_a_secret_is_in_no_prompt_and_in_no_note() -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCD"
    seen: list[str] = []

    class Listening(NeedleReader):
        def stream(self, ask: Ask) -> Pieces:
            seen.extend(message.content for message in ask.messages)
            return (yield from super().stream(ask))

    _, me = opened(Listening(CASE))
    read(me, f"The key of the service is {secret}. {TEXT}")
    assert seen
    assert not any(secret in text for text in seen)
    _, me = opened()
    found = me.read("What is the key of the service?", f"The key of the service is {secret}. {TEXT}")
    assert not any(secret in str(version.item) for version in me.history(found.id))
    assert "key of the service" in found.notes[0].text


words = st.sampled_from(
    ["Ada", "Porto", "码头", "magic", "number", "is.", "the\n", "sea!", "for", "Mara:", "是。", "a"]
)
texts = st.lists(words, min_size=1, max_size=400).map(" ".join)


@settings(max_examples=40)
@given(st.lists(texts, min_size=1, max_size=3), st.integers(16, 90), st.integers(8, 200), st.integers(1, 50))
def test_any_text_is_cut_into_ceil_n_segments_and_leaves_notes_within_their_budget(
    parts: list[str], size: int, budget: int, step: int
) -> None:
    whole = list(pieces_of(TextStretch(text, "s", str(n)) for n, text in enumerate(parts)))
    for piece in whole:
        assert parts[int(piece.part)][piece.start : piece.end] == piece.text
    in_bits = (
        TextStretch(text[at : at + step], "s", str(n), at, ends=at + step >= len(text))
        for n, text in enumerate(parts)
        for at in range(0, len(text), step)
    )
    assert list(pieces_of(in_bits)) == whole
    tokens = sum(count_tokens(piece.line) for piece in whole)
    state, segments = ReaderState(), list(segments_of(whole, max(size, 128)))
    assert len(segments) == math.ceil(tokens / max(size, 128))
    assert [piece for segment in segments for piece in segment.pieces] == whole
    for segment in segments:
        state = run(folded("What is the magic number for Mara?", state, segment, budget), without_model)
        assert count_tokens("\n".join(note.text for note in state.notes)) <= budget
        assert state.cited.keys() == {number for note in state.notes for number in note.source}
        for number, cited in state.cited.items():
            assert whole[number] == cited.piece


def without_model(request: Request) -> str | None:
    return "" if isinstance(request, NameModel) else None


def test_wrapped_lines_are_one_sentence_and_stand_where_they_stood() -> None:
    wrapped = "It was in the year of the flood that the miller of Lund\nfirst heard of the tower. He went.\n\nA head\nB"
    pieces = list(pieces_of([TextStretch(wrapped, "s")]))
    assert [piece.line for piece in pieces] == [
        "It was in the year of the flood that the miller of Lund first heard of the tower.",
        "He went.",
        "A head",
        "B",
    ]
    assert all(wrapped[piece.start : piece.end] == piece.text for piece in pieces)


def test_four_million_tokens_are_never_held() -> None:
    alive = 0

    def lines() -> Iterator[str]:
        for n in range(400):
            yield f"Line {n} of a text that nobody holds. "

    def stretches() -> Iterator[TextStretch]:
        nonlocal alive
        at = 0
        for line in lines():
            alive += 1
            yield TextStretch(line, "s", start=at, ends=False)
            at += len(line)
        yield TextStretch("", "s", start=at)

    for segment in segments_of(pieces_of(stretches()), 256):
        assert alive <= segment.first + len(segment.pieces) + 4


class Choosing:
    """A policy that wants these places, whatever there is."""

    def __init__(self, *wanted: int) -> None:
        self.name, self._wanted = f"places {wanted}", wanted
        self.cards: list[SentenceCard] = []

    def chosen(self, held: Sequence[SentenceCard], read: Sequence[SentenceCard]) -> Sequence[int]:
        self.cards += read
        return self._wanted


def test_a_policy_chooses_in_place_of_the_model_which_still_answers() -> None:
    model = NeedleReader(CASE)
    _, me = opened(model)
    policy = Choosing(0)
    found = read(me, policy=policy)
    assert model.asked == {"answer_from_notes": 1}
    assert found.judged == {"policy": SEGMENTS, "answer": 1}
    assert len(found.notes) == 1
    assert found.notes[0].evidence[0].start == 0  # the first sentence, which was held on to
    bears = [card.features[0] for card in policy.cards]
    assert 0.0 <= min(bears) < max(bears) <= 1.0
    assert read(me).id != found.id


def test_notes_by_a_policy_fit_and_a_policy_that_names_what_is_not_there_is_refused() -> None:
    _, me = opened()
    every = read(me, policy=Choosing(*range(8)), notes=64)
    assert 0 < count_tokens("\n".join(note.text for note in every.notes)) <= 64
    for wrong in (Choosing(999_999), Choosing(-1), Choosing(0, 0)):
        with pytest.raises(Invalid, match="places"):
            read(me, policy=wrong)
