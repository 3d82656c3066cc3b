"""Streams: worlds that hide their rules, agents that go by what they are told, figures that come from the log."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid, NotFound
from mnemic.lab.kit.log import records
from mnemic.lab.kit.stream_agents import RuleAgent, chat_agent, told_in
from mnemic.lab.kit.stream_memories import WithoutMemory, memory_of, rows
from mnemic.lab.kit.stream_page import stream_page
from mnemic.lab.kit.stream_report import read_streams, record, shown
from mnemic.lab.kit.stream_run import StreamPlan, run_streams
from mnemic.lab.kit.task_stream import Advice, Seen, StreamTask, StreamWorld, attempt, solved
from mnemic.lab.stream_entries import WORLDS, world
from mnemic.lab.tasks import text_world, tool_world
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.strategies.trajectories import ActionStep, Trajectory

each_world = pytest.mark.parametrize("name", WORLDS)
seeds = st.integers(0, 10_000)


def with_other_rules(name: str, task: Any) -> Any:
    """The same task where every hidden rule is another one."""
    hidden = text_world.hidden_rules if name == "text" else tool_world.hidden_rules
    return replace(task, rules=hidden(-1))


# Worlds


@each_world
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_a_seed_always_makes_the_same_tasks_and_a_longer_stream_begins_like_a_shorter_one(name: str, seed: int) -> None:
    made = world(name).tasks(seed, 6)
    assert made == world(name).tasks(seed, 6)
    assert made[:3] == world(name).tasks(seed, 3)
    assert [task.begin().first for task in made] == [task.begin().first for task in made]


@each_world
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_the_oracle_does_every_task(name: str, seed: int) -> None:
    for task in world(name).tasks(seed, 6):
        done = solved(world(name), task)
        assert done.succeeded, done.text
        assert done.setbacks == ()


@each_world
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_nothing_that_is_seen_before_something_is_tried_depends_on_the_hidden_rules(name: str, seed: int) -> None:
    """Neither goal, nor first look, nor what walking about and nonsense bring, nor the solver's first action."""
    about = ("look", "go to cellar", "look", "go to attic", "unlock", "calendar.create", "sing")
    for task in world(name).tasks(seed, 4):
        other = with_other_rules(name, task)
        assert (task.goal, task.begin().first) == (other.goal, other.begin().first)
        ours, theirs = task.begin(), other.begin()
        assert [ours.act(action) for action in about] == [theirs.act(action) for action in about]
        firsts = [
            next(world(name).play(each.goal, each.begin().first, lambda c: c.options[0].name)) for each in (task, other)
        ]
        assert firsts[0] == firsts[1]


@each_world
def test_what_the_hidden_rules_are_no_text_of_a_wrong_try_says(name: str) -> None:
    """A refusal does not name what would have been right: the same whichever of the others is right."""
    task: Any = world(name).tasks(3, 1)[0]
    if name == "text":
        wrong = "brew calming tea from sage and mint"
        ways = [
            replace(task, rules=replace(task.rules, brew={"calming": pair}))
            for pair in (("mint", "sage"), ("mint", "honey"))
        ]
        for each in ways:
            situation = each.begin()
            situation.act("go to kitchen")
            assert situation.act(wrong).text == "The tea is bitter, and poured away."
    else:
        call = f"{task.tool} {' '.join(f'{n}=x' for n in (*tool_world.TOOLS[task.tool], 'scope'))}"
        others = [replace(task, rules=tool_world.hidden_rules(seed)) for seed in range(20)]
        assert len({each.begin().act(call).text for each in others}) == 1


@each_world
def test_hidden_rules_hold_for_all_tasks_of_a_seed_and_differ_between_seeds(name: str) -> None:
    tasks: Sequence[Any] = world(name).tasks(1, 12)
    assert all(task.rules == tasks[0].rules for task in tasks)
    others: Sequence[Any] = world(name).tasks(2, 1)
    assert others[0].rules != tasks[0].rules


