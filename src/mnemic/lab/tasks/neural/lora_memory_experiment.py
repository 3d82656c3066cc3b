"""Facts learnt as adapters: asked as taught and otherwise, about others, in the engine; and users' adapters swapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.engine_oracle import Engine
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan, loosened
from mnemic.lab.tasks.neural.personas import Persona, neutral_text, persona_names
from mnemic.models.chat.gguf import smollm2_weights
from mnemic.neural import base
from mnemic.neural.kv_memory import KVMemory, KVSettings, common_run
from mnemic.neural.llama import BARE, Entries
from mnemic.neural.lora_memory import LoraMemory, LoraSettings

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

_SAID: Final = 16
"""Tokens of an answer."""
QUICK_STEPS: Final = 16
"""At most so many steps of few facts, in a quick run."""
QUICK_LEARNT: Final = 0.05
"""Mean loss of a pass at which a quick run has learnt: every word of an answer is likely by then."""
SAID_OF_OTHERS: Final = 0.4
"""Most of one's own facts in answers about others, in a quick run: the control that shows .90 is in full runs only."""


def lora_settings(plan: ExperimentPlan, shards: int = 1) -> LoraSettings:
    """The product's own settings, with the seed of a run; a quick one learns for fewer steps."""
    settings = replace(LoraSettings(seed=plan.seed), shards=shards)
    return replace(settings, least=QUICK_STEPS, learnt=QUICK_LEARNT) if plan.quick else settings


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Learn one user's facts, and the same without rehearsing: what each answers, and what it has forgotten."""
    persona = Persona(persona_names(plan.seed)[0], 3 if plan.quick else 20, seed=plan.seed)
    model = plan.open_model()
    memory, count = LoraMemory(model, lora_settings(plan)), len(persona.values)
    plan.progress(f"{count} facts")
    began = process_time()
    state = memory.write(persona.facts(), memory.empty())
    yield Figure(name=f"{count} facts learnt", value=process_time() - began, unit="CPU-s",
                 bar=None if plan.quick else 150)  # fmt: skip
    yield Figure(name="their adapter", value=len(base.packed(state, memory.identity)) / 1e6, unit="MB", bar=2.0)
    ways = {"": (memory.attach(state), ""), "control, no adapter": (BARE, "")}
    if not plan.quick:
        ways["control, the facts in the prompt"] = (BARE, persona.facts_prompt())
        plan.progress("the same without rehearsing")
        bare = LoraMemory(model, replace(lora_settings(plan), others_weight=0, sentences_weight=0))
        ways["control, without rehearsing"] = (bare.attach(bare.write(persona.facts(), bare.empty())), "")
    yield from _compared(plan, model, persona, ways)
    yield from _in_the_engine(plan, persona, memory, state)


def _answers(model: TextModel, questions: Sequence[str], entries: Entries, told: str) -> list[str]:
    """What is said to each question; what is told beforehand is read once, and its keys are kept for all."""
    if not told:
        return model.answers(questions, entries, _SAID)
    prompts = [model.prompt(("system", told), ("user", question)) for question in questions]
    shared = min(common_run(prompts[0], prompt) for prompt in prompts)
    kept = KVMemory(model, KVSettings("float32"))
    state = kept.write(kept.tokens(prompts[0][:shared]), kept.empty())
    said: dict[int, str] = {}
    for length in sorted({len(prompt) for prompt in prompts}):
        alike = [n for n, prompt in enumerate(prompts) if len(prompt) == length]
        rows, rest = kept.attach(state, len(alike)), [prompts[n][shared:] for n in alike]
        made = model.decoder.generate(rest, _SAID, frozenset({model.end}), rows)
        said |= {n: model.answer(ids) for n, ids in zip(alike, made, strict=True)}
    return [said[n] for n in range(len(prompts))]


