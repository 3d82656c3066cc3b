# ruff: noqa: E501 - lists of words read better whole
"""Words that tell what a sentence does and whom it speaks of: cues, by the tokens of the catalogue, in two languages.

A cue is one token of `core.tokens`, so an entry's are counted from the stream that its catalogue holds anyway; nothing
is stored for them. Each weighs next to nothing alone: `recall.currency` sums them up, with weights learned from
sentences.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import hash_term, terms, tokenise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.float32]


class SentenceCue(IntEnum):
    """What a token hints at; of kin and company, which."""

    SELF = 0
    YOU = 1
    OTHER = 2
    CHANGE = 3
    END = 4
    SUPPOSE = 5
    NOT = 6
    ACKNOWLEDGE = 7
    ASK = 8
    NOW = 9
    CORRECT = 10
    BEFORE = 11
    MOTHER = 12
    FATHER = 13
    SISTER = 14
    BROTHER = 15
    CHILD = 16
    PARTNER = 17
    FRIEND = 18
    BOSS = 19
    COLLEAGUE = 20
    NEIGHBOUR = 21
    COUSIN = 22
    ELDER = 23
    ROOMMATE = 24
    EXPERT = 25


KIN: Final = slice(SentenceCue.MOTHER, SentenceCue.EXPERT + 1)
"""The cues that name somebody beside the speaker by what they are to them."""

_WORDS: Final = {
    SentenceCue.SELF: "i i'm i've i'll i'd me my mine myself we we're we've we'll us our ours 我 咱 俺",
    SentenceCue.YOU: "you you're you've your yours 你 您",
    SentenceCue.OTHER: "he she his her him they their them other another someone somebody everyone 他 她 别人 人家 另一 另外 大家",
    SentenceCue.CHANGE: """new moved switched swapped changed replaced started became become starting joined adopted got signed
        converted upgraded transferred relocated renamed 新 换 改 搬 变 成了 入职 加入 开始 升 转 跳槽""",
    SentenceCue.END: """longer anymore quit left sold gone stopped ended finished cancelled died divorced retired resigned gave
        split broke over dropped closed 不再 卖 退 辞 分手 离 停 没了 戒 断 散 走了 去世 取消 注销 不用""",
    SentenceCue.SUPPOSE: """if maybe might would wish dreamt dreamed dream imagine suppose pretend someday could hope hoping
        considering perhaps tempted fantasy should 如果 要是 也许 可能 梦 想象 假如 万一 希望 幻想 考虑 说不 或许 的话 想""",
    SentenceCue.NOT: "not no never don't doesn't didn't isn't wasn't aren't won't can't cannot nothing 不 没 别 无 未",
    SentenceCue.ACKNOWLEDGE: "ok okay thanks thank noted great sure glad congratulations understood 谢 好的 收到 明白 恭喜 了解",
    SentenceCue.ASK: "what which who whose where when how why do does did 什么 哪 谁 吗 呢 几 怎么 多少",
    SentenceCue.NOW: "now today currently nowadays since finally officially 现在 如今 目前 今天 今年 以后 起 终于 正式 刚",
    SentenceCue.CORRECT: "actually meant mistake wrong correction sorry typo rather misspoke 其实 说错 记错 错了 更正 纠正 口误 搞错",
    SentenceCue.BEFORE: "used before previously formerly once was were ex old 以前 曾经 过去 从前 原来 之前 旧",
    SentenceCue.MOTHER: "mother mum mom mama 妈妈 母亲 我妈",
    SentenceCue.FATHER: "father dad papa 爸爸 父亲 我爸 老爷",
    SentenceCue.SISTER: "sister sis 姐 妹",
    SentenceCue.BROTHER: "brother bro 哥 弟",
    SentenceCue.CHILD: "son daughter kid kids child children baby nephew niece 儿子 女儿 孩子 娃 侄",
    SentenceCue.PARTNER: "partner husband wife boyfriend girlfriend fiancé fiancée 丈夫 妻子 老公 老婆 爱人 男友 女友 媳妇 朋友",
    SentenceCue.FRIEND: "friend friends mate buddy 闺蜜 哥们 好友",
    SentenceCue.BOSS: "boss manager 老板 经理 领导 上司",
    SentenceCue.COLLEAGUE: "colleague colleagues coworker 同事",
    SentenceCue.NEIGHBOUR: "neighbour neighbor neighbours neighbors 邻居",
    SentenceCue.COUSIN: "cousin 表",
    SentenceCue.ELDER: "grandma grandmother grandpa grandfather aunt uncle 奶奶 爷爷 外婆 外公 阿姨 叔 舅 姑",
    SentenceCue.ROOMMATE: "flatmate roommate housemate 室友",
    SentenceCue.EXPERT: "doctor dentist therapist tutor teacher trainer 医生 牙医 老师 教练",
}


@lru_cache(maxsize=1)
def cue_by_token() -> Mapping[int, int]:
    """What each token of a cue hints at; one that is listed twice is its first cue's."""
    by_token: dict[int, int] = {}
    for cue, words in _WORDS.items():
        for word in words.split():
            for token in tokenise(word)[-1:] if word.isascii() else [word]:
                by_token.setdefault(hash_term(token), int(cue))
    return by_token


@lru_cache(maxsize=1)
def _table() -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """All cues' tokens, ascending, and what each hints at."""
    known = cue_by_token()
    return np.array(sorted(known), np.uint64), np.array([known[token] for token in sorted(known)], np.intp)


def _cues_of(tokens: NDArray[np.uint64]) -> NDArray[np.intp]:
    """What each token hints at; -1 for none."""
    known, cues = _table()
    at = known.searchsorted(tokens)
    np.minimum(at, len(known) - 1, out=at)
    return np.where(known[at] == tokens, cues[at], -1)


def counted_in(text: str) -> Counts:
    """How often each cue stands in one text."""
    known, tokens = cue_by_token(), np.frombuffer(terms(text), np.uint64).tolist()
    found = np.array([known[token] for token in tokens if token in known], np.intp)
    one: Counts = np.bincount(found, minlength=len(SentenceCue)).astype(np.float32)
    return one


def counted_each(streams: Sequence[NDArray[np.uint64]]) -> Counts:
    """How often each cue stands in each of some token streams: a row for a stream, a column for a cue."""
    if not streams:
        return np.zeros((0, len(SentenceCue)), np.float32)
    rows = np.repeat(np.arange(len(streams)), [len(stream) for stream in streams])
    hints = _cues_of(np.concatenate(streams))
    some = hints >= 0
    flat = np.bincount(rows[some] * len(SentenceCue) + hints[some], minlength=len(streams) * len(SentenceCue))
    return flat.reshape(len(streams), len(SentenceCue)).astype(np.float32)