@each_world
def test_an_action_that_nobody_knows_changes_nothing_and_says_what_there_is(name: str) -> None:
    task = world(name).tasks(0, 1)[0]
    situation = task.begin()
    seen = situation.act("sing a song")
    assert not seen.understood
    assert not seen.over
    assert world(name).verbs[0] in seen.text
    assert "sing a song" in seen.text


# Agents


class Stubborn:
    """Always does the same."""

    used: Sequence[ItemId] = ()

    def __init__(self, action: Any) -> None:
        self._action = action

    def begin(self, goal: str, first: str) -> None: ...

    def act(self) -> Any:
        return self._action

    def see(self, seen: Seen) -> None: ...


def first_task(name: str = "text") -> StreamTask:
    return world(name).tasks(0, 1)[0]


def test_an_agent_that_goes_round_in_circles_is_ended_and_counted() -> None:
    made = attempt(first_task(), Stubborn("look"))
    assert made.looped
    assert len(made.trajectory.steps) == 3
    assert "again and again" in made.trajectory.text
    nonsense = attempt(first_task(), Stubborn("sing"))
    assert (nonsense.unknown, nonsense.looped) == (3, True)


@pytest.mark.parametrize("action", ["", "  ", "look\nlook", 7])
def test_an_action_that_is_none_is_refused_by_name(action: Any) -> None:
    with pytest.raises(Invalid, match="agent"):
        attempt(first_task(), Stubborn(action))


def test_an_agent_may_give_up() -> None:
    made = attempt(first_task(), Stubborn(None))
    assert not made.trajectory.succeeded
    assert made.trajectory.why == "it gave up"


