"""A recall of a strategy's own: it reads one commit, may ask a model, writes nothing, and its picks are shown."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnemic import AsyncMemory, Filter, Invalid, Kind, ScopedMemory
from mnemic.core.ids import ItemId
from mnemic.errors import ModelError, NoModel, OverBudget
from mnemic.flow import Flow
from mnemic.models.chat.base import Ask, ChatMessage, Pieces
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.model_requests import ask
from mnemic.store.requests import Transact
from mnemic.strategies.base import Asked, Budget, Edits, Given, Pick, Sight, known
from mnemic.strategies.judging import judged, judged_each
from mnemic.strategies.knowledge import passage_of
from mnemic.strategies.strategy_requests import fetch, linked, search
from mnemic.strategies.tasks.reflecting import SCORE_IMPORTANCE

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, Think, insight, opened, silent

OnRecall = Callable[[Asked], Flow[Sequence[Pick]]]


class Recaller(Scripted):
    """Recalls as it was told to; `asked` are the questions."""

    def __init__(self, recall: OnRecall, on_write: Think = silent, *, name: str = "scripted") -> None:
        super().__init__(on_write, name=name)
        self.recall = recall
        self.asked: list[Asked] = []

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        self.asked.append(asked)
        return (yield from self.recall(asked))


def noting(given: Given) -> Flow[Edits]:
    """Write an insight about every turn."""
    yield from ()
    return Edits(write=tuple(insight(turn, f"note: {turn.text}") for turn in given.evidence))


def notes(asked: Asked) -> Flow[list[Pick]]:
    """Pick the insights that bear on a question, worst first, to tell them from a plain recall."""
    hits = yield from search(asked.text, INSIGHTS, k=asked.k)
    return [
        Pick(item=hit.item, score=float(n), components={"overlap": hit.overlap}, why=f"insight {n}")
        for n, hit in enumerate(reversed([hit for hit in hits if hit.overlap]))
    ]


def test_its_picks_are_shown_in_its_order_with_its_reasons_and_what_they_rest_on() -> None:
    strategy = Recaller(notes, noting)
    memory, me = opened(strategy)
    with memory:
        ids = me.observe(["the ferry is blue", "the ferry to Hydra is slow", "nothing"]).ids
        assert memory.flush()
        before = me.log()[0].seq
        found = me.recall("the ferry to Hydra", by="scripted", explain=True)
        assert [one.text for one in found] == ["note: the ferry is blue", "note: the ferry to Hydra is slow"]
        assert [one.score for one in found] == [0.0, 1.0]
        assert found[1].reasons == ("insight 1", f"rests on {ids[1]}")
        assert found[1].components == {"overlap": 1.0}
        assert found.stages[0] == ("picks of scripted", 3, 2)
        assert found.seq == before == me.log()[0].seq
        assert "note: the ferry is blue" in found.text
        assert [asked.text for asked in strategy.asked] == ["the ferry to Hydra"]
        assert me.recall("the ferry to Hydra", by="scripted", k=1)[0].text == "note: the ferry to Hydra is slow"
        assert strategy.asked[1].k == 1


def test_a_budget_holds_and_what_does_not_fit_is_told() -> None:
    memory, me = opened(Recaller(notes, noting))
    with memory:
        me.observe(["the ferry is blue", "the ferry to Hydra is slow"])
        assert memory.flush()
        whole = me.recall("ferry", by="scripted")
        part = me.recall("ferry", by="scripted", budget=whole.tokens - 1)
        assert (len(whole), len(part)) == (2, 1)
        assert part.tokens < whole.tokens
        none = me.recall("ferry", by="scripted", budget=1)
        assert "nothing of what was picked fits the budget of 1 tokens" in none.notes


def test_a_block_for_a_prompt_has_what_is_always_on_before_its_picks() -> None:
    memory, me = opened("house", Recaller(notes, noting))
    with memory:
        me.observe(["From now on, answer in French.", "the ferry is blue"])
        assert memory.flush()
        block = me.context("ferry", by="scripted")
        assert [one.text for one in block] == ["note: the ferry is blue"]
        assert "answer in French" in block.text.partition("note: ")[0]
        assert me.context("", by="scripted").items == ()


def test_what_says_the_same_is_shown_once() -> None:
    def twice(asked: Asked) -> Flow[list[Pick]]:
        items = yield from known(INSIGHTS)
        return [Pick(item=item, score=1.0, why=str(n)) for n, item in enumerate((*items, *items))]

    memory, me = opened(Recaller(twice, noting))
    with memory:
        me.observe(["blue", "blue", "green"])
        assert memory.flush()
        found = me.recall("what?", by="scripted")
        assert [one.text for one in found] == ["note: green", "note: blue"]
        assert [one.reasons[0] for one in found] == ["0", "1"]


def test_it_reads_the_past_that_the_handle_reads() -> None:
    memory, me = opened(Recaller(notes, noting))
    with memory:
        me.observe("the ferry is blue")
        assert memory.flush()
        then = me.log()[0].seq
        me.observe("the ferry is green")
        assert memory.flush()
        assert len(me.recall("ferry", by="scripted")) == 2
        assert [one.text for one in me.at(then).recall("ferry", by="scripted")] == ["note: the ferry is blue"]
        assert me.as_of("2000-01-01").recall("ferry", by="scripted").items == ()


def test_all_its_looks_see_one_commit_whatever_is_written_meanwhile() -> None:
    held: list[ScopedMemory] = []

    def two_looks(asked: Asked) -> Flow[list[Pick]]:
        first = yield from known(Filter(kinds=(Kind.TURN,)))
        held[0].observe("written meanwhile")
        second = yield from known(Filter(kinds=(Kind.TURN,)))
        assert first == second
        return [Pick(item=item, score=1.0) for item in second]

    memory, me = opened(Recaller(two_looks))
    held.append(me)
    with memory:
        me.observe("before")
        found = me.recall("what?", by="scripted")
        assert [one.text for one in found] == ["before"]
        assert found[0].reasons == ("scripted picked it",)


def test_searches_are_narrowed_by_the_filter_and_links_lead_beyond_it_but_no_further_than_to_the_flow() -> None:
    seen: list[str] = []

    def along(asked: Asked) -> Flow[list[Pick]]:
        hits = yield from search("ferry")
        seen.extend(hit.item.text for hit in hits)
        links = yield from linked(*(hit.item.id for hit in hits))
        beyond = yield from fetch(*(link.dst for link in links))
        seen.extend(item.text for item in beyond.values())
        return [Pick(item=item, score=1.0) for item in (*beyond.values(), *(hit.item for hit in hits))]

    memory, me = opened(Recaller(along))
    with memory:
        fact = me.write("the ferry is blue", kind="fact").ids[0]
        plan = me.write("paint the ferry", kind="plan").ids[0]
        me.link(fact, plan, "about")
        found = me.recall("ferry", by="scripted", where=Filter(kinds=(Kind.FACT,)))
        assert seen == ["the ferry is blue", "paint the ferry"]
        assert [one.text for one in found] == ["the ferry is blue"]
        assert (
            "1 of what scripted picked is not shown here: the view, the filter or its sight leaves it out"
            in found.notes
        )


def test_what_another_strategy_keeps_for_itself_and_what_nobody_recalls_is_not_shown() -> None:
    def everything(asked: Asked) -> Flow[list[Pick]]:
        return [Pick(item=item, score=1.0) for item in (yield from known())]

    def nodes(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(write=tuple(replace(insight(turn, "a node"), sight=Sight.NONE) for turn in given.evidence))

    def others(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(write=tuple(insight(turn, "a secret", by="other") for turn in given.evidence))

    memory, me = opened(Recaller(everything, nodes), Scripted(others, name="other"))
    with memory:
        me.observe("the ferry is blue")
        assert memory.flush()
        found = me.recall("ferry", by="scripted")
        assert [one.text for one in found] == ["the ferry is blue"]
        assert [note for note in found.notes if note.startswith("2 of what scripted picked is not shown here")]


def test_one_without_a_recall_of_its_own_is_asked_for_what_it_derived() -> None:
    memory, me = opened("house", Scripted(noting))
    with memory:
        me.observe(["the ferry is blue", "the ferry is slow"])
        assert memory.flush()
        texts = {one.text for one in me.recall("ferry", by="scripted")}
        assert texts == {"note: the ferry is blue", "note: the ferry is slow"}
        with pytest.raises(Invalid, match=r"'scripted' derives nothing that `where.by` asks for"):
            me.recall("ferry", by="scripted", where=Filter(by=("house",)))


def test_one_that_never_ran_here_says_so() -> None:
    memory, me = opened(Recaller(notes, noting), Scripted(noting, name="other"))
    with memory:
        me.observe("the ferry is blue")
        for by in ("scripted", "other"):
            found = me.recall("ferry", by=by)
            assert found.items == ()
            assert any(
                f"{by} has derived nothing here: it has not run over this memory" in note for note in found.notes
            )
        assert memory.flush()
        assert not [note for note in me.recall("ferry", by="other").notes if "not run" in note]


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    memory, me = opened(Recaller(notes))
    with memory:
        with pytest.raises(Invalid, match=r"'scriptd' is no strategy .* Did you mean 'scripted'\? There are: .*house"):
            me.recall("ferry", by="scriptd")
        rules = me.recall("ferry", by="house")  # registered, whether or not it is followed
        assert rules.items == ()
        (note,) = rules.notes
        assert "`context`" in note
        assert "`list --by house`" in note


# What goes wrong


def raising(asked: Asked) -> Flow[list[Pick]]:
    yield from ()
    raise KeyError("x")


def committing(asked: Asked) -> Flow[list[Pick]]:
    yield Transact(print, ())
    return []


def yielding_a_number(asked: Asked) -> Flow[list[Pick]]:
    yield 7  # type: ignore[misc]
    return []


def no_flow(asked: Asked) -> Any:
    return []


def no_list(asked: Asked) -> Flow[Any]:
    yield from ()
    return "all"


def no_pick(asked: Asked) -> Flow[Any]:
    return [item.id for item in (yield from known())]


def infinite(asked: Asked) -> Flow[list[Pick]]:
    return [Pick(item=item, score=float("inf")) for item in (yield from known())]


def not_shown(asked: Asked) -> Flow[list[Pick]]:
    (item,) = yield from known()
    return [Pick(item=dataclasses.replace(item, id=ItemId("0" * 26)), score=1.0)]


@pytest.mark.parametrize(
    ("recall", "told"),
    [
        (raising, r"by: scripted.on_recall failed: KeyError: 'x'. Mend the strategy, or ask without `by`."),
        (committing, "scripted asks for Transact, which no strategy may"),
        (yielding_a_number, "scripted.on_recall yields int, which is no request"),
        (no_flow, "scripted.on_recall yields nothing and returned list"),
        (no_list, "scripted.on_recall returned str, no list of picks"),
        (no_pick, "scripted.on_recall returned a list with str in it, which is no pick"),
        (infinite, "with score inf, which is no finite number"),
        (not_shown, f"scripted.on_recall picks '{'0' * 26}', which it was not shown"),
    ],
)
def test_what_it_does_wrong_is_told(recall: OnRecall, told: str) -> None:
    memory, me = opened(_plainly(recall))
    with memory:
        me.observe("the ferry is blue")
        with pytest.raises(Invalid) as refused:
            me.recall("ferry", by="scripted")
        assert told in str(refused.value)


def _plainly(recall: OnRecall) -> Scripted:
    strategy = Scripted()
    strategy.on_recall = recall  # type: ignore[attr-defined]
    return strategy


def asking(asked: Asked) -> Flow[list[Pick]]:
    items = yield from known()
    best = yield from ask([ChatMessage("user", asked.text)])
    return [Pick(item=item, score=1.0, why=best) for item in items]


def test_it_may_ask_a_model_which_is_metered_under_its_name_and_recorded_nowhere() -> None:
    strategy = Recaller(asking)
    strategy.budget = Budget(calls=1)
    memory, me = opened(strategy, model=ScriptedChat("once", "twice"))
    with memory:
        me.observe("the ferry is blue")
        before = me.log()[0].seq
        assert me.recall("ferry", by="scripted")[0].reasons == ("once",)
        assert me.recall("ferry", by="scripted")[0].reasons == ("twice",)
        (spent,) = memory.admin.spending(user="ada")
        assert (spent.strategy, spent.calls) == ("scripted:recall", 2)
        assert me.log()[0].seq == before


def test_it_keeps_its_budget() -> None:
    model = ScriptedChat("so")
    memory, me = opened(Recaller(asking), model=model)
    with memory:
        me.observe("the ferry is blue")
        with pytest.raises(OverBudget, match=r"strategy scripted: .* over its budget of calls"):
            me.recall("ferry", by="scripted")
        assert model.asked == []


def test_without_a_model_it_says_so() -> None:
    strategy = Recaller(asking)
    strategy.budget = Budget(calls=1)
    memory, me = opened(strategy)
    with memory:
        me.observe("the ferry is blue")
        with pytest.raises(NoModel, match="the setting `model` names none"):
            me.recall("ferry", by="scripted")


def judging(asked: Asked) -> Flow[list[Pick]]:
    items = yield from known()
    scores = yield from judged(SCORE_IMPORTANCE, tuple(passage_of(item) for item in items))
    return [Pick(item=item, score=float(score)) for item, score in zip(items, scores, strict=True)]


def test_where_there_is_no_model_rules_judge() -> None:
    strategy = Recaller(judging)
    strategy.budget = Budget(calls=2)
    memory, me = opened(strategy)
    with memory:
        me.observe("the ferry is blue")
        assert [one.text for one in me.recall("ferry", by="scripted")] == ["the ferry is blue"]


class SickChat(ScriptedChat):
    """Fails at every question."""

    def stream(self, ask: Ask) -> Pieces:
        raise ModelError("sick: the model hangs")


@pytest.mark.parametrize("recall", [asking, judging])
def test_a_model_that_is_sick_is_told_and_its_call_is_metered(recall: OnRecall) -> None:
    strategy = Recaller(recall)
    strategy.budget = Budget(calls=2)
    memory, me = opened(strategy, model=SickChat("never"))
    with memory:
        me.observe("the ferry is blue")
        with pytest.raises(ModelError, match="the model hangs"):
            me.recall("ferry", by="scripted")
        (spent,) = memory.admin.spending(user="ada")
        assert (spent.calls, spent.failed) == (1, 1)


def judging_each(asked: Asked) -> Flow[list[Pick]]:
    items = yield from known()
    scores = yield from judged_each(SCORE_IMPORTANCE, [(passage_of(item),) for item in items])
    return [Pick(item=item, score=float(score)) for item, (score,) in zip(items, scores, strict=True)]


def test_what_is_over_the_budget_side_by_side_is_judged_by_rules() -> None:
    strategy = Recaller(judging_each)
    strategy.budget = Budget(calls=1)
    model = ScriptedChat('{"reasoning": "", "scores": [{"of": 1, "score": 9}]}')
    memory, me = opened(strategy, model=model)
    with memory:
        me.observe(["the ferry is blue", "the ferry is green"])
        found = me.recall("ferry", by="scripted")
        assert len(model.asked) == 1
        assert sorted(one.score for one in found)[-1] == 9.0
        assert len(found) == 2


def test_the_awaited_twin_takes_the_same() -> None:
    async def recalled() -> list[str]:
        async with AsyncMemory("memory:", strategies=[Recaller(notes, noting)], embedder="none") as memory:  # type: ignore[list-item]
            me = memory.scope(user="ada")
            await me.observe("the ferry is blue")
            await memory.flush()
            block = await me.context("ferry", by="scripted")
            found = await me.recall("ferry", by="scripted")
            assert list(block.items) == list(found.items)
            return [one.text for one in found]

    assert asyncio.run(recalled()) == ["note: the ferry is blue"]
