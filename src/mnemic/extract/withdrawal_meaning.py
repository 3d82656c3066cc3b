# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tell withdrawals that follow no known form: by what a sentence means, and what it lies nearest to.

"One paragraph was too strict" and "前男友的事我放下了" take something back only because an instruction about it stands.
A form over vectors and words (`withdrawal_meaning.npz`, of the kind of `instruction_meaning`, made by
`python -m mnemic.lab.withdrawal_training`) says how likely a sentence takes something back; the rest is what it is
about. What lies near one instruction and clearly less near the next hides it; what is less sure only puts one in
doubt. Without vectors a cue that something is lifted or ends counts, and words shared with one instruction alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.instruction_meaning import direction, form
from mnemic.extract.instruction_wording import features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.extract.instruction_meaning import Floats

FILE: Final = "withdrawal_meaning.npz"
LONGEST: Final = 120
"""Most characters in a sentence that its meaning or a cue may make a withdrawal."""
TAKES_BACK: Final = 0.2
"""What the form must make of a sentence that hides an instruction."""
NEAR: Final = 0.45
"""Least cosine of directions from the mean between a sentence and the instruction that it withdraws."""
AHEAD: Final = 0.10
"""How much nearer it must be than the next."""
OF_CUE: Final = 0.3
"""What a cue that something is lifted or ends counts beside the form."""
OF_SHARED: Final = 0.15
"""What a telling word or an aspect in common adds to a cosine."""
DOUBTS: Final = 0.1
"""What all that speaks for it must come to in a sentence that puts the only instruction in doubt: with what is hidden 89 in
a hundred withdrawals of voices not learned from, a third of near-misses, and four in a hundred sentences of others."""
OF_COMPANY: Final = 0.05
"""How much more it must come to for each other instruction that stands, up to three: among more of them a sentence lies
nearer to one by chance, so that with this as many sentences of others put one in doubt whether one stands or four."""
OF_NEARNESS: Final = 0.8
"""What a cosine counts in that sum, beside the form and the cue."""
OF_MATTER: Final = 0.3
"""What a telling word or an aspect in common counts in that sum."""
OF_ADDRESS: Final = 0.2
"""What it counts there that a sentence names the assistant or what it says."""
OF_OTHERS: Final = 0.2
"""What it counts against it there that a sentence is of somebody else, who may only be its reason: "my mum reads along now,
so mind your words"."""
OF_OWN_LIFE: Final = 0.6
"""What it counts against it there that a sentence reports what became of the speaker, and has no matter in common."""