class Telling:
    """Tells one text, whatever it is asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    def advise(self, question: str) -> Sequence[Advice]:
        return [Advice(ItemId("told"), self._text)]

    def learn(self, trajectory: Trajectory) -> None: ...

    def told(self, ids: Sequence[ItemId], *, useful: bool) -> None: ...

    def close(self) -> None: ...


def brewing() -> tuple[StreamWorld, Any]:
    """A task of one decision among twelve."""
    task = next(task for task in world("text").tasks(0, 40) if task.goal.startswith("Brew"))
    return world("text"), task


def tries(memory: Any, count: int = 12) -> list[str]:
    """What an agent brews, by as many lots."""
    house, task = brewing()
    made = (attempt(task, RuleAgent(house, memory, str(lot))).trajectory for lot in range(count))
    return [trajectory.steps[-1].action for trajectory in made]


def test_an_agent_does_what_a_lesson_a_skill_or_a_try_says_that_went_well() -> None:
    _, task = brewing()
    right = f"brew {task.brew} tea from sage and mint"
    went_well = Trajectory(task=task.goal, steps=(ActionStep(right, "It is right."),), succeeded=True)
    for text in (f'Do "{right}": fine.', f"How to: {task.goal}\n1. go to kitchen\n2. {right}", went_well.text):
        assert set(tries(Telling(text))) == {right}
    assert len(set(tries(WithoutMemory()))) > 3


def test_an_agent_avoids_what_failed_and_heeds_no_advice_on_anything_else() -> None:
    _, task = brewing()
    wrong = f"brew {task.brew} tea from sage and mint"
    assert wrong in tries(WithoutMemory(), 60)
    assert wrong not in tries(Telling(f'Avoid "{wrong}": bitter.'), 60)
    assert tries(Telling('Do "brew another tea from sage and mint": fine.')) == tries(WithoutMemory())
    assert tries(Telling("Sage and mint are best!")) == tries(WithoutMemory())


def test_what_failed_for_one_argument_says_nothing_of_the_others() -> None:
    choice = tool_world._form_choice("mail.schedule", "date", ["dots", "slashes"], "7 March 2026")
    from mnemic.lab.kit.stream_agents import votes_of

    call = "mail.schedule date=07.03.2026 person=@p7 scope=read"
    assert votes_of(f'Avoid "{call}": 422 the person is not valid.', choice) == set()
    assert votes_of(f'Avoid "{call}": 422 the date is not valid.', choice) == {("dots", False)}
    assert votes_of(f'Do "{call}": 200 done.', choice) == {("dots", True)}


def test_advice_in_other_words_is_read_as_none() -> None:
    assert told_in("It may be wise to use vinegar.") == []


def test_a_chat_model_acts_by_its_words_and_sees_the_verbs_the_advice_and_what_came_of_it() -> None:
    house, task = brewing()
    right = " and ".join(task.rules.brew[task.brew])
    chat = ScriptedChat("> go to kitchen", f"brew {task.brew} tea from {right}")
    agent = chat_agent(chat)(house, Telling("Remember the honey."), "lot")
    made = attempt(task, agent)
    assert made.trajectory.succeeded
    assert made.used == ("told",)
    first, second = chat.asked
    assert house.verbs[-1] in first.messages[0].content
    assert "Remember the honey." in first.messages[1].content
    assert second.messages[-1].content.startswith("You are in the kitchen.")


# Memories


@pytest.mark.parametrize("row", [row for row in rows() if row not in ("none", "retry")])
def test_each_memory_tells_after_a_failure_and_a_success_what_bears_on_the_task(row: str) -> None:
    memory = memory_of(row)()
    steps = [ActionStep("go to cellar", "Dust."), ActionStep("rub bronze bowl with ash", "The ash spoils it.")]
    for succeeded in (False, True):
        memory.learn(Trajectory(task="Polish the bronze bowl", steps=tuple(steps), succeeded=succeeded))
        steps[1] = ActionStep("rub bronze bowl with soap", "It shines.")
    advice = memory.advise("Polish the bronze bowl")
    assert "rub bronze bowl with" in " ".join(one.text for one in advice)
    memory.told([one.id for one in advice], useful=False)
    memory.told([], useful=True)
    memory.close()


def test_there_is_no_memory_of_another_name() -> None:
    with pytest.raises(Invalid, match="no memory of streams"):
        memory_of("elephant")


# Runs


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = StreamPlan(rows=("none", "skills"), seeds=2, tasks=4, tries=2)
    return run_streams(world("tools"), plan, tmp_path_factory.mktemp("runs"))


def test_retrying_alone_is_always_among_the_rows(log: Path) -> None:
    assert {record["row"] for record in records(log) if record["kind"] == "try"} == {"none", "retry", "skills"}


def test_the_first_try_of_the_first_task_is_the_same_for_all(log: Path) -> None:
    """No memory knows anything yet, and all draw the same lots; later the memory is all that differs."""
    firsts = [r for r in records(log) if r["kind"] == "try" and (r["place"], r["nth"]) == (0, 1)]
    for seed in (0, 1):
        assert len({json.dumps(r["actions"]) for r in firsts if r["seed"] == seed}) == 1


def test_a_run_repeats_itself_times_aside(log: Path, tmp_path: Path) -> None:
    plan = StreamPlan(rows=("none", "skills"), seeds=2, tasks=4, tries=2)
    again = run_streams(world("tools"), plan, tmp_path)
    timed = ("acting_ms", "learning_ms")
    first, second = (
        [{k: v for k, v in r.items() if k not in timed} for r in records(path) if r["kind"] == "try"]
        for path in (log, again)
    )
    assert first == second


def test_figures_are_counted_from_the_log_alone(log: Path) -> None:
    made = read_streams(log)
    own = [r for r in records(log) if r["kind"] == "try" and r["row"] == "skills"]
    done = {(r["seed"], r["place"]) for r in own if r["succeeded"]}
    (row,) = [row for row in made.rows if row.name == "skills"]
    assert row.done.mean == pytest.approx(len(done) / 8)
    assert row.done.n == 2
    assert row.tries == pytest.approx(len(own) / 8)
    assert row.at_once.mean <= row.done.mean
    assert len(row.curve) == 4
    assert made.whole
    assert row.beside is not None
    control = made.control
    assert control is not None
    assert row.beside.mean == pytest.approx(row.done.mean - control.done.mean)


def test_a_memory_wins_only_where_its_whole_interval_lies_above(tmp_path: Path) -> None:
    def made(seeds: Sequence[tuple[bool, bool]]) -> tuple[str, ...]:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        head = {
            "kind": "run",
            "bench": "stream",
            "world": "text",
            "seeds": 2,
            "tasks_in_a_row": 1,
            "tries": 1,
            "agent": "rules",
        }
        shared = {"kind": "try", "place": 0, "nth": 1, "actions": ["x"], "unknown": 0, "looped": False, "used": 0}
        shared |= {"recalled": 0, "acting_ms": 1.0, "learning_ms": 1.0}
        lines = [head]
        for seed, (retried, remembered) in enumerate(seeds):
            lines += [{**shared, "row": "retry", "seed": seed, "succeeded": retried}]
            lines += [{**shared, "row": "reme", "seed": seed, "succeeded": remembered}]
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
        return read_streams(path).winners

    assert made([(False, True)] * 6) == ("reme",)
    assert made([(False, True), (True, False), (False, True)] * 2) == ()
    assert made([(True, False)] * 6) == ()


def test_tables_page_and_json_say_the_same(log: Path) -> None:
    made = read_streams(log)
    text, page = shown(made), stream_page(made)
    for row in made.rows:
        assert row.name in text
        assert f'<th scope="row">{row.name}</th>' in page
        assert f"{100 * row.done.mean:.1f}" in page
    assert '<polyline class="curve dim dashed"' in page
    assert "http://" not in page
    assert len(json.loads(json.dumps(record(made)))["rows"]) == 3
    assert "| memory |" in shown(made, markdown=True)


def test_too_few_seeds_have_no_interval_and_nobody_is_clear_of_retry(log: Path) -> None:
    made = read_streams(log)
    assert made.winners == ()
    assert all(math.isnan(row.done.low) and math.isnan(row.done.high) for row in made.rows)
    text, page = shown(made), stream_page(made)
    for line in text.splitlines()[2:5]:
        assert line.endswith("  -"), "neither yes nor no"
        assert "[-]" in line
    assert "Too few seeds" in text
    assert "nan" not in page
    assert "lie above retry" not in text
    rows = json.loads(json.dumps(record(made)))["rows"]
    assert [row["clear_of_retry"] for row in rows] == [None] * 3


def test_what_a_curve_draws_is_said_in_words(log: Path) -> None:
    made = read_streams(log)
    for row in made.rows:
        if row.name != "retry":
            first = f"{row.name}: done, %, part by part. {row.name}: 1: {100 * row.curve[0].mean:.1f}, 2: "
            assert f'aria-label="{first}' in stream_page(made)


def test_a_log_that_was_cut_short_says_so(log: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_text("".join(log.read_text("utf-8").splitlines(keepends=True)[:-4]), "utf-8")
    assert "cut short" in shown(read_streams(short))


def test_a_log_is_never_overwritten_and_another_is_no_log_of_streams(log: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="exists"):
        run_streams(world("tools"), StreamPlan(rows=("none",), seeds=1, tasks=1, tries=1), log)
    with pytest.raises(NotFound):
        read_streams(tmp_path / "none.jsonl")
    other = tmp_path / "other.jsonl"
    other.write_text('{"kind": "run", "bench": "capacity"}\n', "utf-8")
    with pytest.raises(Invalid, match="no log of `bench stream`"):
        read_streams(other)


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"tasks": 0}, {"tries": 0}, {"rows": ("none", "none")}])
def test_a_plan_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        StreamPlan(**{"rows": ("none",), "seeds": 1, "tasks": 1, "tries": 1, **wrong})


def test_there_is_no_world_of_another_name() -> None:
    with pytest.raises(Invalid, match="no world"):
        world("moon")
