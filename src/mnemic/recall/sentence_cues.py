# ruff: noqa: E501 - lists of words read better whole
"""Words that tell what a sentence does and whom it speaks of: cues, by the tokens of the catalogue, in two languages.

A cue is one token of `core.tokens`, so an entry's are counted from the stream that its catalogue holds anyway; nothing
is stored for them. Each weighs next to nothing alone: `recall.currency` sums them up, with weights learned from
sentences, so that a word is changed here only where these are learned anew. What rules read of the same matters, ends
and suppositions, as phrases and not token by token, is composed of `recall.word_groups`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from mnemic.core.tokens import hash_term, terms, tokenise
from mnemic.recall.understand import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.float32]

_Meaning = TypeVar("_Meaning", bound=IntEnum)


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


class _Role(IntEnum):
    """Whom a token means; of an unspaced script "I" is "my" where somebody of the speaker's follows.

    Company is somebody only as "my" of a text's first words: "my editor lives in Antibes".
    """

    SELF = 0
    MINE = 1
    KIN = 2
    OTHER = 3
    UNSPACED_SELF = 4
    SHE = 5
    COMPANY = 6
    UNSPACED_SHE = 7


_ROLES: Final = {
    _Role.SELF: "i i'm i've i'll i'd me myself we we're we've we'll we'd us 我们 我家 咱们 咱家",
    _Role.MINE: "my mine our ours 我的",
    _Role.KIN: " ".join(
        (
            *(
                word
                for cue in SentenceCue
                if cue >= SentenceCue.MOTHER
                for word in _WORDS[cue].split()
                if word not in "表娃"
            ),
            "mammy amma daddy didi twin eldest youngest hubby missus spouse ex bestie classmate supervisor landlord landlady parents grandparents",
            "workmate granddad grandad gran nan auntie roomie lodger 妈 老妈 爸 老爸 闺女 儿媳 对象 老伴 同学 同桌 发小 学长 学姐",
            "房东 主任 徒弟 师傅 隔壁 楼上 楼下 姥姥 姥爷 阿嬷 阿嬤 姨 伯 婆婆 公公 丈母 岳父 岳母 舍友 合租 老闆 醫生 老師 媽 奶 嫂 婶",
        )
    ),
    _Role.SHE: "he she he's she's he'll she'll he'd she'd his him himself her herself",
    _Role.UNSPACED_SHE: "她 他",
    _Role.OTHER: "they they're they've their them someone somebody 别人 人家 另一 另外",
    _Role.UNSPACED_SELF: "我 咱 俺 俄 本人 自己",
}
"""The words for each role. 表 is a watch too, and a cousin has another sign of kin beside it; for 娃 its parents speak."""
_COMPANY: Final = """
    stepmom stepdad stepmother stepfather stepsister stepbrother stepson stepdaughter goddaughter godson godmother
    godfather grandson granddaughter grandkids mam gf bf pal widow widower guy bloke chap lad lass woman man lady
    gentleman girl boy stranger pupil student apprentice intern trainee assistant
    secretary predecessor successor director chairman mayor captain policeman plumber electrician carpenter builder
    cleaner carer nanny babysitter postman mailman courier barman barmaid bartender waiter waitress chef hairdresser barber
    receptionist nurse vet physio physiotherapist surgeon pharmacist lawyer solicitor judge editor reader author singer actor
    actress detective hero heroine narrator protagonist priest vicar pastor rabbi imam coach instructor professor lecturer
    gaffer foreman shopkeeper butcher grocer farmer janitor caretaker inspector owner visitor
    passenger drummer bassist namesake
    租客 房客 房主 房东 楼长 群主 版主 学生 学徒 师兄 师姐 师弟 师妹 师父 导师 教授 校长 院长 保洁 护工 护士 保姆 月嫂 大爷 大妈
    大哥 大姐 大叔 大婶 小伙 姑娘 小孩 孩子 老乡 战友 队友 搭档 助理 秘书 前任 主管 总监 店长 店主 车主 司机 邮递 保安
    门卫 律师 法官 警察 记者 编辑 读者 作者 歌手 演员 主播 侦探 主角 主人 男主 女主 牧师 神父 工头 木匠 厨师 大厨 酒保 理疗
    兽医 药师 前妻 前夫 继父 继母 继兄 继女 继子 弟媳 妹夫 姐夫 干妈 干爹 干儿 干女 孙子 孙女 外孙 太太 先生 老太 同屋 上铺 下铺 班长
    表姐 表妹 表哥 表弟 堂姐 堂妹 堂哥 堂弟 网友 博主 二叔 三姨 那口
