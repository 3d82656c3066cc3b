"""What ends, what is put right, what comes back: facts of a profile over time, in whatever order they are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import process_time

import pytest
from profile_days import MAY, after, profile, said, turn

from mnemic import Kind, Memory, Settings
from mnemic.core.items import State
from mnemic.strategies.house import digest


@pytest.mark.parametrize(
    ("before", "end"),
    [
        ("My girlfriend Mia loves jazz.", "Mia and I broke up."),
        ("My girlfriend is Mia.", "We broke up last week."),
        ("I work at Siemens.", "I quit my job."),
        ("I work at Siemens.", "I got laid off."),
        ("I work at Siemens.", "I left Siemens on Friday."),
        ("I live in Prague.", "Prague and I are done."),
        ("I live in Prague.", "I don't live in Prague any more."),
        ("I drive a Ford Fiesta.", "We finally sold the car."),
        ("I'm vegetarian.", "I'm not vegetarian anymore."),
        ("I'm vegetarian.", "I eat meat again."),
        ("I don't eat meat.", "I eat meat again."),
        ("I'm allergic to eggs.", "I'm no longer allergic to eggs."),
        ("I speak Russian.", "I no longer speak Russian."),
        ("My dog Max is ill.", "My dog Max died."),
        ("My dog Max is ill.", "Our dog died."),
        ("I love horror films.", "I've gone off horror films."),
        ("I have asthma.", "I don't have asthma any more."),
        ("I study physics.", "I dropped out."),
        ("我女朋友叫小雨。", "我们分手了。"),
        ("我女朋友叫小雨。", "我跟小雨分手了。"),
        ("我吃素。", "我不再吃素了。"),
        ("我在招商银行工作。", "我辞职了。"),
        ("我在杭州一家银行上班。", "从银行辞职了，下周去字节跳动报到。"),
        ("我在杭州一家银行上班。", "我把银行的工作辞了。"),
        ("我在招商银行工作。", "上周从银行离职了。"),
        ("我在招商银行工作。", "从单位退休了。"),
        ("我在人民医院上班。", "辞掉了医院的工作。"),
        ("我住在成都。", "我不住成都了。"),
        ("我对花生过敏。", "我对花生不过敏了。"),
        ("我喜欢恐怖片。", "我不再喜欢恐怖片了。"),
    ],
)
def test_a_plain_end_closes_what_it_ends_when_it_was_said(before: str, end: str) -> None:
    first = after(turn(before, 0))
    assert profile(first)
    items = after(turn(end, 9), known=first)
    assert profile(items) == set()
    (closed,) = (item for item in items if item.kind is Kind.PROFILE and item.state is State.SUPERSEDED)
    assert closed.valid_to is not None
    assert MAY <= closed.valid_to <= MAY + timedelta(days=9)


@pytest.mark.parametrize(
    ("before", "end"),
    [
        ("我在腾讯上班。", "从银行辞职了。"),
        ("我在招商银行工作。", "我妈从银行退休了。"),
        ("我在招商银行工作。", "我同事从银行辞职了。"),
        ("我在招商银行工作。", "同事老郑说了，从银行辞职了。"),
        ("我在招商银行工作。", "刚从银行出来了，排队排死了。"),
        ("我在招商银行工作。", "我打算从银行辞职了。"),
        ("我在招商银行工作。", "下个月从银行辞职。"),
        ("我在招商银行工作。", "要是从银行辞职了怎么办。"),
        ("我在人民医院上班。", "从兼职的医院辞职了。"),
    ],
)
def test_who_left_something_else_or_is_another_ends_no_work(before: str, end: str) -> None:
    first = after(turn(before, 0))
    assert profile(first)
    assert profile(after(turn(end, 9), known=first)) >= profile(first)


def test_a_firm_that_was_left_by_a_part_of_its_name_does_not_come_back() -> None:
    first = after(turn("我在杭州一家银行上班。", 0))
    items = after(turn("从银行辞职了。", 9), known=first)
    assert profile(after(turn("我在杭州一家银行上班", 1), known=items)) == set()


def test_an_end_is_dated_by_its_sentence() -> None:
    (fact,) = after(turn("I live in Porto."))
    ended = after(turn("In June I moved out of Porto.", 60), known=[fact])
    assert next(item for item in ended if item.id == fact.id).valid_to == datetime(2024, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "If Mia and I broke up I'd be sad.",
        "Suppose Mia and I broke up.",
        "I dreamt we broke up.",
        "Tom and Eve broke up.",
        "My sister quit her job.",
        "I quit smoking.",
        "We sold the tickets.",
        "He said we broke up.",
        "I'm moving out of Prague in June.",
        "要是我们分手了怎么办。",
        "他们分手了。",
        "我姐姐辞职了。",
        "我梦见我们分手了。",
        "从银行辞职了。",
        "我爸从公司退休了。",
        "从银行出来了，堵车。",
    ],
)
def test_what_ends_nothing(text: str) -> None:
    known = after(turn("My girlfriend is Mia. I work at Siemens. I live in Prague. I drive a Skoda Octavia."))
    assert len(profile(known)) == 4
    assert profile(known) <= profile(after(turn(text, 2), known=known))


@pytest.mark.parametrize(
    ("texts", "slot", "value"),
    [
        (("I live in Paris.", "We just relocated to Toronto."), "city", "Toronto"),
        (("I live in Ghent.", "No, it's Leuven, not Ghent."), "city", "Leuven"),
        (("I live in Ghent.", "Sorry, I meant Leuven, not Ghent."), "city", "Leuven"),
        (("I live in Ghent. Sorry, I meant Leuven.",), "city", "Leuven"),
        (("I'm allergic to walnuts.", "It's hazelnuts, not walnuts."), "allergy", "hazelnuts"),
        (("我住在宁波。", "说错了，是镇海，不是宁波。"), "city", "镇海"),
        (("我住在宁波。说错了，是镇海。",), "city", "镇海"),
        (("我住在宁波。", "不是宁波，是镇海。"), "city", "镇海"),
        (("I live in Paris.", "I moved to Rome.", "I moved back to Paris."), "city", "Paris"),
        (("I live in Oslo. I live in Rome.",), "city", "Rome"),
        (("I work at Siemens.", "I quit my job.", "I work at Siemens again."), "employer", "Siemens"),
    ],
)
def test_a_change_or_correction_takes_the_place_of_what_it_changes(
    texts: tuple[str, ...], slot: str, value: str
) -> None:
    assert said(*texts) == {(slot, value)}


def test_what_was_put_right_was_so_from_the_first() -> None:
    items = after(turn("I live in Ghent.", 0), turn("No, it's Leuven, not Ghent.", 3))
    right = next(item for item in items if item.slots["value"] == "Leuven")
    wrong = next(item for item in items if item.slots["value"] == "Ghent")
    assert right.valid_from == MAY == wrong.valid_to
    assert right.slots["wrong"] == "Ghent"


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("I live in Rome.", "I live in Paris."),
        ("I don't live in Ghent any more.", "I live in Ghent."),
        ("I'm not allergic to nuts.", "I'm allergic to nuts."),
        ("I quit Siemens.", "I work at Siemens."),
        ("I no longer speak Russian.", "I speak Russian."),
        ("我不再吃素了。", "我吃素。"),
    ],
)
def test_older_words_that_come_later_do_not_bring_back_what_ended(later: str, earlier: str) -> None:
    known = after(turn(later, 9))
    assert profile(after(turn(earlier, 1), known=known)) == profile(known)


def test_a_value_that_was_said_to_be_wrong_does_not_come_back_from_old_evidence() -> None:
    wrong, right = turn("I'm allergic to walnuts.", 0), turn("It's hazelnuts, not walnuts.", 3)
    known = [item for item in after(wrong, right) if item.slots["value"] != "walnuts"]
    assert profile(known) == {("allergy", "hazelnuts")}
    assert profile(after(wrong, known=known)) == {("allergy", "hazelnuts")}
    gone = after(turn("I'm no longer allergic to hazelnuts.", 6), known=known)
    assert profile(after(wrong, known=gone)) == set()
    again = turn("I'm allergic to walnuts.", 9)
    assert profile(after(again, known=known)) == {("allergy", "hazelnuts"), ("allergy", "walnuts")}


def test_a_change_dated_before_what_it_would_change_is_history() -> None:
    known = after(turn("I moved to Porto in March 2024."))
    assert profile(after(turn("I moved to Faro in June 2021.", 2), known=known)) == {("city", "Porto")}


def test_ten_changes_in_a_day_leave_the_last() -> None:
    towns = ["Rome", "Oslo", "Paris", "Ghent", "Turin", "Lille", "Basel", "Malmö", "Cork", "Graz"]
    turns = [turn(f"I moved to {town}.", n / 24) for n, town in enumerate(towns)]
    items = after(*turns)
    assert profile(items) == {("city", "Graz")}
    assert len(items) == len(towns)


def test_what_is_additive_is_no_conflict() -> None:
    assert said("I'm allergic to nuts.", "I'm allergic to pollen too.") == {("allergy", "nuts"), ("allergy", "pollen")}
    assert len(said("My dog Max is ill.", "My cat Luna is fine.")) == 2


def test_an_end_that_could_be_of_two_things_ends_neither() -> None:
    pets = after(turn("My dog Max is ill. My dog Rex is fine."))
    assert profile(after(turn("Our dog died.", 2), known=pets)) == profile(pets)


def test_what_has_ended_leaves_the_block_and_stands_in_the_past() -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("My girlfriend is Mia.", said=MAY)
        end = me.observe("Mia and I broke up.", said=MAY + timedelta(days=30))
        memory.flush()
        assert "Mia" not in me.context("").text
        profile = [item.text for item in me.valid_at(MAY + timedelta(days=3)).context("").always]
        assert profile == ["The user's partner is Mia."]
        me.undo(end.seq, cascade=True)
        assert "partner is Mia" in me.context("").text


def test_what_ended_does_not_come_back_when_rules_read_all_again() -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        texts = ("I live in Ghent.", "My girlfriend is Mia.", "No, it's Leuven, not Ghent.", "Mia and I broke up.")
        for day, text in enumerate(texts):
            me.observe(text, said=MAY + timedelta(days=day))
        memory.flush()
        before = [item.text for item in me.context("").always]
        memory.admin.rerun("house", user="ada")
        memory.flush()
        assert [item.text for item in me.context("").always] == before == ["The user lives in Leuven."]


def test_what_is_said_of_one_thing_over_and_over_costs_each_time_the_same() -> None:
    def seconds(count: int) -> float:
        names = ["Town" + "".join("abcdefghij"[int(digit)] for digit in f"{n:04d}") for n in range(count)]
        said = [form.format(name) for name in names for form in ("I live in {}.", "I no longer live in {}.")]
        said += [form.format(name) for name in names for form in ("My dog {} is ill.", "Our dog died.")]
        turns = [turn(text, place / 99) for place, text in enumerate(said)]
        began = process_time()
        assert len(digest(turns, (), "ada")) >= 3 * count
        return process_time() - began

    seconds(10)
    most = 7 * min(seconds(250) for _ in range(3))
    assert any(seconds(1_000) < most for _ in range(2))


def test_a_home_named_in_passing_fills_what_nothing_states_and_replaces_nothing() -> None:
    assert said("our flat in Leith has damp again") == {("city", "Leith")}
    assert said("我们在杨浦的房子又漏水了") == {("city", "杨浦")}
    assert said("I live in London.", "our house in Tuscany needs a new roof") == {("city", "London")}
    assert said("our flat in Leith has damp again", "we've moved, it's Portobello now") == {("city", "Portobello")}