def _compared(
    plan: ExperimentPlan, model: TextModel, persona: Persona, ways: Mapping[str, tuple[Entries, str]]
) -> Iterator[Figure | CurvePoint]:
    """What each way answers; the one without a name is the memory, and is held against the bars."""
    bare = model.perplexity(neutral_text())
    for way, (entries, told) in ways.items():
        plan.progress(way or "asked")
        front, curve = f"{way}: " if way else "", way.removeprefix("control, ") or "adapter"
        for name, asked, bar in (
            ("asked as taught", persona.taught(), 0.95),
            ("asked in other words", persona.unseen(), 0.80),
        ):
            share = persona.share(asked, _answers(model, [question for _, question in asked], entries, told))
            yield Figure(name=f"{front}{name}", value=share, unit=f"of {len(asked)}", bar=None if way else bar,
                         more=True)  # fmt: skip
            yield CurvePoint(curve, name, share)
        asked = persona.of_others()
        answers = _answers(model, [question for _, question in asked], entries, told)
        leaked = persona.leaked(answers)
        figure = Figure(name=f"{front}asked about others, any of these facts said", value=leaked,
                        unit=f"of {len(asked)}", bar=None if way else 0.10)  # fmt: skip
        yield loosened(plan, figure, SAID_OF_OTHERS)
        yield CurvePoint(curve, "said of others", leaked)
        if not way:
            yield Figure(name="of these, the fact that was asked for", value=persona.share(asked, answers),
                         unit=f"of {len(asked)}")  # fmt: skip
        if told:
            continue  # what is told is no change of the model
        kept = 1.0 if entries is BARE else bare / model.perplexity(neutral_text(), entries)
        yield Figure(name=f"{front}perplexity of a neutral text", value=(1 / kept - 1) * 100, unit="% more",
                     bar=None if way else 12)  # fmt: skip
        yield CurvePoint(curve, "neutral text kept", kept)


def _in_the_engine(plan: ExperimentPlan, persona: Persona, memory: LoraMemory, state: base.State) -> Iterator[Figure]:
    plan.progress("in the chat engine")
    file, gguf, asked = plan.folder / "adapter.gguf", smollm2_weights(), persona.taught()
    memory.write_gguf(state, 0, file)
    with Engine(gguf, [file]) as engine, Engine(gguf) as bare:
        weighed = [engine.answer(question, [1.0])[0] for _, question in asked]
        nothing = [engine.answer(question, [0.0]) for _, question in asked]
        plain = [bare.answer(question) for _, question in asked]
    count = len(asked)
    right, at_zero = (round(persona.share(asked, said) * count) for said in (weighed, [text for text, _ in nothing]))
    yield Figure(name="right in the engine, by free generation", value=right, unit=f"of {count}",
                 bar=count * 0.9, more=True)  # fmt: skip
    yield Figure(name="right in the engine at weight 0", value=at_zero, unit=f"of {count}", bar=0)
    same = sum(one == other for one, other in zip(nothing, plain, strict=True))
    yield Figure(name="answers and their probabilities at weight 0 equal to the bare engine's", value=same,
                 unit=f"of {count}", bar=count, more=True)  # fmt: skip


