"""Small made-up samples of every data set, each in the form that it is published in: what its task is tried on.

All words are ours, chosen by a seed: people who tell an assistant, or each other, one everyday thing at a time, and
talk about the weather in between. They try readers and metrics; a figure on them says nothing about a memory.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

ENGLISH: Final = "en"
CHINESE: Final = "zh"

_TOPICS: Final[Mapping[str, Mapping[str, tuple[str, str, str]]]] = {
    ENGLISH: {
        "dog": ("I adopted a dog and called it {}.", "What did I call my dog?", "Biscuit Pepper Comet Waffle Domino"),
        "town": ("We have moved house, to {}.", "Which town did we move to?", "Utrecht Porto Leeds Graz Aarhus"),
        "dish": (
            "For the guests I cooked {} myself.", "What did I cook for the guests?",
            "lasagne goulash paella ramen moussaka",
        ),
        "course": (
            "I signed up for an evening course in {}.", "Which evening course did I sign up for?",
            "pottery welding archery calligraphy beekeeping",
        ),
        "price": ("The new bicycle cost {} euros.", "How much did my bicycle cost?", "840 615 1290 455 970"),
        "cousin": (
            "My cousin {} stays with us until Sunday.", "Which cousin stayed with us?",
            "Imre Salome Tadeo Brigid Anselm",
        ),
        "allergy": (
            "The doctor says that I must not eat {} any more.", "What must I not eat?",
            "walnuts shellfish celery sesame lupins",
        ),
        "instrument": (
            "In the attic I found grandfather's {}.", "Which instrument did I find in the attic?",
            "accordion clarinet mandolin trombone zither",
        ),
    },
    CHINESE: {
        "dog": ("我领养了一只小狗，给它取名叫{}。", "我的小狗叫什么名字？", "豆豆 雪球 可可 团团 米粒"),
        "town": ("我们搬家了，搬到了{}。", "我们搬到了哪座城市？", "苏州 厦门 昆明 青岛 长沙"),
        "dish": ("招待客人的时候我亲手做了{}。", "我给客人做了什么菜？", "红烧肉 酸菜鱼 宫保鸡丁 狮子头 麻婆豆腐"),
        "course": ("我报名参加了{}夜校班。", "我报名了什么夜校班？", "陶艺 射箭 书法 养蜂 木工"),
        "price": ("新自行车花了{}元。", "我的自行车花了多少钱？", "2400 3150 1980 2760 3320"),
        "cousin": ("表弟{}要在我家住到星期天。", "哪个表弟住在我家？", "子涵 浩然 明轩 思远 嘉树"),
        "allergy": ("医生说我不能再吃{}了。", "我不能吃什么？", "核桃 虾蟹 芹菜 芝麻 芒果"),
        "instrument": ("我在阁楼里找到了爷爷的{}。", "我在阁楼里找到了什么乐器？", "手风琴 单簧管 二胡 长号 古筝"),
    },
}  # fmt: skip
"""What people tell: how, how it is asked for, and what it may be; the same topics in each language."""

_TALK: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    ENGLISH: (
        (
            "It rained the whole afternoon again.",
            "The tram was late, as always.",
            "I slept badly and had too much coffee.",
            "We went for a walk along the canal.",
            "Work was quiet, thankfully.",
            "The neighbours are painting their fence.",
        ),
        (
            "That sounds like a day to stay inside.",
            "I see. What will you do tomorrow?",
            "Thank you for telling me.",
            "That happens to the best of us.",
            "How nice. Anything else?",
        ),
    ),
    CHINESE: (
        (
            "今天下午又下雨了。",
            "电车跟平时一样晚点。",
            "昨晚没睡好，咖啡喝多了。",
            "我们沿着运河散了散步。",
            "今天工作不忙，挺好的。",
            "邻居正在刷篱笆。",
        ),
        (
            "听起来适合待在家里。",
            "明白了，明天打算做什么？",
            "谢谢你告诉我。",
            "谁都会遇到这种事。",
            "真不错，还有别的吗？",
        ),
    ),
}
"""What is said in between: by people, by an assistant."""

_NEVER: Final = {ENGLISH: "What did I call my parrot?", CHINESE: "我的鹦鹉叫什么名字？"}
_NAMES: Final = {ENGLISH: ("Orla", "Matteo"), CHINESE: ("林晓", "陈桐")}
_START: Final = date(2024, 3, 4)
ADVICE: Final = "You might try the café {} behind the station."
_CAFES: Final = ("Kestrel", "Juniper", "Halyard", "Plover")


@dataclass(frozen=True, slots=True)
class MadeFact:
    """One thing that somebody tells: in words, how it is asked for, and the answer."""

    topic: str
    told: str
    asked: str
    answer: str


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A pair of lines, and what is told in the first; None for talk about the weather."""

    said: str
    reply: str
    fact: MadeFact | None = None