"""
"""Words for others by what they are to somebody: a nurse, a tutor's pupil, the hero of a book; none whose stem is
a thing's too (officer, office). They say whom a question calls, and who "my editor" in a text's first words is: anywhere else in what was said, "with
two students" would hide whose it is."""
_ORDERING: Final = """
医生 牙医 老师 教练 老板 老闆 醫生 老師 领导 上司 经理 主任 房东 师傅 隔壁 楼上 楼下 我妈 我爸 对象 师父 导师 教授 校长 院长 护士 主管 总监 店长
律师 法官 警察 理疗 兽医 药师 保安 门卫 物业 房主 太太 先生 那口 主人 班长 楼长 群主
"""
"""Kin and company whose orders, or whose place, a sentence that drops its "I" may tell of: 医生让吃清淡的."""
_KIN_AFTER_MINE: Final = 4
"""Tokens after "my" within which a word for kin says whose it is: "my little brother", 我的同事."""
_KIN_AFTER_SELF: Final = 3
"""The same after 我, which is "my" where kin follows: 我老婆."""


@dataclass(frozen=True, slots=True)
class People:
    """Whom each of some texts speaks of.

    Attributes:
        own: Its speaker, as "I", or by what is theirs; "my sister" does not make it so.
        others: Kin, company, or somebody by a pronoun.
        of_kin: It opens with somebody of the speaker's, as "my sister" or "dad", and does not speak of the speaker.
        opens_with_kin: It opens so, whatever else it speaks of.
        of_mine: Somebody as one of the speaker's: "Kate, my niece".
        of_relatives: It opens with kin in a pair of characters, and none that order the speaker about: 丈母娘, no 医生.
        by_pronoun: Somebody by a pronoun, whom what was said before may name.
        by_she: By "she" or "he"; by 她 or 他 where it opens with it.
    """

    own: NDArray[np.bool_]
    others: NDArray[np.bool_]
    of_kin: NDArray[np.bool_]
    opens_with_kin: NDArray[np.bool_]
    of_mine: NDArray[np.bool_]
    of_relatives: NDArray[np.bool_]
    by_pronoun: NDArray[np.bool_]
    by_she: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hints:
    """The tokens of some texts that hint at something, in their order; arrays of one length.

    Attributes:
        places: Where each stands among all tokens.
        texts: In which text.
        cues: What it is a cue of; -1 for none.
        roles: Whom it means; -1 for nobody.
        relatives: Whether it is a pair of characters for kin who order nobody about, which follows its first character.
    """

    places: NDArray[np.intp]
    texts: NDArray[np.intp]
    cues: NDArray[np.intp]
    roles: NDArray[np.intp]
    relatives: NDArray[np.bool_]


def hints_in(tokens: NDArray[np.uint64], texts: NDArray[np.intp]) -> Hints:
    """Find what hints at something among tokens, of which `texts` says which text each stands in, ascending."""
    lexicon = _lexicon()
    at = lexicon.tokens.searchsorted(tokens)
    places = (lexicon.tokens[at] == tokens).nonzero()[0]
    at = at[places]
    return Hints(places, texts[places], lexicon.cues[at], lexicon.roles[at], lexicon.relatives[at])


def people_of(hints: Hints, begins: NDArray[np.intp]) -> People:
    """Read whom each text speaks of, by what hints at it; `begins`: the place of the first token of each text."""
    own, others, of_kin, by_pronoun, by_she, of_mine, of_relatives = (np.zeros(len(begins), np.bool_) for _ in range(7))
    meant = (hints.roles >= 0).nonzero()[0]
    if not len(meant):
        return People(own, others, of_kin, of_kin, of_mine, of_relatives, by_pronoun, by_she)
    roles, texts, places = hints.roles[meant], hints.texts[meant], hints.places[meant]
    whose = np.zeros(len(meant), np.bool_)
    beside, gap = texts[1:] == texts[:-1], places[1:] - places[:-1]
    company, opens = np.zeros(len(meant), np.bool_), places == begins[texts]
    company[1:] = (roles[1:] == _Role.COMPANY) & beside & (gap <= _KIN_AFTER_MINE) & opens[:-1] & _WHOSE[roles[:-1]]
    kin, unspaced = (roles == _Role.KIN) | company, roles == _Role.UNSPACED_SELF
    followed = (roles[:-1] == _Role.MINE) & (gap <= _KIN_AFTER_MINE) | unspaced[:-1] & (gap <= _KIN_AFTER_SELF)
    whose[:-1] = beside & (followed & kin[1:] | unspaced[:-1] & (roles[1:] == _Role.MINE) & (gap == 1))
    own[texts[_OWN[roles] & ~whose]] = True
    others[texts[_THEIRS[roles]]] = True
    of_kin[texts[opens & (whose | kin)]] = True
    of_relatives[texts[(places == begins[texts] + 1) & hints.relatives[meant]]] = True
    of_mine[texts[whose]] = True
    by_pronoun[texts[_PRONOUNS[roles]]] = True
    by_she[texts[(roles == _Role.SHE) | (roles == _Role.UNSPACED_SHE) & opens]] = True
    return People(own, others, of_kin & ~own, of_kin, of_mine, of_relatives, by_pronoun, by_she)


_OWN: Final = np.isin([*_Role], (_Role.SELF, _Role.MINE, _Role.UNSPACED_SELF))
_THEIRS: Final = np.isin([*_Role], (_Role.KIN, _Role.OTHER, _Role.SHE, _Role.UNSPACED_SHE))
_WHOSE: Final = np.isin([*_Role], (_Role.MINE, _Role.UNSPACED_SELF))
_PRONOUNS: Final = np.isin([*_Role], (_Role.OTHER, _Role.SHE, _Role.UNSPACED_SHE))
"""Whether a role is one of the speaker's, of somebody else, says "my", or is a pronoun for others; by role."""