_CUE_EN: Final = re.compile(
    r"\b(?:again|once more|any ?more|any longer|no longer|no more|no further|after all|back (?:on|in|to)|revert|fair game|(?:is|are|'s|be) (?:now )?(?:fine|ok|okay|alright|welcome|allowed|permitted|good)|you're welcome to|don't mind"
    r"|i'd welcome|i do want|feel free|free to|no need|needn't|don't need|unnecessary|(?:can|may) (?:go|stop|end|be (?:dropped|retired|lifted|skipped))|let (?:them|it|that|those) go|drop|scrap|lose|skip|quit|stop|leave (?:off|out)|withdraw"
    r"|lift(?:ed)?|cancel(?:led)?|releas\w+|enough (?:of|to|with)|my fill|fed up|tired of|sick of|bored|silly|got old|too (?:strict|much|tight|short|long|harsh|narrow)|(?:was|were) fun|outlived|retired?|on reflection|second thoughts?"
    r"|changed my mind|(?:doesn't|don't|isn't|aren't|not|no longer) (?:matter|important|need\w*|necessary|required)|whenever you|as (?:much|long|many) as|talk normally|by now|these days|from (?:here|today|now)(?: on)?|forget|never ?mind"
    r"|nvm|disregard|done (?:its|their) (?:job|work)|instead of|will do|goes|use whatever)\b"
)
_CUE_ZH: Final = re.compile(
    "又|不用|不必|不需要|没必要|唔使|唔要|用返|算了|免了|取消|作废|不算|随你|随便|都行|都可以|都得|没关系|没事了|不介意|无所谓|尽管|够了|腻|烦了|累了|到此|还是|换(?!了?[一个部台份辆套新]*(?:手机|号|电话|邮箱|地址|工作|公司|单位|岗|部门|房|家|地方|城市|车|学校|专业|医院|医生|室友))|恢复|可以|改|照|放下|停|撤|拿掉|去掉|(?:别|不要)再|不再"
    "|就(?:说|提|用|写|道歉|讲)|也吃|好好|想了想|开荤|解除|忽略|当我没"
)
_ELSEWHERE_EN: Final = re.compile(
    r"^(?!(?:you|u|i|it|that|this|we)\b)(?:(?:my|our|the|his|her|their) )?(?:[a-z'-]+ )?(?!(?:you|u|i|it|that|this|we)\b)[a-z'-]+ (?:allows?|lets?|(?:is|are) (?:allowed|told)|told|said|says|eats?|wants?|(?:doesn't|no longer) (?:need|have|has) to|starts?)\b"
    r"|^(?:my|our|the|his|her) (?:boss|son|daughter|niece|nephew|kids?|children|wife|husband|mother|father|mum|mom|dad|sister|brother|doctor|teacher|school|company|manager|neighbou?r|friend|team|colleague)s?\b"
    r"|^i (?:no longer|don't|do not) (?:have|need) to\b|\bat (?:school|the office)\b"
)
_ELSEWHERE_ZH: Final = re.compile(
    "隔壁|别的(?:组|人|部门)|人家|他们|她们|(?:我|咱)?们?(?:公司|学校|老板|儿子|女儿|侄女|侄子|老公|老婆|妈妈?|爸爸?|朋友|同事|邻居|单位|经理|孩子)|^我(?:现在)?(?:不用|不必|不需要)再|^(?:他|她)"
)
_ONCE_EN: Final = re.compile(
    r"\b(?:just |only )?(?:this|that) (?:once|time|one)\b|\bjust (?:today|now|once)\b|\bfor (?:this|that|today|tonight|once)\b|\bthis \w+ only\b|\b(?:of|in|from|on) this (?!chat|conversation|app|house|family|thread|point)\w+|\bonly this\b|\bexcept"
)
_ONCE_ZH: Final = re.compile("这一?[次回题份篇封]|就一[次回]|例外|今天|这[张个]问题|暂时")
_LEAVE_EN: Final = re.compile(
    r"\b(?:(?:don't|dont|do not|needn't) (?:hold back|be shy|spare me)|go (?:ahead|wild|nuts|to town|all out)|have at it|fire away|be my guest|knock yourself out|let (?:it|yourself) (?:rip|go)"
    r"|(?:as (?:much|often|long|many) as|all|what(?:ever)?|when(?:ever)?|wherever|however) you (?:like|want|please|wish|fancy))\b"
)
_LEAVE_ZH: Final = re.compile("随便你|随你|随意|尽管|任你|[^不]放开|敞开|(?:该|想|爱)(.)(?:什么|啥)?就\\1")
_LEAD_EN: Final = (
    r"^(?:(?:ok(?:ay)?|oh|hey|well|and|but|also|now|actually|honestly|finally|anyway|lol|haha|ugh|yay|phew)[,.! ]+)*"
)
_REPORT_EN: Final = re.compile(
    _LEAD_EN
    + r"(?:(?:[a-z']+ and )?i(?:'m|'ve|'d|'ll)?|im|ive|we(?:'re|'ve|'d|'ll)?|(?:my|our) (?:[a-z'-]+ ){1,3}?(?:is|are|was|were|has|have|got|went|came))\b"
)
_ANEW_ZH: Final = r"(?:我们?)?的?(?:新的?[^，,；;]{0,8}?(?:是|在|叫|[:：]|(?=[\w.+-]*[\d@]))|(?:现在|如今|目前)(?:(?:改)?[在是叫住姓]|(?:开|骑|养)的是)|[\w.+-]*[\d@])"
"""How somebody goes on who has changed something of theirs: with what it is now (我换手机号了，新号是...)."""
_REPORT_ZH: Final = re.compile(
    "^(?:.*(?<![够腻烦算罢免行用])[了啦]|我[^，,；;]*"
    rf"|(?:[^，,；;]*(?<![够腻烦算罢免行用])[了啦][^，,；;]*|我[^，,；;]*)[，,；;：: ]+{_ANEW_ZH}[^，,；;]*)[。.！!~～ ]*$"
)
_MORE_EN: Final = re.compile(
    r"\bso (?!much\b|many\b|far\b|good\b)|[;:—–]| - |\b(?:please|pls|plz)\b"
    r"|\b(?:rules?|asked|want|wish|like|love|prefer|need|miss|mind|missed|use|rather|find|over|tired|sick|bored|fed up|enough|(?:done|finished|through) with)\b"
)
_MORE_ZH: Final = re.compile(
    "规矩|规则|要求|请|别|不要|想(?!事(?!先)|着(?!重)|起|到(?!时)|家)|希望|喜欢|愿意|介意|无所谓|随便|随你|可以|不用|不必|吧|就[好行成用]|怀念|受够"
)
"""What a report has none of: something that follows from it, or what the speaker wants or has had enough of."""
_TO_ASSISTANT: Final = re.compile(
    r"\b(?:yous?|your|yours|yourself|u|ur|thou)\b|\b(?:answers?|replies|reply|responses?)\b|[你您]|妳|助手|助理|回答|回复|答复"
)