class MadeLife:
    """What one person tells, a day at a time; the same seed gives the same life."""

    def __init__(self, seed: str, language: str = ENGLISH) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - made-up text, not a secret
        self._language = language

    def facts(self) -> list[MadeFact]:
        """One thing of every topic, in any order."""
        topics = _TOPICS[self._language]
        chosen = [
            MadeFact(topic, told.format(value := self._chance.choice(values.split())), asked, value)
            for topic, (told, asked, values) in topics.items()
        ]
        self._chance.shuffle(chosen)
        return chosen

    def later(self, fact: MadeFact) -> MadeFact:
        """The same topic with another answer."""
        told, asked, values = _TOPICS[self._language][fact.topic]
        other = self._chance.choice([value for value in values.split() if value != fact.answer])
        return MadeFact(fact.topic, told.format(other), asked, other)

    def day(self, *facts: MadeFact, turns: int = 4) -> list[MadeTurn]:
        """A sitting in which these things are told, each once, in this order."""
        lines, replies = _TALK[self._language]
        places = sorted(self._chance.sample(range(turns), len(facts)))
        told = dict(zip(places, facts, strict=True))
        return [
            MadeTurn(
                fact.told if (fact := told.get(n)) else self._chance.choice(lines), self._chance.choice(replies), fact
            )
            for n in range(turns)
        ]

    def choice(self, values: Sequence[str]) -> str:
        """One of some values."""
        return self._chance.choice(values)

    def place(self, among: int) -> int:
        """A place among so many others, before all or behind all too."""
        return self._chance.randrange(among + 1)


_MARK: Final = "MADE_UP.txt"
_MARKED: Final = "Made up by `mnemic bench samples`: a figure on this data says nothing about a memory.\n"


def lies_in_a_sample(where: Path) -> bool:
    """Whether data is a sample of ours, by the mark in its folder or one above."""
    return where != Path() and any((place / _MARK).is_file() for place in (where, *where.absolute().parents))


def write_samples(folder: Path, seed: int = 0) -> list[Path]:
    """Write a sample of every data set below a folder, each in a folder of its task's name with a mark that it is made
    up, and tell which.

    Args:
        seed: The same one gives the same files.
    """
    written = []
    for make in (
        _longmemeval,
        _longmemeval_m,
        _gvd,
        _dmr,
        _memdaily,
        _beam,
        _memory_agent_bench,
        _locomo,
        _passages,
    ):
        for name, content in make(seed):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            (folder / Path(name).parts[0] / _MARK).write_text(_MARKED, encoding="utf-8")
            written.append(path)
    return written


Files = Iterator[tuple[str, str]]
"""Paths below the folder, and what they hold."""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _lines(records: Sequence[object]) -> str:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def _day(n: int) -> date:
    return _START + timedelta(days=n)


# LongMemEval


def _longmemeval(seed: int) -> Files:
    yield (
        "longmemeval/longmemeval_s_made.json",
        _json([entry for n in range(3) for entry in _haystacks(f"{seed}/{n}", 8)]),
    )


def _longmemeval_m(seed: int) -> Files:
    yield "longmemeval-m/longmemeval_m_made.json", _json(_haystacks(f"{seed}/m", 40))


def _haystacks(seed: str, sessions: int) -> list[dict[str, Any]]:
    """A question of every type, each with a history of its own."""
    makers: Mapping[str, Callable[[MadeLife], tuple[str, str, list[list[MadeTurn]]]]] = {
        "single-session-user": _told_once,
        "single-session-assistant": _advised,
        "single-session-preference": _preferred,
        "multi-session": _counted,
        "temporal-reasoning": _between,
        "knowledge-update": _updated,
        "abstention": _never_told,
    }
    return [_haystack(f"{seed}/{kind}", kind, make, sessions) for kind, make in makers.items()]


