"""Conversations and exports made up from a seed: words, lengths, names and dates are spread as people's are.

Words follow Zipf's law over a vocabulary of a few thousand: function words, then plain words, then
compounds of them for the long tail. Lengths are log-normal. Every eighth message is Chinese.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mnemic.ingest.message import Message

NAMES: Final = "Ada Noor Iker Mei Tomas Zuri Lena Omar Priya Jonas Yuki Sefa Marta Kofi Ines Bram 晓雨 建国"
_GRAMMAR: Final = (
    "the I a to and of it in my was for that with on we have at but is so you this me they just about when then after "
    "from her his our not be really some there what more out up because"
)
_PLAIN: Final = (
    "work home day time week friend garden music book train dinner coffee rain river city school sister brother doctor "
    "dog cat bike house kitchen window letter phone song film game market bread summer winter morning night year plan "
    "trip road beach hill forest boat bird tree stone paper colour light door table chair wall bridge street shop cake "
    "soup tea salt apple bean fish cheese rice wine glass cup plate knife bag coat shoe hat ring watch key coin card "
    "ticket map camera photo paint brush drum piano guitar dance team ball race goal prize party gift story dream idea"
)
_DOING: Final = (
    "went made found bought started finished visited cooked planted painted fixed lost moved called wrote read heard "
    "liked missed wanted tried learned sold built carried cleaned watched met joined left"
)
_CHINESE: Final = (
    "今天 昨天 周末 早上 晚上 我们 朋友 妈妈 同事 公司 学校 医院 公园 火车 飞机 咖啡 "
    "晚饭 面条 水果 音乐 电影 小说 花园 下雨 生日 旅行 上海 北京 杭州 搬家 上班 跑步 "
    "游泳 画画 弹琴 买了 去了 看了 喜欢 忘记 开始 决定 打算 学习 老师 医生 手机 照片 "
    "礼物 茶叶 房子 邻居 小狗 猫咪 自行车 图书馆"
)
_START: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)
_SITTING: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeQuestion:
    """A question and the text of the message it was made from."""

    text: str
    about: str


class Talk:
    """Generates one endless conversation; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - made-up text, not a secret
        self._names = NAMES.split()
        self._chinese = _CHINESE.split()
        self._words = vocabulary()
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, len(self._words) + 1)))

    def messages(self, n: int, prefix: str = "talk") -> Iterator[Message]:
        """The first `n` messages, `_SITTING` to a session, a session every day and a half or so."""
        said = _START
        pair = self._random.sample(self._names, 2)
        for i in range(n):
            pos = i % _SITTING
            said += timedelta(hours=self._random.uniform(12, 60)) if pos == 0 else timedelta(seconds=40)
            yield Message(
                text=self.text(said),
                key=f"{prefix}:{i}",
                said=said,
                session=f"s{i // _SITTING}",
                pos=pos,
                slots={"speaker": pair[i % 2]},
            )

    def text(self, said: datetime) -> str:
        """One message: a median of twenty words, seldom over a hundred; now and then a name, a number, a date."""
        length = min(max(round(self._random.lognormvariate(3.0, 0.7)), 3), 120)
        if self._random.random() < 1 / 8:
            return "".join(self._random.choices(self._chinese, k=max(length // 2, 3))) + "。"
        words = self._random.choices(self._words, cum_weights=self._weights, k=length)
        if self._random.random() < 0.4:
            words[self._random.randrange(length)] = self._random.choice(self._names)
        if self._random.random() < 0.2:
            words[self._random.randrange(length)] = str(self._random.randrange(2, 2_000))
        if self._random.random() < 0.1:
            words.append(f"on {said - timedelta(days=self._random.randrange(60)):%d %B %Y}")
        return " ".join(words).capitalize() + "."

    def question(self, messages: Sequence[Message]) -> MadeQuestion:
        """A question with the speaker's name and three to six words (in Chinese, a few characters) of one message."""
        about = self._random.choice(messages)
        text = about.text.rstrip(".。")
        if text.isascii() or " " in text:
            words = text.split()
            picked = " ".join(self._random.sample(words, min(len(words), self._random.randrange(3, 7))))
        else:
            start = self._random.randrange(max(len(text) - 11, 1))
            picked = text[start : start + self._random.randrange(4, 12)]
        return MadeQuestion(text=f"What did {about.slots['speaker']} say about {picked}?", about=about.text)


def vocabulary() -> list[str]:
    """About four thousand words, the most frequent first."""
    plain = _PLAIN.split()
    compounds = [first + second for first, second in itertools.product(plain[:64], plain[32:96]) if first != second]
    random.Random(0).shuffle(compounds)  # noqa: S311 - an order, not a secret
    return [*_GRAMMAR.split(), *_DOING.split(), *plain, *compounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One message of an export that must be remembered.

    Attributes:
        said: Seconds since 1970 UTC.
    """

    session: str
    role: str
    text: str
    said: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One conversation as ChatGPT exports it, and what of it was spoken on the branch that was open last, in order."""

    record: dict[str, Any]
    spoken: tuple[Spoken, ...]


def chatgpt_export(path: Path, seed: int, size: int) -> int:
    """Write the first of `chatgpt_conversations` to `path`, as many as make at least `size` bytes; returns how many."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for count, exported in enumerate(chatgpt_conversations(seed)):
            if written >= size:
                file.write("]")
                return count
            written += file.write(("," if count else "[") + json.dumps(exported.record))
    raise AssertionError("conversations never end")


def chatgpt_conversations(seed: int) -> Iterator[Exported]:
    """Endless conversations in ChatGPT's format; the same seed gives the same ones.

    Each has a hidden root, now and then a call to a tool with its answer, an image beside a question, and an answer
    that was asked for again: a branch that was left.
    """
    talk, rng = Talk(seed), random.Random(f"export:{seed}")  # noqa: S311 - made-up text, not a secret
    said = _START.timestamp()
    for number in itertools.count():
        said += rng.uniform(600, 40_000)
        tree = _Tree(f"{seed:08x}-{number:08d}", talk, rng, said)
        for _ in range(rng.randrange(2, 14)):
            tree.exchange()
        said = tree.said
        yield tree.exported()


class _Tree:
    """A conversation as it grows, message by message."""

    def __init__(self, name: str, talk: Talk, rng: random.Random, said: float) -> None:
        self.name, self.said = name, said
        self._talk, self._random, self._began = talk, rng, said
        self._mapping: dict[str, dict[str, Any]] = {}
        self._spoken: list[Spoken] = []
        self._at: str | None = None
        self._add("root", None)
        self._add("system", self._message("system", {"content_type": "text", "parts": [""]}, timed=False))

    def exchange(self) -> None:
        """A question and its answer."""
        question = self._text(1)
        parts: list[Any] = [question]
        if self._random.random() < 0.05:
            parts.insert(
                0, {"content_type": "image_asset_pointer", "asset_pointer": f"file-service://{len(self._spoken)}"}
            )
        self._speak("user", question, {"content_type": "multimodal_text" if len(parts) > 1 else "text", "parts": parts})
        if self._random.random() < 0.1:
            self._tool()
        if self._random.random() < 0.1:
            self._leave_a_branch()
        answer = self._text(self._random.randrange(2, 9))
        self._speak("assistant", answer, {"content_type": "text", "parts": [answer]})

    def exported(self) -> Exported:
        """As the export has it."""
        record = {
            "title": self._talk.text(datetime.fromtimestamp(self._began, UTC))[:40],
            "create_time": self._began,
            "update_time": self.said,
            "mapping": self._mapping,
            "moderation_results": [],
            "current_node": self._at,
            "conversation_id": self.name,
            "id": self.name,
        }
        return Exported(record=record, spoken=tuple(self._spoken))

    def _speak(self, role: str, text: str, content: dict[str, Any]) -> None:
        message = self._message(role, content)
        self._add(f"{len(self._mapping):04d}", message)
        self._spoken.append(Spoken(session=self.name, role=role, text=text, said=message["create_time"]))

    def _tool(self) -> None:
        call = self._message("assistant", {"content_type": "code", "language": "python", "text": "print(1)"})
        self._add(f"{len(self._mapping):04d}", {**call, "recipient": "python"})
        self._add(f"{len(self._mapping):04d}", self._message("tool", {"content_type": "execution_output", "text": "1"}))

    def _leave_a_branch(self) -> None:
        here, text = self._at, self._text(2)
        self._add(f"{len(self._mapping):04d}", self._message("assistant", {"content_type": "text", "parts": [text]}))
        self._at = here

    def _text(self, sentences: int) -> str:
        moment = datetime.fromtimestamp(self.said, UTC)
        return " ".join(self._talk.text(moment) for _ in range(sentences))

    def _message(self, role: str, content: dict[str, Any], *, timed: bool = True) -> dict[str, Any]:
        if timed:
            self.said = round(self.said + self._random.uniform(2, 90), 6)
        return {
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": self.said if timed else None,
            "update_time": None,
            "content": content,
            "status": "finished_successfully",
            "end_turn": role == "assistant" or None,
            "weight": 1.0,
            "metadata": {"model_slug": "made-up", "request_id": f"{self._random.getrandbits(64):016x}"},
            "recipient": "all",
        }

    def _add(self, own: str, message: dict[str, Any] | None) -> None:
        node = f"{self.name}-{own}"
        if message is not None:
            message = {"id": node, **message}
        self._mapping[node] = {"id": node, "message": message, "parent": self._at, "children": []}
        if self._at is not None:
            self._mapping[self._at]["children"].append(node)
        self._at = node
