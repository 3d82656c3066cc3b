# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads yes or no out of what the asker has said, only where it is plain: the newest statement that holds the matter.

A question for yes or no is parted into a predicate and objects ("allergic", "penicillin"). A clause is read only if it
holds all of these, and a denial counts only in the clause that holds the objects: "not allergic to shellfish" says
nothing of penicillin. A clause that names a new home or job says yes to that one, and no to what it followed. The
newest reading holds; one that is unclear, or in doubt since, leaves the question open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.parts import MONTHS
from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.recall.allergies import (
    as_own,
    is_allergic_to_nothing,
    is_allergic_to_nothing_but,
    is_cured,
    is_no_longer_allergic,
    of_own_allergy,
    other_allergens,
)
from mnemic.recall.object_endings import ObjectState, object_state
from mnemic.recall.past_states import is_past
from mnemic.recall.polarity import ASKS_PAST, telling_words
from mnemic.recall.put_right import restated
from mnemic.recall.unnamed_endings import loses_work
from mnemic.recall.whom_it_is_about import QUOTED, about_another, asks_of_self
from mnemic.recall.word_groups import (
    AHEAD,
    CALLED_OFF,
    CONDITION,
    CORRECTION,
    DENIED,
    DIED,
    DREAM,
    ENDING,
    GIVEN_UP,
    GUESS,
    INTENDED,
    LEFT,
    LONG_AGO,
    NEARLY,
    NO_DENIAL,
    NO_LONGER,
    PARTED,
    RID,
    SUPPOSES,
    USED_TO,
    WISH,
    WordGroup,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.core.items import Item

_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_CLAUSE: Final = re.compile(
    r"[,，、:：;；—–]\s*|\s(?:and|but|so|because|while|then)\s|[.!?。！？](?:\s|$)|(?<=[\u3400-\u9fff])[.!?。！？]|(?<=[\u3400-\u9fff])(?=但|却(?!之)|可是)"
)
_QUESTION: Final = re.compile(r"[?？][\"'”’)\]]*$")
_ENDED: Final = (
    GIVEN_UP
    + PARTED
    + RID
    + LEFT
    + NO_LONGER
    + CALLED_OFF
    + WordGroup("give up|outgr[eo]wn?|moved (?:out|away) (?:of|from)")
).pattern()
_GAVE_UP: Final = re.compile(
    r"\b(?:quit|stopped|(?:gave|given) (?:it )?up|(?:jacked|packed) in) (\w+ing)"
    r"(?=\W*$|[,;.!]| (?:the (?:day|moment|week|year)|when|in|on|after|since|for|last|this|years|altogether)\b)",
    re.IGNORECASE,
)
_USED_TO: Final = re.compile(
    r"(?<!\bam )(?<!['’]m )(?<!\bare )(?<!['’]re )(?<!\bget )(?<!\bgot )\bused to (?!it\b|the\b|this\b)", re.IGNORECASE
)
"""What once was, and is no more; who is used to a thing still has it."""
_DIED: Final = rf"(?:{DIED.whole}|run over|stolen|put down)\b"
"""What no thing comes back from."""
_HAD_AND_DIED: Final = re.compile(
    rf"\bhad\b(?! to\b).*\b(?:she|he|it|they|who|which)(?: was| were| got)? (?:\w+ )?{_DIED}", re.IGNORECASE
)
_OWN_DIED: Final = re.compile(rf"\W*(?:my|our) (?:\w+ ){{1,3}}?(?:was |were |got )?{_DIED}", re.IGNORECASE)
_NOT_TOLERATED: Final = re.compile(
    r"\b(?:allergic|allergy|intolerant|intolerance|coeliac|celiac)\b|过敏|不耐(?![烦心用磨看脏热寒高])", re.IGNORECASE
)
_TOLERATED: Final = re.compile(
    r"\b(?:fine|ok(?:ay)?|all right|alright|safe) with\b|\bcan (?:eat|have|take)\b.*\b(?:again|after all|now)\b"
    r"|\boutgr[eo]wn?\b",
    re.IGNORECASE,
)
"""Says of what its clause names that its speaker is not allergic to it, or no longer."""
_ALLERGIC: Final = tokenise("allergic")[0]
_ALLERGIES: Final = (_ALLERGIC, "过敏")
"""The predicates of a question for an allergy."""
_CONSUMED: Final = frozenset((*tokenise("eat drink take"), "吃", "喝", "能吃"))
"""Predicates that are denied by an allergy to the object."""
_EAT: Final = tokenise("eat")[0]
_ASKS_LEAVE: Final = re.compile(
    r"\W*(?:(?:can|could|may|should) (?:i|we)|(?:am i|are we) allowed to)(?: \w+ly)? (?:have|get|order|taste|try)\b",
    re.IGNORECASE,
)
"""Asks whether the asker may have something, as of food."""
_ILL: Final = "(?:ill|sick|unwell|nauseous|bloated)"
_ILL_CHINESE: Final = "(?:拉肚子|闹肚子|胃疼|胃痛|肚子[疼痛胀]|难受|不舒服|过敏|起疹)"
_CANNOT: Final = re.compile(
    rf"\bmakes? (?:me|the user) (?:{_ILL}|vomit|throw up|itch)\b"
    r"|\bupsets? (?:my|the user['’]s) stomach\b"
    r"|\b(?:doesn['’]t|don['’]t|does not|do not) agree with (?:me|the user)\b|\bavoids?\b|\b(?:ill|sick|unwell) from\b"
    rf"|[吃喝碰]不[了得]|忌|不碰|一(?:吃|喝|碰)就(?:拉肚子|难受|不舒服|吐|过敏|起疹|胃疼|肚子疼)|就(?:拉肚子|起疹子)|[吃喝](?:了|过|完)(?:之后|以后|后)?(?:总|老|都|会|要|必)*{_ILL_CHINESE}",
    re.IGNORECASE,
)
"""Says of what its clause names that its speaker cannot eat or drink it."""
_MAKES_ILL: Final = re.compile(
    rf"[吃喝碰](?:[了过完多到]|一?[点些])*(?:(?![不没就])[\u4e00-\u9fff]){{0,7}}?(?:的话|的时候|之后|以后|后|时)?(?:总是|老是|经常|常常|容易|[就总老都会要必])+{_ILL_CHINESE}"
    rf"|\b(?:get|feel|am) (?:\w+ )?{_ILL} (?:when(?:ever)?|every time|after) (?:i (?:eat|drink|have)|eating|drinking|having)\b.*",
    re.IGNORECASE,
)
"""Says that its speaker is ill of the food named in it, or before it."""
_ONCE_OR_TOO_MUCH: Final = re.compile(
    "[吃喝](?:得?太)?多|空腹|过期|变质|隔夜|有时|偶尔|昨[天晚]|前天|今[天早晚]|刚|上次|那[天次]|[有一]次|sometimes|too much"
)
"""Says that it was once, or that a little of it does no harm."""
_SORT_OF: Final = "[冰凉冷热烫温生烤炸]的?"
"""Stands before a food of which another sort may do no harm."""
_BORNE: Final = re.compile(
    "[不没](?:会|再|怎么|有|太)*(?:拉肚子|闹肚子|胃[疼痛]|肚子[疼痛胀]|难受|不舒服|过敏|起疹)"
    r"|(?:没有?(?:问题|事儿?|关系)|不碍事|不要紧|无妨|(?<!不)可以|(?<!不)还行)[的了啦]?\W*$"
    r"|\b(?:(?:is|are|['’]s) (?:(?:totally|always|usually|perfectly) )?(?:fine|ok(?:ay)?|all right|alright|no problem)"
    r"(?: (?:for|with) me)?(?: though| however)?\W*$|(?:am|['’]m) (?:fine|ok(?:ay)?|all right|alright) with\b)",
    re.IGNORECASE,
)
"""Says that something does not make its speaker ill, or does no harm."""
_SHUNS: Final = re.compile(r"\W*(?:the user|i|we) avoids? \w+ing\W*$", re.IGNORECASE)
"""Says that its speaker leaves alone what it names, and nothing more."""
_KINDS: Final = (
    (r"\bshellfish\b", r"shrimps?|prawns?|crabs?|lobsters?|oysters?|mussels?|clams?|scallops?|crayfish"),
    (
        r"\bseafood\b",
        r"shellfish|shrimps?|prawns?|crabs?|lobsters?|oysters?|mussels?|clams?|scallops?|fish|squid|octopus"
        r"|tuna|salmon|cod",
    ),
    (r"\bfish\b", r"tuna|salmon|cod|herring|sardines?|trout|anchov(?:y|ies)"),
    (r"\bdairy\b|\blactose\b", r"milk|cheese|butter|cream|yogh?urts?|ice cream"),
    (r"\bnuts?\b", r"peanuts?|almonds?|walnuts?|cashews?|hazelnuts?|pecans?|pistachios?"),
    (r"\bgluten\b|\bwheat\b", r"bread|pasta|pizza|noodles|croissants?"),
    (r"\bmeat\b", r"beef|pork|chicken|lamb|steak|bacon|ham"),
    (r"\balcohol\b", r"wine|beer|whisky|vodka|gin"),
    ("海鲜", "虾|蟹|螃蟹|龙虾|大虾|虾仁|贝类?|生蚝|扇贝|鱿鱼|海鱼|蛤蜊|三文鱼"),
    ("坚果", "核桃|腰果|杏仁|开心果|榛子|花生|松子"),
    ("奶制品|乳制品|乳糖", "牛奶|酸奶|奶酪|芝士|冰淇淋|奶茶|奶油"),
    ("麸质", "面包|面条|馒头|饺子|披萨"),
    ("酒(?!店)", "啤酒|白酒|红酒|黄酒"),
    ("辣", "辣椒|火锅|麻辣烫"),
)
"""What a food is one of, and the foods: who cannot have any of a kind cannot have one."""
_YOUNG: Final = {
    tokenise("dog")[0]: re.compile(r"\bpup(?:p(?:y|ies)|s)?\b", re.IGNORECASE),
    "cat": re.compile(r"\bkittens?\b", re.IGNORECASE),
}
"""By a pet, the words for one that is young."""
_GONE: Final = (
    ENDING
    + WordGroup(
        "dead|dies|buried|broke|outgr[eo]wn?|gave|given?|giving|rehome|donate|adopted|lives? with", "寄养|领养|离婚"
    )
).pattern()
"""What puts in doubt that somebody still has what they named before."""
_FORMERLY: Final = (USED_TO + LONG_AGO + WordGroup("once|was|were|had|ago|before|until|ex", "过去|之前")).pattern()
_CALLED: Final = re.compile(r"\b(?:called|named) ([A-Z][\w-]+)|(?:叫做?|名叫)([\u4e00-\u9fff]{1,3})(?=[，,。！!]|$)")
_FORMERLY_LOST: Final = (
    LONG_AGO + WordGroup("once|as a (?:child|kid|boy|girl|student)|at the time", "那时|有一次")
).pattern()
"""Says that something was lost long ago, so that it may be there again."""
_HYPOTHETICAL: Final = (CONDITION + GUESS + WISH + DREAM + NEARLY).pattern()
"""Says that what its sentence tells is not, or may not be, so; what only ought to be, or is hoped, stands beside what is:
"I sold my car, I hope you don't mind", "I should know better, back at it".
"""
_SERVICEABLE: Final = re.compile(r"\b(?:valid|working|usable|functioning)\b|有效|能用|没过期", re.IGNORECASE)
_OTHER_PERSON: Final = re.compile(r"\b(?:he|she|they|his|her|their|him|them|you|your)\b|[他她你您]", re.IGNORECASE)
_MODAL: Final = (INTENDED + GUESS + WordGroup("thinking|try|trying|used")).pattern()
_MONTHS: Final = "|".join(MONTHS)
_FUTURE_IN_PRESENT: Final = re.compile(
    r"(?:\b(?:am|are|is)|['’](?:m|re|s)) (?:\w+ly )?\w+ing\b.*"
    rf"\b(?:next (?:week|month|year|spring|summer|autumn|fall|winter|\w+day|{_MONTHS})"
    rf"|in (?:{_MONTHS}|a (?:week|month|year|fortnight)|\w+ (?:days|weeks|months|years))|tomorrow|soon)\b"
    rf"|{AHEAD.anywhere}",
    re.IGNORECASE,
)
"""Tells of what is to come, in the form of what is."""
_MOVED_TO: Final = re.compile(
    r"\b(?:moved|relocated|moving|resettled)(?: back| over)?(?: [a-z]+){0,2}? to\b|\bswapped .* for\b"
    r"|(?:搬|迁|调)(?:家)?[去到来回]",
    re.IGNORECASE,
)
_HABITS: Final = {
    "smoke": re.compile(r"\b(?:cigarettes?|cigs?|ciggies|fags|smokes|nicotine|tobacco|a pack a day)\b", re.IGNORECASE),
    "drink": re.compile(r"\b(?:booze|bottle|drink|wine|beer|alcohol)\b", re.IGNORECASE),
}
"""By a predicate, what somebody is back on who does it again."""
_TAKEN_UP: Final = re.compile(
    r"\b(?:resumed|relapsed|re-?married|(?:took|taken|taking) (?:it|them) (?:back )?up|back (?:on|at|to) (?:it|them))\b"
    r"|重[拾操]|复吸",
    re.IGNORECASE,
)
"""Says of itself that what had ended goes on."""
_RELAPSED: Final = re.compile(r"\brelapsed(?! into)\b|破戒", re.IGNORECASE)
_FALLEN_BACK: Final = re.compile(
    r"\b(?:back (?:on|to|at|into)|relapsed|(?:took|taken) up|fell off the wagon|started .* again)\b|破戒", re.IGNORECASE
)
"""Says that a habit is back, which its clause need not name by its verb."""
_ANOTHER_GO: Final = re.compile(
    r"\W*(?P<own>(?:i|we)\b(?:['’]\w+)? ?)?(?:(?:have|had|am|are|was|were|been|just|then|finally|now|recently|sadly|actually|soon|might|will|did|decided on) )*"
    r"(?:giv(?:e|es|ing|en) (?:it|them|this|that) another (?:go|try|shot|chance|whirl)|gave (?:it|them|this|that) another (?:go|try|shot|chance|whirl)|hav(?:e|ing) another (?:go|try|shot) at (?:it|them)|(?:right |straight )?back at it"
    r"|(?:picked|taken|took) (?:it|them) (?:back up|up again)|started (?:it )?(?:up )?again)\b"
    r"|\W*(?P<mine>我们?|咱们?)?(?:(?:唉|现在|最近|今天|昨天|前天|这周|上周|结果|然后|后来|于是|就|还是|终于|也)*又开始了|[^它他她雨雪风]{0,6}?(?:又[捡拾]起来|再试[一试]?[次下]|重新来过))",
    re.IGNORECASE,
)
"""Says at the start of a clause that something goes on, and not what: of its speaker, or of who spoke before."""
_CORRECTED: Final = re.compile(rf"\W*(?:(?:no|oh|well|but),? )*(?:{CORRECTION.form})", re.IGNORECASE)
"""Opens with words that take back what was told before."""
_NOT_SO: Final = re.compile(
    rf"\W*(?:(?:no|oh|well|but|i mean|{CORRECTION.form})\W+)*"
    r"(?:i['’]?m not|i am not|i (?:do|did|have)(?:n['’]?t| not)|that['’]?s (?:not (?:true|right|so)|wrong)|not (?:true|really))(?: really| actually)?\W*"
    rf"|\W*(?:{CORRECTION.anywhere})?[，, ]*(?:我|这|这个)?(?:不是(?:的|真的|这样)?|没有|不对|并?不过敏|没这回事)\W*",
    re.IGNORECASE,
)
"""Says of what was told right before that it is not so, and nothing else."""
_INTERJECTED: Final = re.compile(
    r"\W*(?:ok|okay|well|oh|yeah|yes|so|right|ugh|sigh|alas|hmm|update|guess what|new year|confession|唉|哎|嗨|好吧|没忍住|忍不住|坦白一下|算了)\W*$",
    re.IGNORECASE,
)
"""Opens a sentence and is no clause."""
_AGAIN: Final = re.compile(r"\bagain\b|又(?:重新)?开始|又[\u4e00-\u9fff]{1,3}[上起]|重新|恢复", re.IGNORECASE)
"""Says so beside a predicate."""
_LEFT_FOR: Final = re.compile(r"跳槽[到去]|\b(?:new job|start(?:ed|ing)?|joined) (?:at|with)?\b", re.IGNORECASE)
_LIGHT: Final = frozenset(
    tokenise(
        "have has had having own owns got get keep still ever yet any anymore now currently also already again be been "
        " can could may allowed do does did am is are was were will would really just today home any more"
    )
)
"""Words of a question that tell no matter: who owns a dog is asked after the dog."""
_PREDICATES: Final = frozenset(
    tokenise(
        "live living based reside work works employed allergic married eat drink smoke play speak drive like love study"
        " learn volunteer take go swim ride own with using use wear follow"
    )
)
_SAME_AS: Final = {
    "live": ("live", "resid", "base", "home"),
    "work": ("work", "job", "employ"),
    "marri": ("marri", "remarri", "wife", "husband", "wed"),
}
_EATS_MEAT: Final = re.compile(r"\beat(?:ing|s)?(?: \w+)? (?:meat|chicken|beef|pork|steak|bacon)\b", re.IGNORECASE)
_WITHOUT_WORK: Final = re.compile(
    r"\b(?:retired|unemployed|between jobs|out of work|on the dole|jobless|(?:lost|quit|left) my job|laid off|made redundant|got (?:fired|sacked))\b",
    re.IGNORECASE,
)
_DELIVERED: Final = re.compile(
    r"\b(?:(?:had|have had|has had) (?:the|a|my|her|our) baby(?! (?:shower|scan|bump|photo|names?|clothes|monitor|sitter|talk)\b)|(?<!who )(?<!that )(?:gave|given) birth(?![^.]*\b(?:19|20)\d\d\b)|miscarr\w+|baby (?:was|is|has) (?:born|here|arrived|come))\b",
    re.IGNORECASE,
)
_OPPOSITES: Final = {
    "pregnant": _DELIVERED,
    "marri": re.compile(r"\b(?:divorced|single|separated|widowed|unmarried)\b", re.IGNORECASE),
    "vegetarian": _EATS_MEAT,
    "vegan": _EATS_MEAT,
    **dict.fromkeys(("work", "job", "employ"), _WITHOUT_WORK),
    "结婚": re.compile("离婚|单身|丧偶|未婚"),
    "怀孕": re.compile("生了(?![病气火锈]|一?[场肚])|生完|出生|流产"),
    "吃素": re.compile("吃(?:起|上)?肉"),
}
"""By a predicate, or an object alone, what says the contrary of it."""
_PREDICATE_CHINESE: Final = re.compile(
    r"[和跟](?P<partner>[\u4e00-\u9fffA-Za-z]+?)在一起|对(?P<allergen>[\u4e00-\u9fffA-Za-z]+?)过敏|(?P<marry>结婚|已婚)"
    r"|(?P<does>住在|住|在上(?!海)|在学|在练|在|养|有|吃|喝|会说|会拉|会弹|会|拉|弹|抽|开|说|能吃)(?:了|过|着)?(?P<object>[\u4e00-\u9fffA-Za-z]+)"
)
_ASKING_CHINESE: Final = re.compile(
    r"^\W*我(?:们|家)?(?:现在|还|也|是不是|到底|目前|平时|仍然)*|(?:上班|工作|生活)?(?:了|的)?(?:吗|吧|没有|没|呢|啊)?\W*$"
)
_TWICE: Final = re.compile(r"([\u4e00-\u9fff])[不没]\1")
_SAME_CHINESE: Final = {
    "住": "住|搬|定居|迁|调",
    "住在": "住|搬|定居|迁|调",
    "在": "在|去|到|跳槽",
    "在上": "在|去|到|上",
    "在学": "在|学",
    "在练": "在|练",
    "养": "养|有",
    "有": "养|有|买",
    "能吃": "吃",
    "会拉": "拉",
    "会弹": "弹",
    "会说": "说|讲|会",
}
_BEFORE_IT_CHINESE: Final = re.compile(
    "(?:[\\d一二三四五六七八九十]+月份?|年[初底]|现在|其实|早就?|后来|以前|最近|刚刚?|今天|昨天|上周|上个?月|去年|已经|终于|因为|所以|而且|但是?|从来?|一直|一|每[天周次]|每周日|周末|又|还是?|确实|果然|也|都|就|能|可以|会|开始|重新|和|跟"
    "|不|没|再|领|收|把家?|从|对|在|我们?家?里?的?|咱们?|用户|家里|把|那[辆条只台张部本个]|这[辆条只台张部本个]|一[辆条只台张部本个]|新的?|旧|老"
    "|戒(?:掉|了)*|卖(?:掉|了)*|退(?:掉|了|出)*|弄?丢(?:掉|了)*|捐(?:掉|了)*|取消了?|注销了?|补?办了?|买了?|换了?|领养了?|找[到回]了?|续了?|拿到了?|收到了?|加入了?)*"
)
"""All that may stand before what a clause of the speaker says: adverbs and the speaker."""
_OWN: Final = re.compile(
    r"\W*(?:(?:and|but|so|then|well|oh|now|actually|no|yes|okay|anyway|recently|also) )*"
    r"(?:(?:[A-Z]\w+ and )?I\b|im\b|ive\b|we\b|we['’]|the user\b(?!['’]))",
    re.IGNORECASE,
)
_OF_MINE: Final = re.compile(
    r"\b(?:my|our) (?=((?:(?!(?:her|his|their|an?|the|no|lost|sold|my|our|has|have|had|is|are|was|were|wants?|gets?|got)\b)"
    r"[\w-]+ ?){1,3})(?!['’]))",
    re.IGNORECASE,
)
"""What is called the speaker's."""
_ELLIPTIC: Final = re.compile(
    r"\W*(?:just |finally |then )*(?:got|found|bought|renewed|rejoined|re-?subscribed|replaced|picked up|back)\b",
    re.IGNORECASE,
)
"""Begins with what the speaker did to have something again."""
_OWNED: Final = re.compile(r"\W*(?:my|our)\b", re.IGNORECASE)
_SUBJECT: Final = re.compile(
    r"\W*(?:[A-Z]|(?:my|our|the|an?|he|she|they|his|her|their|it|this|that|who|which|you|your|some|there)\b)"
)
"""Begins a clause with a subject of its own, so that it is not of whom the clause before is."""
_COPULAS: Final = frozenset(tokenise("i'm am we're been became is are i've"))
_HOLDS: Final = frozenset(tokenise("have has had i've we've got own keep bought adopted drive my our"))
"""Verbs by which it is said that the asker is something, or has it."""
_BEHIND: Final = frozenset(
    tokenise(
        "called named and who that which since for at in on from now again any anymore is has was sleeps too as but"
        " instead after"
    )
)
"""Words behind an object that leave it the last of its phrase: a dog called Rex, not dog food."""
_TO_WHOM: Final = frozenset(tokenise("to with"))
"""The same behind what somebody is: engaged to Raj; who has a dog to walk need not have one."""
_SINGLE_BEFORE: Final = re.compile(
    r"(?:^|[橘黑白灰花黄小大胖]|[条只个辆台匹头口养有买把我家的对吃喝，、和了戒抽吸卖丢退捐]|[一二两三])$"
)
_SINGLE_BEHIND: Final = re.compile(r"^(?:$|[^\u3400-\u9fff]|[了叫是的也和都还我卖没不死丢送过就名吧戒停])")


class ClauseReading(Enum):
    """What a clause says to a question."""

    YES = "yes"
    NO = "no"
    ELSEWHERE = "elsewhere"
    RESUMED = "resumed"
    UNCLEAR = "unclear"
    NO_ALLERGY = "no allergy"


class Following(Enum):
    """Whether a statement that came after another is of the same object, of another one, or it is not told."""

    SAME = "same"
    OTHER = "other"
    UNTOLD = "untold"


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """What is plainly said to a question.

    Attributes:
        yes: Yes or no; None where the newest that holds the matter is unclear, or in doubt since.
        item: What says so.
        sentence: The sentence of it.
        inferred: A rule infers it: it is not said in so many words of the time that is asked about.
    """

    yes: bool | None
    item: Item
    sentence: str
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """The predicate and the objects of a question, as stems or Chinese words.

    Where it only asks whether the asker is something, or has it, `verbs` are those by which that is said. `foods` are
    the words of the question as they are written, among which is the food where one is asked about. `serviceable`: it
    asks for one that serves.
    """

    predicate: str
    objects: frozenset[str]
    chinese: bool
    verbs: frozenset[str] = frozenset()
    foods: frozenset[str] = frozenset()
    serviceable: bool = False

    @classmethod
    def of(cls, question: str) -> _Asked | None:
        """Part a question; one for a thing that serves ("a valid passport") asks for the thing."""
        bare = _SERVICEABLE.sub("", question)
        parted = cls._parted(re.sub(" {2,}", " ", bare))
        return replace(parted, serviceable=bare != question) if parted else None

    @classmethod
    def _parted(cls, question: str) -> _Asked | None:
        if _CHINESE.search(question):
            core = _TWICE.sub(r"\1", _ASKING_CHINESE.sub("", question))
            match = _PREDICATE_CHINESE.search(core)
            if match is None:
                return None
            if match["partner"]:
                return cls("在一起", frozenset({match["partner"]}), chinese=True)
            if match["allergen"]:
                return cls("过敏", frozenset({match["allergen"]}), chinese=True)
            return (
                cls("结婚", frozenset(), chinese=True)
                if match["marry"]
                else cls(match["does"], frozenset({match["object"]}), chinese=True, foods=frozenset({match["object"]}))
            )
        words = [token for token in tokenise(question) if not is_stop(token) and token not in _LIGHT]
        predicate = next((token for token in words if token in _PREDICATES), "")
        objects = frozenset(words) - {predicate}
        foods = frozenset(re.findall(r"[a-z]+", question.lower()))
        if not predicate and objects and _ASKS_LEAVE.match(question):
            predicate = _EAT
        if predicate:
            return cls(predicate, objects, chinese=False, foods=foods)
        is_or_has = _COPULAS if re.match(r"\W*am i\b", question, re.IGNORECASE) else _HOLDS
        plain = re.match(
            r"\W*(?:am i|(?:do|have) (?:i|we)(?: still)?(?: have| own| got| keep)) ?", question, re.IGNORECASE
        )
        return cls("", objects, chinese=False, verbs=is_or_has) if objects and plain else None

    def named_in(self, clause: str) -> bool:
        """Whether a clause holds all objects; where there are none, the predicate."""
        if not self.objects:
            return self.done_in(clause)
        if self.chinese:
            return all(holds_chinese(clause, word) for word in self.objects)
        return self.objects <= set(tokenise(clause))

    def kind_in(self, clause: str) -> bool:
        """Whether a clause names a kind of food that an object of the question is one of."""
        return self.predicate in _CONSUMED and any(
            re.search(kind, clause, re.IGNORECASE) and any(re.fullmatch(members, word) for word in self.foods)
            for kind, members in _KINDS
        )

    def done_in(self, clause: str) -> bool:
        """Whether a clause holds the predicate, or another word for it."""
        if self.chinese:
            return re.search(_SAME_CHINESE.get(self.predicate, self.predicate), clause) is not None
        tokens = tokenise(clause)
        if self.predicate:
            return not set(_SAME_AS.get(self.predicate, (self.predicate,))).isdisjoint(tokens)
        last = max((n for n, token in enumerate(tokens) if token in self.objects), default=-1)
        before = tokens[max(0, last - 2 - len(self.objects)) : last]
        ends = tokens[last + 1 : last + 2]
        behind = _BEHIND if not _HOLDS.isdisjoint(before) else _BEHIND | _TO_WHOM
        return not self.verbs.isdisjoint(before) and (not ends or ends[0] in behind)

    def owned_in(self, clause: str, before: bool) -> bool:
        """Whether whoever asks is the subject of a clause; `before` of the clause before it."""
        if self.chinese:
            words = (*self.objects, *_SAME_CHINESE.get(self.predicate, self.predicate).split("|"))
            starts = [clause.find(word) for word in words if word in clause]
            return not starts or _BEFORE_IT_CHINESE.fullmatch(clause[: min(starts)].strip()) is not None
        if self.verbs is _HOLDS and any(self.objects <= set(tokenise(of_mine)) for of_mine in _OF_MINE.findall(clause)):
            return True
        if _OWNED.match(clause):
            return False
        if _ELLIPTIC.match(clause) and object_state(clause, self.objects, chinese=False) is ObjectState.AGAIN:
            return True
        return bool(_OWN.match(clause)) or (before and not _SUBJECT.match(clause))

    @property
    def tokens(self) -> frozenset[str]:
        """What it asks about; of an unspaced script the characters."""
        words = {self.predicate, *self.objects, *self.verbs} - {""}
        return frozenset("".join(words)) if self.chinese else frozenset(words)

    @property
    def holds(self) -> bool:
        """Whether it asks if the asker has something, or is in it."""
        return self.verbs is _HOLDS or self.predicate in ("有", "养")

    @property
    def lives(self) -> bool:
        return self.predicate in ("live", "住", "住在")

    def touched_by(self, text: str) -> bool:
        """Whether a text names one of the objects."""
        return (
            any(word in text for word in self.objects) if self.chinese else not self.objects.isdisjoint(tokenise(text))
        )


def reads(question: str) -> bool:
    """Whether a question for yes or no is of a form that `said_of` reads: what the asker now is, has or does."""
    plain = asks_of_self(question) and not ASKS_PAST.search(question) and not _ENDED.search(question)
    return plain and _Asked.of(question) is not None


def follows(question: str, newer: str) -> Following:
    """How a newer statement of the same matter, in which nothing is read, stands to an older one that was read."""
    asked = _Asked.of(question)
    if asked is None or asked.touched_by(newer):
        return Following.SAME
    return Following.OTHER if asked.done_in(newer) and asked.objects else Following.UNTOLD


def said_of(question: str, facts: Iterable[Item], evidence: Sequence[Item]) -> YesOrNo | None:
    """Read what the asker plainly said to a question about themselves; None where no clause holds its matter.

    Args:
        facts: The profile of whoever asks.
        evidence: What they said themselves.
    """
    asked = _Asked.of(question)
    if asked is None or not reads(question):
        return None
    items = {item.id: item for item in (*facts, *evidence)}
    read: list[tuple[Item, str, ClauseReading]] = []
    for item in sorted(items.values(), key=lambda each: micros(each.said)):
        before = ""
        for sentence in written_sentences(item.text):
            reading = _read(asked, _young_by_kind(asked, sentence))
            if reading is None and before and read and read[-1][:2] == (item, before) and _NOT_SO.fullmatch(sentence):
                reading = ClauseReading.UNCLEAR
            before = sentence
            if reading is ClauseReading.RESUMED:
                ended = bool(read) and read[-1][2] is ClauseReading.NO
                reading = ClauseReading.YES if ended else None
            if reading is ClauseReading.NO_ALLERGY:
                reading = _of_which_allergy(asked, sentence, items.values())
            if reading is None and read and read[-1][2] is ClauseReading.NO and _may_go_on(sentence):
                reading = ClauseReading.UNCLEAR
            if reading is not None:
                read.append((item, sentence, reading))
    plain = [each for each in read if each[2] is not ClauseReading.ELSEWHERE]
    if not plain:
        return None
    item, sentence, reading = read[-1]
    if reading is ClauseReading.ELSEWHERE:
        yes = False if plain[-1][2] is ClauseReading.YES else None
    else:
        yes = {ClauseReading.YES: True, ClauseReading.NO: False}.get(reading)
    if yes and asked.holds and (gone := _gone_by_name(sentence, item, items.values())) is not None:
        return YesOrNo(yes=False, item=gone[0], sentence=gone[1])
    told = read[_from_correction(read, item) :]
    same = {each for at, _, each in told if at.said == item.said and each is not ClauseReading.ELSEWHERE}
    if len(same) > 1 or (yes and _in_doubt(asked, sentence, item, items.values())):
        yes = None
    return YesOrNo(yes, item, sentence)


def _from_correction(read: Sequence[tuple[Item, str, ClauseReading]], item: Item) -> int:
    """From which reading on those of an item count: the last that opens with taking back what was told, or the first."""
    return max((n for n, (at, said, _) in enumerate(read) if at is item and _CORRECTED.match(said)), default=0)


def _young_by_kind(asked: _Asked, sentence: str) -> str:
    """A sentence with the word for a young pet as that for any, where a question asks for one: a puppy is a dog."""
    for kind in asked.objects & _YOUNG.keys():
        sentence = _YOUNG[kind].sub(kind, sentence)
    return sentence


def _may_go_on(sentence: str) -> bool:
    """Whether a sentence says that something goes on which it does not name, as what had ended may."""
    if any(form.search(sentence) for form in (_QUESTION, _HYPOTHETICAL, DENIED, _OTHER_PERSON)):
        return False
    own = True
    for clause in filter(None, map(str.strip, _CLAUSE.split(sentence))):
        goes_on = _ANOTHER_GO.match(clause)
        if goes_on and (own or goes_on["own"] or goes_on["mine"]):
            return True
        if _INTERJECTED.match(clause) is None:
            first_person = clause.lstrip().startswith(("我", "咱")) if _CHINESE.search(clause) else _OWN.match(clause)
            own = bool(first_person) or (own and not _CHINESE.search(clause) and not _SUBJECT.match(clause))
    return False


def _gone_by_name(sentence: str, item: Item, said: Iterable[Item]) -> tuple[Item, str] | None:
    """The later sentence that says that whoever a sentence calls by one name is gone: a dog called Rex, and Rex."""
    names = _CALLED.findall(sentence)
    if len(names) != 1:
        return None
    name = next(filter(None, names[0]))
    chinese = _CHINESE.search(name) is not None
    words = frozenset({name}) if chinese else frozenset(tokenise(name))
    gone: tuple[Item, str] | None = None
    for each in sorted(said, key=lambda later: micros(later.said)):
        if micros(each.said) <= micros(item.said):
            continue
        for part in written_sentences(each.text):
            there = name in part if chinese else words <= set(tokenise(part))
            if not there or _QUESTION.search(part) or _HYPOTHETICAL.search(part) or DENIED.search(part):
                continue
            match object_state(part, words, chinese=chinese):
                case ObjectState.GONE:
                    gone = each, part
                case ObjectState.AGAIN:
                    gone = None
    return gone


def holds_chinese(clause: str, word: str) -> bool:
    """Whether a clause holds a word, that of one character not within another word: 车, not 火车票."""
    if len(word) > 1:
        return word in clause
    places = (match.start() for match in re.finditer(re.escape(word), clause))
    return any(_SINGLE_BEFORE.search(clause[:at]) and _SINGLE_BEHIND.match(clause[at + 1 :]) for at in places)


def _read(asked: _Asked, sentence: str) -> ClauseReading | None:
    """What a sentence says to a question: what the last of its clauses that holds the matter says."""
    if _QUESTION.search(sentence):
        return None
    quoted = QUOTED.sub("", sentence)
    for said, wrong, right in restated(quoted):
        if _read(asked, right) is None and _read(asked, wrong) is ClauseReading.YES:
            return ClauseReading.NO
        quoted = quoted.replace(said, right, 1)
    joined = re.match(r"[A-Z]\w+ and I\b", quoted)
    parts = [part.strip() for part in ((quoted,) if joined else _CLAUSE.split(quoted)) if part and part.strip()]
    readings: list[ClauseReading] = []
    own = False
    for n, part in enumerate(parts):
        if asked.predicate in _ALLERGIES or asked.verbs is _COPULAS:
            part = as_own(part)
        own = asked.owned_in(part, own)
        if asked.predicate in _ALLERGIES and asked.objects and is_no_longer_allergic(part):
            readings += _read_lifted(asked, parts[:n], sentence)
        elif _allergic_to_nothing(asked, part, "".join(parts[:n][-1:]), own=own):
            if not SUPPOSES.search(sentence) and not about_another(part, frozenset(), sentence):
                readings.append(ClauseReading.UNCLEAR)
        elif _resumes(asked, part, own=own, ended=readings[-1:] == [ClauseReading.NO]):
            readings.append(ClauseReading.YES if readings[-1:] == [ClauseReading.NO] else ClauseReading.RESUMED)
        elif (own or loses_work(part) or (is_cured(part) and of_own_allergy(part))) and (
            reading := _read_clause(asked, part, sentence)
        ) is not None:
            readings.append(reading)
    plain = [clause_reading for clause_reading in readings if clause_reading is not ClauseReading.ELSEWHERE] or readings
    return plain[-1] if plain else None


def _allergic_to_nothing(asked: _Asked, clause: str, before: str, *, own: bool) -> bool:
    """Whether a clause, behind that before it, says to a question for an allergy that its speaker has none at all."""
    of_allergy = asked.predicate in _ALLERGIES and bool(asked.objects)
    return (
        of_allergy
        and (own or (asked.chinese and not _OTHER_PERSON.search(clause)))
        and is_allergic_to_nothing(clause, before)
    )


def _read_lifted(asked: _Asked, before: Sequence[str], sentence: str) -> list[ClauseReading]:
    """What it says that whoever speaks is allergic no more, of an allergy that only the clauses before may name."""
    if SUPPOSES.search(sentence) or any(about_another(part, frozenset(), sentence) for part in before):
        return []
    named = [part for part in before if asked.named_in(part)]
    if named:
        own = asked.owned_in(named[-1], before=True) or of_own_allergy(named[-1])
        return [ClauseReading.NO] if own else []
    return [ClauseReading.NO_ALLERGY]


def _of_which_allergy(asked: _Asked, sentence: str, said: Iterable[Item]) -> ClauseReading | None:
    """What a sentence that ends an allergy and does not name it says of one, by what else its speaker is allergic to."""
    others = other_allergens((each.text for each in said), asked.objects)
    if any(other in sentence.casefold() for other in others):
        return None
    return ClauseReading.UNCLEAR if others else ClauseReading.NO


def _resumes(asked: _Asked, clause: str, *, own: bool, ended: bool) -> bool:
    """Whether a clause says that what had ended goes on: by the predicate, or without it right behind the end.

    One that begins with the predicate is of whoever speaks: "Smoking again."
    """
    if DENIED.search(clause) or SUPPOSES.search(clause) or _MODAL.search(clause):
        return False
    elliptic = bool(asked.predicate) and tokenise(clause)[:1] == [asked.predicate]
    habit = _HABITS.get(asked.predicate)
    if (
        habit
        and not asked.objects
        and _FALLEN_BACK.search(clause)
        and (habit.search(clause) or _RELAPSED.search(clause))
    ):
        return own or _FALLEN_BACK.match(clause.strip()) is not None
    done = bool(asked.predicate) and asked.done_in(clause)
    taken_up = _TAKEN_UP.search(clause) is not None
    goes_on = (done and (taken_up or _AGAIN.search(clause) is not None)) or (ended and taken_up)
    return goes_on and (own or elliptic) and not (asked.objects and asked.named_in(clause))


def _read_clause(asked: _Asked, clause: str, sentence: str) -> ClauseReading | None:
    opposite = _OPPOSITES.get("".join((asked.predicate, *asked.objects)))
    if opposite and opposite.search(clause):
        return ClauseReading.UNCLEAR if DENIED.search(clause) or _OTHER_PERSON.search(clause) else ClauseReading.NO
    if (reading := _read_food(asked, clause, sentence)) is not None:
        return reading
    if not asked.named_in(clause):
        return _read_elsewhere(asked, clause)
    if asked.predicate == _ALLERGIC and asked.objects and _TOLERATED.search(clause):
        return ClauseReading.UNCLEAR if DENIED.search(clause) or SUPPOSES.search(sentence) else ClauseReading.NO
    if asked.predicate in _ALLERGIES and asked.objects and is_allergic_to_nothing_but(clause):
        return ClauseReading.UNCLEAR if SUPPOSES.search(sentence) else ClauseReading.YES
    if asked.predicate in _ALLERGIES and asked.objects and is_cured(clause):
        return ClauseReading.UNCLEAR if SUPPOSES.search(sentence) else ClauseReading.NO
    if _is_over(asked, clause, sentence) or (_SHUNS.match(clause) and asked.done_in(clause)):
        return ClauseReading.UNCLEAR if DENIED.search(clause) else ClauseReading.NO
    if is_past(asked.tokens, clause):
        return ClauseReading.UNCLEAR
    state = object_state(clause, asked.objects, chinese=asked.chinese)
    if asked.holds and state is not None and not _HYPOTHETICAL.search(sentence):
        return _of_state(state, clause, asked.serviceable)
    not_asserted = (SUPPOSES, _MODAL, _OTHER_PERSON, _FUTURE_IN_PRESENT)
    if SUPPOSES.search(sentence) or any(form.search(clause) for form in not_asserted):
        return ClauseReading.UNCLEAR if asked.done_in(clause) else None
    if state is ObjectState.AGAIN and not DENIED.search(clause):
        return ClauseReading.YES
    ends = asked.chinese or state is ObjectState.GONE
    if asked.objects and ends and _ENDED.search(clause) and not _MOVED_TO.search(clause):
        return ClauseReading.UNCLEAR if DENIED.search(_ENDED.sub("", clause)) else ClauseReading.NO
    done = asked.done_in(clause) or (asked.lives and _MOVED_TO.search(clause))
    if not done:
        return None
    if asked.lives and (moved := _MOVED_TO.search(clause)):
        behind = clause[moved.end() :]
        away = not asked.named_in(behind)
        return ClauseReading.UNCLEAR if DENIED.search(clause) else (ClauseReading.NO if away else ClauseReading.YES)
    if _FORMERLY.search(clause) or NO_DENIAL.search(clause):
        return ClauseReading.UNCLEAR
    return ClauseReading.NO if DENIED.search(clause) else ClauseReading.YES


def _of_state(state: ObjectState, clause: str, serviceable: bool) -> ClauseReading:
    """What the state of an object says to whether the asker has it, or has one that serves."""
    if _FORMERLY_LOST.search(clause) or DENIED.search(clause):
        return ClauseReading.UNCLEAR
    match state:
        case ObjectState.GONE:
            return ClauseReading.NO
        case ObjectState.UNFIT:
            return ClauseReading.NO if serviceable else ClauseReading.UNCLEAR
        case ObjectState.AGAIN:
            return ClauseReading.YES


def _read_food(asked: _Asked, clause: str, sentence: str) -> ClauseReading | None:
    """What a clause that names a food, or its kind, says to whether the asker can have it: no, or nothing."""
    of_food = asked.predicate in _CONSUMED and asked.objects and (asked.named_in(clause) or asked.kind_in(clause))
    if (
        not of_food
        or about_another(clause, frozenset(), sentence)
        or any(form.search(sentence) for form in (SUPPOSES, _OTHER_PERSON, _FORMERLY))
    ):
        return None
    if _CANNOT.search(clause):
        beside = NO_DENIAL.sub("", _CANNOT.sub("", clause))
        lifted = DENIED.search(beside) or _ENDED.search(beside)
        return ClauseReading.UNCLEAR if lifted else ClauseReading.NO
    ill = _MAKES_ILL.search(clause)
    if ill and (asked.named_in(food := clause[: ill.end()]) or asked.kind_in(food)):
        some = any(re.search(_SORT_OF + re.escape(word), food) for word in asked.objects)
        some = some or bool(_ONCE_OR_TOO_MUCH.search(clause) or DENIED.search(clause[: ill.start()]))
        return ClauseReading.UNCLEAR if some else ClauseReading.NO
    if _NOT_TOLERATED.search(clause) and (is_cured(clause) or _TOLERATED.search(clause)):
        return ClauseReading.UNCLEAR
    if asked.named_in(clause):
        if _BORNE.search(clause) and not _NOT_TOLERATED.search(_BORNE.sub("", clause)):
            return ClauseReading.UNCLEAR
        return None  # of the food itself the clause is read as of any object
    if _NOT_TOLERATED.search(clause):
        denied = DENIED.search(_NOT_TOLERATED.sub("", clause))
        return ClauseReading.UNCLEAR if denied else ClauseReading.NO
    return ClauseReading.NO if asked.done_in(clause) and DENIED.search(clause) else None


def _is_over(asked: _Asked, clause: str, sentence: str) -> bool:
    """Whether a clause that holds the matter says that it was once so, or that its object is no more or not borne."""
    if asked.predicate in _CONSUMED and _NOT_TOLERATED.search(clause):
        return bool(asked.objects)
    if _USED_TO.search(clause) and asked.done_in(_USED_TO.sub("", clause)):
        return True
    gave_up = _GAVE_UP.search(clause)
    if gave_up and asked.predicate and asked.predicate in tokenise(gave_up[1]):
        return True
    had = _HAD_AND_DIED.search(sentence[sentence.find(clause) :])
    return asked.verbs is _HOLDS and bool(had or _OWN_DIED.match(clause))


def _read_elsewhere(asked: _Asked, clause: str) -> ClauseReading | None:
    """What a clause says that tells of another home or place of work than is asked after."""
    if SUPPOSES.search(clause) or _MODAL.search(clause) or DENIED.search(clause) or not asked.objects:
        return None
    if asked.lives and (_MOVED_TO.search(clause) or re.search(r"\buser lives in\b|用户住在", clause)):
        return ClauseReading.ELSEWHERE
    at_work = asked.predicate in ("work", "在") and (_LEFT_FOR.search(clause) or loses_work(clause))
    return ClauseReading.ELSEWHERE if at_work else None


def _in_doubt(asked: _Asked, sentence: str, item: Item, said: Iterable[Item]) -> bool:
    """Whether something named in a sentence was since said to be gone: a dog is called Rex, and Rex died."""
    names = telling_words(sentence) - {asked.predicate} - {"user", "call", "name"} - _LIGHT
    later = (
        part
        for each in said
        if micros(each.said) > micros(item.said) or each.id != item.id
        for part in _CLAUSE.split(each.text)
        if micros(each.said) >= micros(item.said)
    )
    return any(part and _GONE.search(part) and not names.isdisjoint(telling_words(part)) for part in later)