def _haystack(
    seed: str, kind: str, make: Callable[[MadeLife], tuple[str, str, list[list[MadeTurn]]]], sessions: int
) -> dict[str, Any]:
    life = MadeLife(seed)
    question, answer, telling = make(life)
    held = [(f"answer_{n}", turns) for n, turns in enumerate(telling)]
    for n in range(sessions - len(telling)):
        held.insert(life.place(len(held)), (f"other_{n}", life.day(turns=3)))
    id = f"made-{seed.replace('/', '-')}{'_abs' if kind == 'abstention' else ''}"
    return {
        "question_id": id,
        "question_type": "single-session-user" if kind == "abstention" else kind,
        "question": question,
        "answer": answer,
        "question_date": f"{_day(sessions + 1):%Y/%m/%d (%a)} 10:00",
        "haystack_dates": [f"{_day(n):%Y/%m/%d (%a)} 18:30" for n in range(len(held))],
        "haystack_session_ids": [f"{name}_{id}" for name, _ in held],
        "haystack_sessions": [_chat(turns, name.startswith("answer")) for name, turns in held],
        "answer_session_ids": [f"{name}_{id}" for name, _ in held if name.startswith("answer")],
    }


def _chat(turns: Sequence[MadeTurn], answers: bool) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for turn in turns:
        advised = "café" in turn.reply
        marks = {"has_answer": True} if answers and turn.fact is not None else {}
        lines.append({"role": "user", "content": turn.said, **({} if advised else marks)})
        lines.append({"role": "assistant", "content": turn.reply, **(marks if advised else {})})
    return lines