def may_withdraw(low: str) -> bool:
    """Whether a sentence in lower case, simplified, could take something back for good."""
    return len(low) <= LONGEST and not is_for_once(low)


def speaks_to_assistant(low: str) -> bool:
    """Whether a sentence in lower case, simplified, names the assistant or what it says, so that it can mean an order."""
    return _TO_ASSISTANT.search(low) is not None


def has_cue(low: str) -> bool:
    """Whether a sentence in lower case, simplified, has a cue that something which stood is lifted or ends."""
    return (_CUE_ZH if has_chinese(low) else _CUE_EN).search(low) is not None


def gives_leave(low: str) -> bool:
    """Whether a sentence in lower case, simplified, gives leave in the form of an order: "don't hold back"."""
    return (_LEAVE_ZH if has_chinese(low) else _LEAVE_EN).search(low) is not None


def is_for_once(low: str) -> bool:
    """Whether a sentence in lower case, simplified, makes an exception for this once."""
    return (_ONCE_ZH if has_chinese(low) else _ONCE_EN).search(low) is not None


def is_of_others(low: str) -> bool:
    """Whether a sentence in lower case, simplified, begins with somebody else, or tells of their duties and freedoms."""
    return (_ELSEWHERE_ZH if has_chinese(low) else _ELSEWHERE_EN).search(low) is not None


def is_of_own_life(low: str) -> bool:
    """Whether a sentence in lower case, simplified, only reports what became of the speaker, to nobody in particular."""
    if speaks_to_assistant(low):
        return False
    report, more = (_REPORT_ZH, _MORE_ZH) if has_chinese(low) else (_REPORT_EN, _MORE_EN)
    return report.match(low) is not None and more.search(low) is None


def withdraws(vector: Floats, low: str) -> float:
    """The value of a sentence in lower case and its vector; the higher, the likelier it takes something back."""
    likely = float(form(FILE).values([vector], [features(simple(low))])[0])
    return likely + (OF_CUE if has_cue(simple(low)) else 0.0)


def nearest(vector: Floats, standing: Sequence[Floats], shares: Sequence[bool]) -> int | None:
    """Choose the place of the standing instruction that a sentence is about; None if none is near, or two are.

    Args:
        vector: Of the sentence, (dims,), made by `EMBEDDER`.
        standing: Of the instructions, each (dims,).
        shares: Whether the sentence shares a telling word or an aspect with each.
    """
    if not standing:
        return None
    import_whole("numpy")
    import numpy as np

    cosines = _cosines(vector, standing) + OF_SHARED * np.asarray(shares, np.float32)
    first = int(cosines.argmax())
    second = np.delete(cosines, first).max(initial=-1.0)
    return first if cosines[first] > NEAR and cosines[first] - second > AHEAD else None


def doubted(low: str, likely: float, vector: Floats, standing: Sequence[Floats], shares: Sequence[bool]) -> int | None:
    """Choose the place of the standing instruction that a sentence puts in doubt; None if it does with none.

    How likely it takes something back, how near it is, a matter in common and a word to the assistant add up: talk of
    one's own life lies near some instruction by chance, and has none of the others.

    Args:
        low: The sentence in lower case.
        likely: What `withdraws` makes of it.
        vector: Of the sentence, (dims,), made by `EMBEDDER`.
        standing: Of the instructions, each (dims,).
        shares: Whether the sentence shares a telling word or an aspect with each.
    """
    if not standing:
        return None
    import_whole("numpy")
    import numpy as np

    about = OF_NEARNESS * _cosines(vector, standing) + OF_MATTER * np.asarray(shares, np.float32)
    first = int(about.argmax())
    plain = simple(low)
    of_whom = OF_ADDRESS * speaks_to_assistant(plain) - OF_OTHERS * is_of_others(plain)
    if not shares[first] and is_of_own_life(plain):
        of_whom -= OF_OWN_LIFE
    least = DOUBTS + OF_COMPANY * min(len(standing) - 1, 3)
    return first if likely + of_whom + float(about[first]) > least else None


def _cosines(vector: Floats, standing: Sequence[Floats]) -> Floats:
    """The cosines of directions from the mean between a sentence and each instruction, (n,)."""
    import_whole("numpy")
    import numpy as np

    away = direction(np.asarray([vector, *standing], np.float32), form().mean)
    return np.asarray(away[1:] @ away[0], np.float32)