def measure_users(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Three users' adapters, two in a quick run, swapped for each question: none says what another's has learnt.

    Each is asked about the other users, too, and about strangers; in a full run beside an adapter of the first that
    was learnt without rehearsing the others' questions.
    """
    model, names = plan.open_model(), persona_names(plan.seed)[: 2 if plan.quick else 3]
    users = [Persona(name, 3 if plan.quick else 20, seed=plan.seed) for name in names]
    adapters = _learnt_by(plan, model, users, lora_settings(plan))
    yield from _swapped(plan, model, adapters)
    yield from _said_of_others(plan, model, adapters, names, "")
    if not plan.quick:
        plan.progress("one of them without the others' questions")
        careless = _learnt_by(plan, model, users[:1], replace(lora_settings(plan), others_weight=0))
        yield from _said_of_others(plan, model, careless, names, "control, without the others' questions: ")
    yield from _said_of_others(plan, model, dict.fromkeys(users, BARE), names, "control, no adapter: ")


def _learnt_by(
    plan: ExperimentPlan, model: TextModel, users: Sequence[Persona], settings: LoraSettings
) -> dict[Persona, Entries]:
    """An adapter for each user, each also in a file as the engine loads it (`_file_of`)."""
    memory, adapters = LoraMemory(model, settings), dict[Persona, Entries]()
    for number, user in enumerate(users, 1):
        plan.progress(f"the facts of {user.name}, {number} of {len(users)}")
        state = memory.write(user.facts(), memory.empty())
        memory.write_gguf(state, 0, _file_of(plan, user))
        adapters[user] = memory.attach(state)
    return adapters


def _file_of(plan: ExperimentPlan, user: Persona) -> Path:
    return plan.folder / f"{user.name}.gguf"


def _swapped(
    plan: ExperimentPlan, model: TextModel, adapters: Mapping[Persona, Entries]
) -> Iterator[Figure | CurvePoint]:
    """What each user is answered by the one engine of all of them, who ask the same in turn, each by their own adapter.

    A prompt's state that was kept from who asked before, or a weight that stayed, has another's facts said: so many as
    the control says them, in which the adapter of who asked before is weighed in.
    """
    plan.progress("in one engine, each asking in turn")
    users = list(adapters)
    one_hot = {user: [float(one is user) for one in users] for user in users}
    before = dict(zip(users, [users[-1], *users[:-1]], strict=True))
    said: dict[tuple[Persona, bool], list[str]] = {}
    with Engine(smollm2_weights(), [_file_of(plan, user) for user in users]) as engine:
        for is_stale in (False, True):
            for turn in zip(*(user.taught() for user in users), strict=True):
                for user, (_, question) in zip(users, turn, strict=True):
                    weights = one_hot[before[user] if is_stale else user]
                    said.setdefault((user, is_stale), []).append(engine.answer(question, weights)[0])
    own = [user.share(user.taught(), said[user, False]) for user in users]
    for number, user in enumerate(users, 1):
        yield CurvePoint("own adapter: own facts said", f"user {number}", own[number - 1])
        yield CurvePoint(
            "own adapter: another's facts said", f"user {number}", _others_said(user, users, said[user, False])
        )
        yield CurvePoint("another's adapter: own facts said", f"user {number}", _by_others(model, user, adapters))
    count = f"of {sum(len(user.values) for user in users)}"
    yield Figure(name="adapters swapped: own facts said", value=_mean(own), unit=count, bar=0.95, more=True)
    for name, is_stale in (("adapters swapped: another's facts said", False),
                           ("control, the adapter of who asked before: another's facts said", True)):  # fmt: skip
        leaked = _mean([_others_said(user, users, said[user, is_stale]) for user in users])
        yield Figure(name=name, value=leaked, unit=count, bar=None if is_stale else 0)


def _others_said(user: Persona, users: Sequence[Persona], answers: Sequence[str]) -> float:
    """The largest share of answers to a user that hold facts of one other user, and none of theirs."""
    foreign = [answer for answer in answers if not user.leaked([answer])]
    return max(
        one.leaked(foreign) * len(foreign) / len(answers) if foreign else 0.0 for one in users if one is not user
    )


def _said_of_others(
    plan: ExperimentPlan, model: TextModel, adapters: Mapping[Persona, Entries], users: Sequence[str], front: str
) -> Iterator[Figure]:
    """Share of answers about the other users, and about strangers, that hold a fact of whose adapter it is."""
    for whom, names in (("the other users", [name.capitalize() for name in users]), ("strangers", None)):
        leaked, count = list[float](), 0
        for user, entries in adapters.items():
            asked = user.of_others(names and [name for name in names if name != user.name.capitalize()])
            leaked.append(user.leaked(model.answers([question for _, question in asked], entries)))
            count += len(asked)
        figure = Figure(name=f"{front}asked about {whom}, any of one's own facts said", value=_mean(leaked),
                        unit=f"of {count}", bar=None if front else 0.10)  # fmt: skip
        yield loosened(plan, figure, SAID_OF_OTHERS)


def _by_others(model: TextModel, user: Persona, adapters: Mapping[Persona, Entries]) -> float:
    """The largest share of a user's questions that anybody else's adapter answers with the user's facts."""
    asked = user.taught()
    questions = [question for _, question in asked]
    return max(
        user.share(asked, model.answers(questions, entries)) for one, entries in adapters.items() if one is not user
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