def _told_once(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    fact = life.facts()[0]
    return fact.asked, fact.answer, [life.day(fact)]


def _advised(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    cafe = life.choice(_CAFES)
    advice = MadeFact("café", "Where could I read in peace?", "Which café did you recommend to me?", cafe)
    return advice.asked, cafe, [[MadeTurn(advice.told, ADVICE.format(cafe), advice)]]


def _preferred(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    fact = next(fact for fact in life.facts() if fact.topic == "allergy")
    return "What could I eat tonight?", f"Something without {fact.answer}.", [life.day(fact)]


def _counted(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    first = next(fact for fact in life.facts() if fact.topic == "course")
    return "How many evening courses did I sign up for?", "two", [life.day(first), life.day(life.later(first))]


def _between(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    by_topic = {fact.topic: fact for fact in life.facts()}
    asked = "Which came first: moving house, or the dog that I adopted?"
    return asked, "moving house", [life.day(by_topic["town"]), life.day(by_topic["dog"])]


def _updated(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    fact = next(fact for fact in life.facts() if fact.topic == "town")
    now = life.later(fact)
    return "Which town do we live in now?", now.answer, [life.day(fact), life.day(now)]


def _never_told(life: MadeLife) -> tuple[str, str, list[list[MadeTurn]]]:
    fact = next(fact for fact in life.facts() if fact.topic == "dog")
    return _NEVER[ENGLISH], "You told me of a dog, and of no parrot.", [life.day(fact)]


# MemoryBank


def _gvd(seed: int) -> Files:
    for language, end in ((ENGLISH, "en"), (CHINESE, "cn")):
        bank, asked, evidence = {}, [], []
        for name in _NAMES[language]:
            life = MadeLife(f"{seed}/{name}", language)
            facts = life.facts()
            days = {str(_day(n)): life.day(fact) for n, fact in enumerate(facts)}
            history = {day: [{"query": t.said, "response": t.reply} for t in turns] for day, turns in days.items()}
            bank[name] = {"name": name, "summary": {}, "personality": {}, "overall_history": "", "history": history}
            asked.append({name: [fact.asked for fact in facts]})
            for n, (day, turns) in enumerate(days.items()):
                gold = [f"{day}#{pos}u" for pos, turn in enumerate(turns) if turn.fact is not None]
                evidence.append({"users": [name], "question": n, "gold": gold})
            asked[-1][name].append(_NEVER[language])
            evidence.append({"users": [name], "question": len(facts), "gold": []})
        folder = f"gvd-{language}"
        yield f"{folder}/memory_bank_{end}.json", _json(bank)
        yield f"{folder}/probing_questions_{end}.jsonl", _lines(asked)
        yield f"{folder}/evidence.jsonl", _lines(evidence)


# MSC


def _dmr(seed: int) -> Files:
    rows = []
    for n in range(8):
        life = MadeLife(f"{seed}/{n}")
        facts = life.facts()[:5]
        sittings = [[{"text": line} for turn in life.day(fact) for line in (turn.said, turn.reply)] for fact in facts]
        asked = facts[n % 4]
        question = f"Hey, do you remember what we once talked about? {asked.asked}"
        rows.append(
            {
                "personas": [["I like to talk."], ["I like to listen."]],
                "previous_dialogs": [
                    {"dialog": turns, "time_num": 4 - k, "time_unit": "days", "time_back": f"{4 - k} days ago"}
                    for k, turns in enumerate(sittings[:4])
                ],
                "dialog": [{"text": turn["text"], "id": f"Speaker {k % 2 + 1}"} for k, turn in enumerate(sittings[4])],
                "metadata": {"initial_data_id": f"made_{n}", "session_id": 4},
                "self_instruct": {"B": question, "A": f"{asked.answer}!"},
            }
        )
    yield "dmr/msc_self_instruct_made.jsonl", _lines(rows)


# MemDaily


def _memdaily(seed: int) -> Files:
    kinds = ("simple", "conditional", "comparative", "aggregative", "post_processing", "noisy")
    made: dict[str, dict[str, list[object]]] = {kind: {"roles": [], "events": []} for kind in kinds}
    for kind, scenes in made.items():
        for scene, trajectories in scenes.items():
            trajectories += [_trajectory(f"{seed}/{kind}/{scene}/{n}", kind, n) for n in range(2)]
    yield "memdaily/memdaily_made.json", _json(made)


def _trajectory(seed: str, kind: str, n: int) -> dict[str, Any]:
    life = MadeLife(seed, CHINESE)
    facts = life.facts()
    wanted = facts[:2] if kind in ("comparative", "aggregative") else facts[:1]
    lines = [line for fact in facts[:5] for line in (fact.told, life.day(turns=1)[0].said)]
    asked = "".join(fact.asked.rstrip("？") + "，" for fact in wanted).rstrip("，") + "？"
    choices = [life.later(wanted[0]).answer for _ in range(3)]
    return {
        "tid": n,
        "message_list": [
            {
                "mid": k,
                "message": line,
                "time": f"{_day(k):%Y年%m月%d日} 周{'一二三四五六日'[k % 7]} 08:30",
                "place": "杭州",
            }
            for k, line in enumerate(lines)
        ],
        "QA": {
            "qid": 0,
            "question": asked,
            "answer": "、".join(fact.answer for fact in wanted),
            "target_step_id": [lines.index(fact.told) for fact in wanted],
            "choices": dict(zip("ABCD", [wanted[0].answer, *choices], strict=True)),
            "ground_truth": "A",
            "time": f"{_day(len(lines)):%Y年%m月%d日} 周一 10:00",
        },
    }


# BEAM


def _beam(seed: int) -> Files:
    for number in (1, 2):
        life = MadeLife(f"{seed}/beam/{number}")
        facts = life.facts()
        rule = MadeFact(
            "rule", "Always give me prices in pounds, too.", "What would a second bicycle cost?", "in pounds"
        )
        changed = life.later(facts[0])
        batches, places = _batches(
            [life.day(rule, facts[0], turns=6), life.day(*facts[1:4]), life.day(changed, facts[4])]
        )
        folder = f"beam/chats/made/{number}"
        yield f"{folder}/chat.json", _json(batches)
        questions = _probing(facts, rule, changed, places)
        yield f"{folder}/probing_questions/probing_questions.json", _json(questions)


def _batches(days: Sequence[Sequence[MadeTurn]]) -> tuple[list[object], dict[str, int]]:
    """The batches of a chat, and the id of the message that tells each thing."""
    batches, places, id = list[object](), dict[str, int](), 0
    for n, day in enumerate(days, start=1):
        turns: list[object] = []
        for k, turn in enumerate(day):
            anchor = {"time_anchor": f"{_day(n * 9):%B-%d-%Y}"} if k == 0 else {}
            if turn.fact is not None:
                places[turn.fact.told] = id
            said = {"role": "user", "id": id, **anchor, "index": f"{n},{k}", "content": f"{turn.said} ->-> {n},{k}"}
            turns.append([said, {"role": "assistant", "id": id + 1, "content": turn.reply}])
            id += 2
        batches.append({"batch_number": n, "turns": turns})
    return batches, places


def _probing(
    facts: Sequence[MadeFact], rule: MadeFact, changed: MadeFact, places: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]]:
    at = [places[fact.told] for fact in facts[:5]]
    several = {"answer": ", ".join(fact.answer for fact in facts[1:4]), "source_chat_ids": at[1:4]}
    update = {"original_info": [at[0]], "updated_info": [places[changed.told]]}
    both = {"first_statement": [at[0]], "second_statement": [places[changed.told]]}
    return {
        "abstention": [{"question": "What is my parrot called?", "ideal_response": "The chat does not say."}],
        "contradiction_resolution": [{"question": facts[0].asked, "ideal_answer": "Both.", "source_chat_ids": both}],
        "event_ordering": [{"question": "In which order did I tell you of things?", **several}],
        "information_extraction": [{"question": facts[1].asked, "answer": facts[1].answer, "source_chat_ids": at[1:2]}],
        "instruction_following": [
            {"question": rule.asked, "expected_compliance": rule.answer, "source_chat_ids": [places[rule.told]]}
        ],
        "knowledge_update": [{"question": facts[0].asked, "answer": changed.answer, "source_chat_ids": update}],
        "multi_session_reasoning": [
            {"question": f"{facts[1].asked} {facts[4].asked}", "answer": facts[4].answer, "source_chat_ids": at[1::3]}
        ],
        "preference_following": [{"question": facts[2].asked, "answer": facts[2].answer, "source_chat_ids": at[2:3]}],
        "summarization": [{"question": "What have we talked about?", **several}],
        "temporal_reasoning": [{"question": facts[3].asked, "answer": facts[3].answer, "source_chat_ids": at[3:4]}],
    }


# MemoryAgentBench


def _memory_agent_bench(seed: int) -> Files:
    lives = [MadeLife(f"{seed}/mab/{n}") for n in range(12)]
    told = [(life, life.facts()) for life in lives]
    yield "mab-retrieval/Accurate_Retrieval_made.jsonl", _lines([_documents(told)])
    yield "mab-learning/Test_Time_Learning_made.jsonl", _lines([_examples(lives)])
    yield "mab-long-range/Long_Range_Understanding_made.jsonl", _lines([_story(told)])
    yield "mab-conflict/Conflict_Resolution_made.jsonl", _lines([_conflicts(lives[0])])


def _row(
    source: str, context: str, asked: Sequence[tuple[str, list[str]]], keypoints: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "context": context,
        "questions": [question for question, _ in asked],
        "answers": [answers for _, answers in asked],
        "metadata": {
            "source": source,
            "qa_pair_ids": [f"{source}_no{n}" for n in range(len(asked))],
            "keypoints": keypoints,
        },
    }


def _documents(told: Sequence[tuple[MadeLife, list[MadeFact]]]) -> dict[str, Any]:
    topics = list(_TOPICS[ENGLISH])
    own = [(n, next(fact for fact in facts if fact.topic == topics[n % 8])) for n, (_, facts) in enumerate(told[:8])]
    around = [[turn.said for turn in life.day(turns=12)] for life, _ in told]
    documents = [f"Document {n + 1}:\n{' '.join([*around[n], fact.told])}" for n, fact in own]
    return _row("ruler_qa1_made", "\n\n".join(documents), [(fact.asked, [fact.answer]) for _, fact in own])


def _examples(lives: Sequence[MadeLife]) -> dict[str, Any]:
    labels = {topic: n for n, topic in enumerate(_TOPICS[ENGLISH])}
    examples = [f"{fact.told}\nlabel: {labels[fact.topic]}" for life in lives[1:] for fact in life.facts()]
    asked = [(fact.told, [str(labels[fact.topic])]) for fact in lives[0].facts()]
    return _row("icl_made_88shot", "\n\n".join(examples), asked)


def _story(told: Sequence[tuple[MadeLife, list[MadeFact]]]) -> dict[str, Any]:
    text = "\n".join(" ".join(turn.said for turn in life.day(*facts[:3], turns=24)) for life, facts in told)
    points = [f"Somebody says: {facts[0].told}" for _, facts in told[::3]]
    return _row("infbench_sum_made", text, [("Tell the whole story in a few lines.", ["They all talk."])], points)


def _conflicts(life: MadeLife) -> dict[str, Any]:
    facts = [(name, fact) for name in ("Orla", "Matteo", "Sefa") for fact in life.facts()]
    again = [(name, life.later(fact)) for name, fact in facts[::2]]
    others = [(f"neighbour {n}", fact) for n in range(12) for fact in life.facts()[:4]]
    told = (*facts, *others, *again)
    lines = [f"{n}. The {fact.topic} of {name} is {fact.answer}." for n, (name, fact) in enumerate(told)]
    asked = [(f"What is the {fact.topic} of {name}?", [fact.answer]) for name, fact in (*again, *facts[1::2])]
    return _row("factconsolidation_sh_made", "\n".join(["Here is a list of facts:", *lines]), asked)


# LoCoMo, and passages


def _locomo(seed: int) -> Files:
    life = MadeLife(f"{seed}/locomo")
    facts = life.facts()
    talk: dict[str, Any] = {"speaker_a": "Orla", "speaker_b": "Matteo"}
    places: dict[str, str] = {}
    for n, fact in enumerate(facts, start=1):
        talk[f"session_{n}_date_time"] = f"6:30 pm on {_day(n).day} {_day(n):%B, %Y}"
        turns: list[dict[str, str]] = []
        for turn in life.day(fact):
            for who, text in (("Orla", turn.said), ("Matteo", turn.reply)):
                turns.append({"speaker": who, "dia_id": f"D{n}:{len(turns) + 1}", "text": text})
            if turn.fact is not None:
                places[fact.told] = turns[-2]["dia_id"]
        talk[f"session_{n}"] = turns
    asked = [
        {"question": fact.asked.replace(" I ", " Orla "), "answer": fact.answer, "evidence": [places[fact.told]],
         "category": n % 4 + 1}
        for n, fact in enumerate(facts)
    ]  # fmt: skip
    never = {
        "question": "What did Matteo call his parrot?",
        "adversarial_answer": "Biscuit",
        "evidence": [],
        "category": 5,
    }
    yield "locomo/locomo_made.json", _json([{"sample_id": "made-1", "conversation": talk, "qa": [*asked, never]}])


def _passages(seed: int) -> Files:
    chance = random.Random(f"{seed}/passages")  # noqa: S311 - made-up text, not a secret
    towns = _TOPICS[ENGLISH]["town"][2].split()
    people = ("Petra Lindqvale", "Anselm Okoro", "Brigid Varga", "Tadeo Marsh", "Salome Finch")
    works = ("Hollow Reed", "The Ninth Ferry", "Salt and Slate", "A Lamp for Winter", "Quiet Gravel")
    docs, asked = [], []
    for n, (work, person) in enumerate(zip(works, people, strict=True)):
        town = chance.choice(towns)
        for k, (title, text) in enumerate(
            ((work, f"{work} is a film that {person} directed."), (person, f"{person} grew up in {town}."))
        ):
            docs.append(
                {"type": "doc", "ns": "films", "id": f"p{2 * n + k}", "session": title, "pos": 0, "ts": "",
                 "speaker": title, "text": text}
            )  # fmt: skip
        asked.append(
            {"type": "query", "ns": "films", "id": f"q{n}", "text": f"Where did the director of {work} grow up?",
             "answer": town, "category": "2 hops", "gold": [f"p{2 * n}", f"p{2 * n + 1}"], "gold_sessions": []}
        )  # fmt: skip
    yield "multihop/multihop_made.jsonl", _lines([*docs, *asked])