_SUPPOSED: Final = "if dreamt almost joked pretended imagine suppose supposing wish maybe perhaps hypothetically"
"""Words with which a sentence begins, but for its subject, that tells nothing that is so."""
_SUPPOSED_UNSPACED: Final = """
要是 如果 假如 假设 倘若 万一 但愿 差点 差一 险些 梦见 梦到 做梦 梦里 撒谎 骗你 瞎说 逗你 拒绝 劝我 恨不 巴不 打算 本打 原本 幻想 想象 玩笑
"""
_OPENING: Final = 2
_OPENING_UNSPACED: Final = 9
"""Tokens from the first within which such a word begins a sentence; of an unspaced script each character begins two."""


def begin_supposed(tokens: NDArray[np.uint64], texts: NDArray[np.intp], begins: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which texts begin as what is supposed, dreamt, planned or nearly so; arguments as of `hints_in`, `people_of`."""
    supposed = np.zeros(len(begins), np.bool_)
    places = np.arange(len(tokens)) - begins[texts]
    for words, least in ((_supposed_tokens(), _OPENING), (_supposed_unspaced(), _OPENING_UNSPACED)):
        supposed[texts[np.isin(tokens, words) & (places <= least)]] = True
    return supposed


@lru_cache(maxsize=1)
def _supposed_tokens() -> NDArray[np.uint64]:
    return np.array([hash_term(tokenise(word)[-1]) for word in _SUPPOSED.split()], np.uint64)


@lru_cache(maxsize=1)
def _supposed_unspaced() -> NDArray[np.uint64]:
    return np.array([hash_term(word) for word in _SUPPOSED_UNSPACED.split()], np.uint64)


@lru_cache(maxsize=1)
def kin_tokens() -> frozenset[int]:
    """The tokens of words by which a question calls somebody: kin, company and other people."""
    return frozenset(_by_token({_Role.KIN: f"{_ROLES[_Role.KIN]} {_COMPANY}"}))


@lru_cache(maxsize=1)
def unspaced_kin_tokens() -> frozenset[int]:
    """Those of them that are of an unspaced script: characters, and pairs of characters."""
    words = f"{_ROLES[_Role.KIN]} {_COMPANY}".split()
    return frozenset(hash_term(word) for word in words if word > UNSPACED)


@lru_cache(maxsize=1)
def cue_by_token() -> Mapping[int, int]:
    """What each token of a cue hints at."""
    return _by_token(_WORDS)


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """Every token that hints at something, ascending, and one behind all others that does not; -1 for no hint."""

    tokens: NDArray[np.uint64]
    cues: NDArray[np.intp]
    roles: NDArray[np.intp]
    relatives: NDArray[np.bool_]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    cues, roles = cue_by_token(), _by_token({**_ROLES, _Role.COMPANY: _COMPANY})
    tokens = [*sorted({*cues, *roles}), np.iinfo(np.uint64).max]
    cued, meant = (np.array([hint.get(token, -1) for token in tokens], np.intp) for hint in (cues, roles))
    people = f"{_ROLES[_Role.KIN]} {_COMPANY}".split()
    pairs = {word for word in people if len(word) == 2 and word > UNSPACED}
    relatives = {hash_term(word) for word in pairs.difference(_ORDERING.split())}
    of_relatives = np.array([token in relatives for token in tokens], np.bool_)
    return _Lexicon(np.array(tokens, np.uint64), cued, meant, of_relatives)


def _by_token(lists: Mapping[_Meaning, str]) -> Mapping[int, int]:
    """What each token of some lists of words means; one that is listed twice is its first list's."""
    by_token: dict[int, int] = {}
    for meaning, words in lists.items():
        for word in words.split():
            for token in tokenise(word)[-1:] if word.isascii() else [word]:
                by_token.setdefault(hash_term(token), int(meaning))
    return by_token


def counted_in(text: str) -> Counts:
    """How often each cue stands in one text."""
    known, tokens = cue_by_token(), np.frombuffer(terms(text), np.uint64).tolist()
    places = np.array([known[token] for token in tokens if token in known], np.intp)
    counts: Counts = np.bincount(places, minlength=len(SentenceCue)).astype(np.float32)
    return counts


def counted_each(streams: Sequence[NDArray[np.uint64]]) -> Counts:
    """How often each cue stands in each of some token streams: a row for a stream, a column for a cue."""
    if not streams:
        return np.zeros((0, len(SentenceCue)), np.float32)
    rows = np.repeat(np.arange(len(streams)), [len(stream) for stream in streams])
    hints = hints_in(np.concatenate(streams), rows)
    some = hints.cues >= 0
    at = hints.texts[some] * len(SentenceCue) + hints.cues[some]
    flat = np.bincount(at, minlength=len(streams) * len(SentenceCue))
    return flat.reshape(len(streams), len(SentenceCue)).astype(np.float32)
