"""Conversations made up from a seed: text whose words, lengths, names and dates are spread as people's are.

Words follow Zipf's law over a vocabulary of a few thousand: function words, then plain words, then
compounds of them for the long tail. Lengths are log-normal. Every eighth message is Chinese.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

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
class Asked:
    """A question and the text of the message it was made from."""

    text: str
    about: str


class Talk:
    """One endless conversation; the same seed gives the same one."""

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

    def question(self, messages: Sequence[Message]) -> Asked:
        """A question with the speaker's name and three to six words (in Chinese, a few characters) of one message."""
        about = self._random.choice(messages)
        text = about.text.rstrip(".。")
        if text.isascii() or " " in text:
            words = text.split()
            picked = " ".join(self._random.sample(words, min(len(words), self._random.randrange(3, 7))))
        else:
            start = self._random.randrange(max(len(text) - 11, 1))
            picked = text[start : start + self._random.randrange(4, 12)]
        return Asked(text=f"What did {about.slots['speaker']} say about {picked}?", about=about.text)


def vocabulary() -> list[str]:
    """About four thousand words, the most frequent first."""
    plain = _PLAIN.split()
    compounds = [first + second for first, second in itertools.product(plain[:64], plain[32:96]) if first != second]
    random.Random(0).shuffle(compounds)  # noqa: S311 - an order, not a secret
    return [*_GRAMMAR.split(), *_DOING.split(), *plain, *compounds]
