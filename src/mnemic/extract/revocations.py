# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""What a user takes back of what they had told the assistant, and which instruction it bears on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.aspects import aspects, denies, without_aspects
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.sentences import sentences
from mnemic.extract.withdrawal_meaning import is_for_once, is_of_others, may_withdraw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mnemic.extract.sentences import Sentence

T = TypeVar("T")

_LEAD: Final = r"^(?:(?:ok(?:ay)?|oh|hey|also|and|well|actually|thanks|thank you|by the way|btw|please|so|alright|right|now|from now on)[,.!: ]+)*"
_RULE: Final = r"(?:rule|instruction|request|wish|preference|thing|order|restriction|ban|requirement|guideline|policy|habit)(?:s|es)?"
_UNDO: Final = r"(?:forget|ignore|disregard|scrap|scratch|strike|drop|cancel|undo|lift|remove|never mind|delete|revoke|rescind|withdraw|retract|discard|ditch|bin|waive|lose)"
_ENDS: Final = r"(?:any ?more|any longer|now|from now on|every time|again|going forward)"
_BE_UNDONE: Final = r"(?:(?:can|may|could|should|is to|has) (?:now )?(?:be|been) (?:forgotten|ignored|disregarded|dropped|lifted|cancell?ed|scrapped|withdrawn|removed|waived|retired|deleted))"
_FORMS: Final = (
    rf"{_LEAD}you (?:no longer (?:need|have) to|can stop|may stop) (?P<topic>.+)",
    rf"{_LEAD}you (?:(?:don't|do not) (?:need|have) to|needn't) (?P<topic>.+?) {_ENDS}",
    rf"{_LEAD}(?:there's |there is )?no (?:longer (?:any |a )?)?need to (?P<topic>.+?)(?: {_ENDS}|[.!]*$)",
    rf"{_LEAD}(?:you (?:can|may|could)|feel free to|it's (?:ok|okay|fine|alright) to|go back to|i don't mind) (?P<topic>.+?) (?:again|as before|after all)\b",
    rf"{_LEAD}{_UNDO} (?:about )?(?:what|everything|anything|all) i(?:'ve| have)? (?:said|told you|asked|wrote|mentioned)(?: you)?(?: before| earlier)?"
    rf"(?: about| on| regarding| for| to)? ?(?P<topic>.+)",
    rf"{_LEAD}{_UNDO} (?:about )?(?:the|my|that|your|our) (?:old |earlier |previous |last )?{_RULE}(?: about| on| for| regarding| with| to| of)? (?P<topic>.+)",
    rf"{_LEAD}{_UNDO} (?:about )?(?:the|my|that|our) (?P<topic>.+?) {_RULE}\b",
    rf"{_LEAD}i(?:'ve| have)? changed my mind (?:about|on) (?P<topic>.+)",
    rf"{_LEAD}(?:the|my|that) (?:earlier |old |previous )?{_RULE} (?:about|on|for|of|to|concerning|regarding|as to) (?P<topic>.+?) (?:no longer|is off|is void|is gone|is over|doesn't|can go|was|{_BE_UNDONE}|has (?:lapsed|expired|served its purpose|run its course))",
    rf"{_LEAD}(?:the|my|that) (?P<topic>.{{1,60}}?) {_RULE} (?:is (?:off|void|gone|lifted|over)|no longer (?:applies|holds)|can go|doesn't apply)\b",
    rf"{_LEAD}i(?:'d like to)? take back (?:what|everything|all) i(?:'ve| have)? (?:said|told you|asked|wrote)(?: you)?(?: about| on| regarding| for| to)? ?(?P<topic>.+)",
    rf"{_LEAD}(?P<topic>[^,;:]{{1,60}}?) (?:are|is) (?:fine|ok|okay|alright|allowed|welcome|good) (?:again|after all)\b",
    r"(?:以后|现在|今后|你|您|也|就|可以|都|[，,])*(?:不用|不必|不需要|无需|不要求你?|没必要)(?:再|继续|每次|总是|一直)*(?P<topic>.+?)(?:了|啦)(?:[。！!~]*$|[，,](?=恢复|改回|换回|回到|像以前|照旧|跟以前))",
    r"(?:别|不要)(?:再|总是|一直)*(?P<topic>[^，,]{1,20}?)(?:了|啦)?[，,](?:请|还是|就)*(?:恢复|改回|换回|照旧)",
    r"(?P<topic>[^，,]{1,16}?)(?:又|还是)(?:可以|能|行)(?:用|说|写|加|带)?(?:了|的|啦)(?:[。！!~]*$|[，,])",
    r"(?P<topic>[^，,]{1,16}?)(?:就算了|算了吧|不用了|停了吧)[，,](?:恢复|换回|改回|照旧)",
    r"(?:那[条个]|之前|以前|关于|我的?|的)*(?P<topic>[^，,]{1,16}?)的?(?:规矩|规则|要求|规定|设定|限制)(?:就|都|先|可以)*(?:取消|作废|不算|免了|算了|撤)",
    r"(?:请|帮我|把|你|可以)*(?:取消|撤销|忘掉|忘了|忘记|忽略|作废|去掉|解除|删掉|收回)(?:之前|以前|上次|我|关于|那条|那个|的|说过?|提过?|要求你?|让你|对)*(?P<topic>.+?)(?:的)?(?:规矩|规则|要求|指令|设定|规定|限制|话|事情?|说法|约定)(?:吧|了|$|[。，！])",
    r"(?:我|关于)*(?:之前|以前|上次|原来)(?:我)?(?:说|要求|让你|提|讲|定)(?:过)?的?(?P<topic>.+?)(?:不算|作废|取消|算了|不用了|就算了|可以不用|不用管)",
    r"(?:以后|现在|你|您|又|就|[，,])*(?:可以|能)(?:又|再|重新|恢复|继续)(?P<topic>.+?)(?:了|吧|啦)?[。！!]*$",
    r"(?:请)?(?:恢复|改回)(?P<topic>.+?)(?:了|吧)?[。！!]*$",
)  # fmt: skip
_AT: Final = r"(?:.*?[,;:] |.*? (?:so|and|but) )??(?:(?:ok(?:ay)?|oh|hey|well|actually|thanks|please|now|also|from (?:now|today)(?: on)?|and|so|but|pls)[,.!: ]+)*"
_LIMIT: Final = r"(?:limits?|caps?|rules?|bans?|bar|restrictions?|requirements?|assumptions?|conditions?|constraints?)"
_AGAIN: Final = r"(?:again|once more|after all|any ?more|any longer|from (?:now|here) on|from today|now|as (?:before|you (?:like|please|wish|want)))"
_ABOUT: Final = r"(?P<topic>(?:[^,;:.!]|[;:.](?=\w)){2,80}?)"
_THEN: Final = r"(?:[,;:.!]|$| (?:please|pls|thanks|now)\b)"
_CUT: Final = r"(?P<topic>[^，,。！!；]{1,16}?)"
_WORDED_FORMS: Final = (
    # something else in its place, said in one sentence
    ("replaces", rf"{_AT}(?:make (?:it|that|them)|call me|use|answer|reply|respond|write|give me|speak|talk|put|switch|go for|i(?:'d| would)? (?:like|prefer|rather have|want)|let's (?:have|do|use))\b[^,;:.]*? (?:instead of|rather than|in place of) {_ABOUT}(?: from (?:now|here) on| going forward)?{_THEN}"),
    ("replaces", rf"{_AT}(?!(?:i|he|she|we|they)\b)[^,;:.]{{2,40}}? (?:instead of|rather than|in place of) {_ABOUT} (?:from (?:now|here|today) on|going forward|in future){_THEN}"),
    ("replaces", rf"(?:好了?[，,]|那|就|把|以后|现在|请|你)*+{_CUT}(?:换成|改成|改为|换为|改用|改叫|改)(?!天|日|时)[^，,。]{{1,12}}?(?:吧|[，,]以后|[，,]往后|[。！!]*$)"),
    ("replaces", rf"(?:以后|现在|请|你)*(?:别|不要|不用)再?(?:叫|喊|用|说|写|称呼)我?{_CUT}了?[，,](?:以后|就|请)*(?:改|换)(?:叫|用|说|写|成)"),
    # what was, before what ends it
    ("removes", rf"(?:ok(?:ay)? )?(?:the |those |all those )?{_ABOUT} (?:was|were) [^.;]{{2,40}}[,;] (?:but )?i(?:'m| am) over (?:it|them)\b"),
    # explicit: whatever the instruction was
    ("undoes", rf"{_AT}(?:you can |you may |please |let's |we can )?(?:drop|scrap|lift|remove|forget|cancel|disregard|ignore|lose|ditch|end|waive|undo|never mind|nvm|nevermind)(?: about)?(?: (?:the|my|that|your))? {_ABOUT}[ -]?{_LIMIT}\b"),
    ("undoes", rf"{_AT}(?:the|my|that) {_LIMIT} (?:on|about|against|of|for) {_ABOUT} (?:is|has been|can be|was) (?:lifted|off|gone|over|dropped|waived|removed)"),
    ("undoes", rf"{_AT}(?:i )?(?:withdraw|take back|retract|forget|nvm|never ?mind|disregard|ignore|scrap)(?: (?:what|everything|all|anything) i(?:'ve)? (?:said|told you|asked(?: for)?|wrote))?(?: (?:about|on|regarding))? (?:the |my |that )?{_ABOUT}{_THEN}"),
    ("undoes", rf"{_AT}i(?:'ve| have)? changed my mind (?:about|on) {_ABOUT}{_THEN}"),
    ("undoes", rf"{_AT}(?:you(?:'re| are)|u r) (?:released|excused|freed|off the hook) (?:from|for) {_ABOUT}{_THEN}"),
    ("undoes", rf"(?:.*?[，,])?(?:其实|那|之前|以前|关于|我|说的?|的)*{_CUT}(?:的|那[条个项]|这[条个项])+(?:规矩|规则|要求|规定|设定|限制|约定)?(?:就|都|先|可以|请|您|也|我)*(?:取消|作废|不算|免了?|算了|撤|拿掉|去掉|不要了|不用了?|忽略|解除|忘|收回)"),
    ("undoes", rf"{_CUT}(?:规矩|规则|要求|规定|设定|限制)(?:就|都|先|可以|请|您|也)*(?:取消|作废|不算|算了|撤|拿掉|去掉|不要了|不用了?|忽略|解除)"),
    ("undoes", rf"(?:.*?[，,])?(?:其实|那|之前|以前|关于|我|说的?|的)*{_CUT}的(?:话|事)[，,]?(?:就|都|先|请|我|也)*(?:收回|撤回|作废|取消|不算数?|免了)"),
    ("undoes", r".*?(?:之前|以前|刚才|先前)(?:我)?(?:说|讲|提|要求)的?(?:关于)?(?P<topic>[^，,。！!；]{2,16}?)(?:的)?(?:不算|作废|取消|当我没|忽略|忘)"),
    # something is to end: an instruction that asked for it
    ("removes", rf"{_AT}(?:the |all the |those |your )?(?!(?:i|you|u|we|he|she|they)\b){_ABOUT} (?:can|may|could) (?:go|stop|end|be dropped)\b"),
    ("removes", rf"{_AT}(?:the |all the |those |your )?{_ABOUT} (?:is|are|isn't|aren't) (?:no longer|not|no more|now not)? ?(?:needed|required|necessary|wanted|called for)\b"),
    ("removes", rf"{_AT}it (?:is|'s) (?:no longer|not) necessary(?: any ?more)?(?: to)? {_ABOUT}{_THEN}"),
    ("removes", rf"{_AT}(?:the |all the |those |your )?{_ABOUT} (?:got|is getting|are getting|has become|have become) (?:old|tiresome|boring|much|annoying)\b"),
    ("removes", rf"{_AT}(?:you can |you may |u can |please |let's )?(?:drop|scrap|stop|quit|leave off|leave out|lose|ditch|cease|discontinue|give up|cut out|cancel|pause|call off|enough (?:with|of)|no more)(?: with)? (?:the |all the |those |your )?{_ABOUT}(?: (?:from (?:now|here) on|going forward|in future))?{_THEN}"),
    ("removes", rf"{_AT}(?:(?:there(?:'s| is)|it(?:'s| is)) )?(?:no (?:further|longer|more)?|not necessary(?: any ?more)?) ?(?:need|necessary|necessity)?(?: (?:to|for|of|you to))? {_ABOUT}{_THEN}"),
    ("removes", rf"{_AT}(?:i )?(?:no longer|don'?t) (?:want|need|wish|require|care for|like|would like)(?: (?:to (?:have|get|see|hear)|you to))? {_ABOUT}(?: any ?more)?{_THEN}"),
    ("removes", rf"{_AT}(?:you |u )?(?:needn'?t|don'?t|dont|do not|won'?t)(?: (?:need|have) to)? {_ABOUT} (?:any ?more|any longer|more|again|now)\b"),
    ("removes", rf"(?:.*?[，,])?(?:以后|现在|今后|你|您|也|就|可以|都|其实|那)*(?:[^，,]{{1,2}})??(?:不用|不必|不需要|无需|不要|别|停止|没必要)(?:再|继续|每次|总是|老是|一直|老)*{_CUT}(?:了|啦|吧)"),
    ("removes", rf"(?:.*?[，,])?{_CUT}(?:以后|今后|就|也|都|可以|先|现在)*(?:不用|不必|不需要|不麻烦|不使|可以不|别|停|省|免)(?:再|您|你|那么|吧|了)*[^，,。]{{0,6}}?(?:了|啦|吧|再说|再写|再讲|$)"),
    ("removes", rf"{_AT}(?:you can |you may |please |just )?leave (?:out |off )?(?:the |my |your |any )?{_ABOUT} (?:off|out|away)\b"),
    ("removes", rf"{_AT}i(?:'m| am|'ve had|'ve got| have had)? (?:tired|sick|bored|weary|done|over|enough|fed up)(?: (?:of|with))?(?: (?:being|getting|having|seeing|hearing))? (?:the |all the |your )?{_ABOUT}{_THEN}"),
    ("undoes", rf"{_AT}(?:the |my |our |that |this )?{_ABOUT} (?:experiment|trial|phase|regime|routine|game|act|thing|business|stuff|era|spell) (?:is|are|has|have)(?: now| been)? (?:over|done|finished|run its course|served its purpose|had its day|got(?:ten)? old|dropped)\b"),
    ("removes", rf"{_AT}{_ABOUT} (?:is|are) (?:over|done|finished|enough)\b(?! for (?!now\b|today\b|a while\b|good\b))"),
    ("removes", rf"{_AT}(?:the |so many |too many |those |all those )?{_ABOUT} (?:has|have) (?:become|got) (?:a bore|boring|tedious|tiresome|stale)\b"),
    ("removes", rf"{_AT}(?:the |so many |too many |those |all those )?{_ABOUT} (?:makes?|made|started giving|gives?) me (?:tired|anxious|anxiety|nervous|sad|cringe)\b"),
    ("removes", rf"{_AT}(?:you(?:'re| are)|i(?:'m| am)) (?:free|relieved|rid) (?:of|from) (?:the )?{_ABOUT}{_THEN}"),
    ("removes", rf".*?\bwithout (?:the |any |your )?{_ABOUT} (?:now|any ?more|from now on)\b"),
    ("undoes", rf"{_AT}i was (?:just |only )?being [a-z]+ (?:about|over|with) (?:the |all that )?{_ABOUT}(?: thing| business| stuff)?{_THEN}"),
    ("undoes", rf"{_AT}(?:the |all that )?(?:whole )?{_ABOUT} (?:thing|business|embargo)? ?(?:is|are) (?:now )?(?:moot|history|pointless|obsolete|behind us)\b"),
    ("removes", rf"(?:.*?[，,])?{_CUT}(?:停一停|收一收|用不着|没人懂|省一省|歇一歇)(?:了|吧)?"),
    ("allows", rf"(?:.*?[，,])?{_CUT}(?:你|您)?(?:想说就说|爱说就说|想用就用|爱用就用|随它去|也没事|也挺好|都成|也无妨|用回来|也能吃|多来点)"),
    ("removes", rf"(?:.*?[，,])?(?!.*对我){_CUT}(?:的?叫法)?(?:已经|都|也|就|可以|我)*(?:作废|腻了|够了|看烦了|听烦了|到此为止)"),
    # something is allowed, or another way of it: an instruction against it, or for something else of the kind
    ("allows", rf"{_AT}(?:it's|it is|its) (?:ok|okay|fine|alright|all right|good)(?: now)? (?:to|if you|for you to|that you) {_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}feel free to {_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}i(?:'d| would)? (?:(?:really|actually|honestly|now|do) )?(?:could use|need|welcome|consent to) (?:a |some )?(?:bit of )?{_ABOUT}(?: from you)?(?: lately| now| these days)?{_THEN}"),
    ("allows", rf"{_AT}i(?:'m| am) (?:now )?ready for (?:the |some )?{_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}i (?:do |kind of |actually )?(?:miss|want) (?:the |your |some )?{_ABOUT}(?: back)?{_THEN}"),
    ("allows", rf"{_AT}i(?:'ve| have) (?:come (?:a)?round to|warmed to|got(?:ten)? used to|grown to like|started to like|learned to like|learnt) {_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}(?:put|bring|add|turn|let|get|give me) (?:back )?(?:the |my |your |some )?{_ABOUT}(?: back| again| on again| instead| once more)(?: in| on)?{_THEN}"),
    ("allows", rf"{_AT}(?:bring|put) back (?:the |my |your )?{_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}(?:let's |you can |please )?(?:switch|change|move|swap)(?: me| it| us| things)?(?: over)?(?: back)? to {_ABOUT}{_THEN}"),
    ("allows", rf"(?:.*?[，,])?{_CUT}(?:也|都|现在|可以|我|又|就|已经)*(?:解禁|没事了|放开|无所谓|加回来|回来吧|有了)"),
    ("allows", rf"(?:.*?[，,])?还是(?:用|说|写|给我|加上|有)?{_CUT}(?:吧|好|比较)"),
    ("allows", rf"(?:.*?[，,])?{_CUT}(?:还是)?(?:加上|加回|带上|写上)吧?"),
    ("allows", rf"{_AT}(?:you|u|we)(?:'re| are)? (?:can|may|could|allowed to|free to|welcome to)(?: also| just| now| go back to| start| return to| use)* (?!stop|drop|leave|skip|omit|quit|cut|lose){_ABOUT} ?{_AGAIN}\b"),
    ("allows", rf"{_AT}(?:you|u|we) (?:can|may|could) (?:also|just|now|go back to|return to|start|switch (?:back )?to)(?: use| using)? {_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}(?:let's |you can |we can |please |i'd like to )?(?:go |switch |change |revert |return )?(?:back|revert|return) to {_ABOUT}{_THEN}"),
    ("allows", rf"{_AT}{_ABOUT} (?:is|are|will be)(?: now| also)? (?:fine|ok|okay|alright|all right|allowed|welcome|good|permitted|no problem|not a problem)\b"),
    ("allows", rf"{_AT}{_ABOUT} (?:will|would) do\b"),
    ("allows", rf"{_AT}{_ABOUT} (?:doesn't|don't|no longer) (?:bother|bothers|annoy|annoys|confuse|confuses|scare|scares) me\b"),
    ("allows", rf"{_AT}i(?:'m| am) (?:content|fine|happy|ok|okay|good|cool|at ease|comfortable) with {_ABOUT} {_AGAIN}\b"),
    ("allows", rf"{_AT}i (?:don't|do not|no longer|wouldn't) mind {_ABOUT}(?: any ?more| any longer| now)?{_THEN}"),
    ("allows", rf"{_AT}i(?:'d| would) (?:like|love|prefer) (?:to (?:have|see|get|hear) )?(?:the |some |your )?{_ABOUT} (?:again|back|after all){_THEN}"),
    ("allows", rf"(?:ok(?:ay)?|actually|please|well|on second thoughts?|no)[, ]+(?:please )?do (?!not\b|you\b|i\b|we\b|it\b|that\b|this\b){_ABOUT}{_THEN}"),
    ("allows", rf"(?:.*?[，,])?(?:以后|现在|今后|还是|就|请|你|您|我们|咱们)*(?:[改说用换写讲回变]|恢复)(?:回|返|成|用|说|写|到|的)+{_CUT}(?:吧|了|啦|好|就|得|也|$)"),
    ("allows", rf"(?:.*?[，,])?(?:以后|现在|今后|你|您|又|就|其实)*(?:可以|能|随便)(?:又|再|重新|恢复|继续|用|说|写|讲)*{_CUT}(?:了|啦|吧)"),
    ("allows", rf"(?:.*?[，,])?{_CUT}(?:您|你|其实|现在|以后|也|还|就|都)*(?:又|还是|可以|能|随便|无所谓|没关系|无妨|都行|都得|用回|用返|都)+(?:了|啦|吧|用|说|写|提|发|讲|聊|加|上|开|得|都|您|[，,。！!]|$)"),
)  # fmt: skip


class Withdrawal(Enum):
    """How a sentence takes something back: which tells the instructions it can be about."""

    UNDOES = "undoes"
    """By naming an instruction, whatever it asked for."""
    REMOVES = "removes"
    """By ending something: what asked for it is meant."""
    ALLOWS = "allows"
    """By letting something in again: what was against it is meant, or what asked for the other side of it."""
    LAST = "last"
    """By pointing at what was asked last: "forget that rule"."""
    EVERY = "every"
    """By naming all that was asked: "drop all my rules"."""
    USUAL = "usual"
    """By asking for what is usual again, whatever was asked in place of it: "talk normally again"."""
    REPLACES = "replaces"
    """By asking for something else in its place, so that the sentence goes on to stand."""
    HINTS = "hints"
    """By its meaning or a cue alone, so that the whole sentence is its topic: see `withdrawal_meaning`."""


DECIDED: Final = frozenset({Withdrawal.LAST, Withdrawal.EVERY, Withdrawal.USUAL, Withdrawal.REPLACES})
"""Ways in which a form tells more than the meaning of a sentence does, so that this is not asked about."""

_GIVEN: Final = (
    r"(?:(?: (?:that|which))? i(?:'ve| have)? (?:just |only just |once )?(?:gave|given|told|set|made|asked)(?: you)?(?: for)?)?"
    r"(?: (?:just now|earlier|before|from before))?"
)
_POLITE: Final = r"(?:,? (?:please|pls|thanks|thank you|now|then|will you|would you|for good))*[.! ]*$"
_ALL_OF: Final = (
    r"(?:all|every one|each one)(?: of)?(?: the| my| those| these| your)?(?: old| earlier| previous| standing| other)*"
)
_VOID: Final = r"(?:(?:is|are) (?:now )?(?:off|void|gone|over|lifted|cancell?ed|dropped|history|moot)|no longer (?:applies|apply|holds?|counts?|stands?)|(?:doesn't|does not|don't) (?:apply|count|hold|stand)(?: any ?more)?|can go)"
_ORDER: Final = r"(?:rule|instruction|request|restriction|ban|requirement|guideline|preference)s?"
_POINTED: Final = rf"(?:that|this|the|my) (?:last |latest |previous |most recent )?{_ORDER}{_GIVEN}"
_RULE_ZH: Final = "(?:规矩|规则|要求|规定|设定|限制|指令|指示|话)"
_VOID_ZH: Final = "(?:(?:就|先|可以|都|全部?|也|统统|请|给我)*(?:作废|取消|不算数?|算了|免了|撤[了掉销]?|收回|不用(?:守|管|遵守|照办)?|忘[了掉]?|忽略|当我没[说提])(?:了|吧|啦|吧。)*)"
_POINTING_FORMS: Final = (
    ("every", rf"{_LEAD}(?:you can |can you |could you )?{_UNDO}(?: about)? {_ALL_OF} {_ORDER}{_GIVEN}{_POLITE}"),
    ("every", rf"{_LEAD}{_ALL_OF} {_ORDER}{_GIVEN} {_VOID}{_POLITE}"),
    (
        "every",
        rf"{_LEAD}no (?:more )?(?:special |standing )?(?:rules|instructions) (?:any ?more|from now on|from here on){_POLITE}",
    ),
    ("last", rf"{_LEAD}(?:you can |can you |could you )?{_UNDO}(?: about)? {_POINTED}{_POLITE}"),
    (
        "last",
        rf"{_LEAD}(?:you can |can you |could you )?{_UNDO}(?: about)? (?:the|that|my) (?:last|latest|most recent) (?:one|thing i (?:asked|told you|said)|bit){_GIVEN}{_POLITE}",
    ),
    (
        "last",
        rf"{_LEAD}i(?:'d like to| want to)? (?:take|took|withdraw|am taking|'m taking) (?:back )?{_POINTED}(?: back)?{_POLITE}",
    ),
    (
        "last",
        rf"{_LEAD}{_POINTED}(?: (?:you|i)[^,;:.]{{0,24}})?[,;:-]+ ?(?:you can |please |let's |just )*{_UNDO}(?: about)? (?:it|that){_POLITE}",
    ),
    ("last", rf"{_LEAD}(?!the {_ORDER} {_VOID}){_POINTED} {_VOID}{_POLITE}"),
    (
        "usual",
        rf"{_LEAD}(?:you can |you may |please |let's |just |do )*(?:talk|speak|write|type|answer|reply|respond|chat|sound|act|be)(?: to me| with me)? (?:normally|normal|like (?:yourself|a normal \w+|before|you (?:used to|did before|normally do))|as (?:before|usual|normal)|the (?:usual|normal|old) way)(?: again| from now on)*{_THEN}",
    ),
    (
        "usual",
        rf"{_LEAD}(?:you can |you may |please |let's |just |do )*(?:go |switch |turn |revert |return |change |come )?(?:back )?to (?:(?:your |the )?(?:normal|usual|ordinary|regular|plain|old)(?: (?:letters|prose|speech|english|text|talk|talking|style|sentences|repl(?:y|ies)|answers|mode|voice|tone|self|way(?: of (?:talking|writing|answering))?))?|how (?:you|it) (?:was|were|used to be|talked|wrote|answered)(?: before)?|the way (?:you|it) (?:was|were|used to be))(?: with you| again| from now on)*{_THEN}",
    ),
    (
        "every",
        rf"(?:好了?[，,]|那|请|你|我|把)*(?:之前|以前|先前|前面)?(?:我)?(?:说|提|定|给你)?(?:过)?(?:的)?(?:所有|全部|一切|那些|这些)(?:的)?{_RULE_ZH}{_VOID_ZH}[。！!~]*$",
    ),
    (
        "every",
        rf"(?:好了?[，,]|那|请|你|我|把)*(?:之前|以前|先前|前面)(?:我)?(?:说|提|定)?(?:过)?的{_RULE_ZH}(?:都|全部?|统统){_VOID_ZH}[。！!~]*$",
    ),
    (
        "last",
        rf"(?:好了?[，,]|算了[，,]|那|请|你|我|把|就|麻烦)*(?:刚才|刚刚|刚|上面|之前|方才)?(?:我)?(?:说|提|定|给你)?(?:过)?(?:的)?(?:那|这|上一?|最后一?|刚才那)(?:条|个|项|句)(?:{_RULE_ZH}|(?<=刚才那.)|(?<=[刚才]说的那.)|(?<=上一.)|(?<=上.))[，,]?{_VOID_ZH}[。！!~]*$",
    ),
    (
        "last",
        rf"(?:请|你|帮我|给我|麻烦|把)*(?:取消|撤销|撤掉|收回|忘掉|忘了|忽略|作废|去掉|解除)(?:掉)?(?:我)?(?:刚才|刚刚|刚|上面|之前)?(?:我)?(?:说|提|定)?的?(?:那|这|上一?|最后一?)(?:条|个|项|句)(?:{_RULE_ZH}|(?<=刚才那.)|(?<=上一.)|(?<=上.))(?:吧|了)*[。！!~]*$",
    ),
    (
        "usual",
        r"(?:好了?[，,]|行了?[，,]|算了[，,]|还是|那|就|请|你|可以|以后|现在|又)*(?:恢复|回到|变回|改回|照)?(?:成)?(?:正常|平常|平时|原来|从前|以前|原先|老)(?:的|那样|一样)*(?:说话|讲话|口气|语气|样子|方式|聊天|回答|回复|回我|来|跟我说话)(?:就行|就好|就可以|好了|吧|了|啦)*(?:[。！!~，,]|$)",
    ),
    (
        "usual",
        r"(?:好了?[，,]|行了?[，,]|算了[，,]|那|就|请|你|可以)*(?:还是)?(?:照旧|恢复原样|恢复正常|跟以前一样|像以前一样|像从前那样|和原来一样)(?:[说讲用写][^，,。]{1,6}?)?(?:就行|就好|就可以|好了|吧|啦)+(?:[。！!~，,]|$)",
    ),
)  # fmt: skip"""What points at instructions without saying what they are about."""
_POINTING: Final = {
    chinese: [(Withdrawal(way), re.compile(form)) for way, form in _POINTING_FORMS if has_chinese(form) is chinese]
    for chinese in (False, True)
}
_NEWEST: Final = re.compile(r"\b(?:last|latest|most recent|just|just now)\b|刚|上一|最后")

_PATTERNS: Final = [re.compile(form) for form in _FORMS]
_WORDED_PATTERNS: Final = {
    chinese: [(Withdrawal(way), re.compile(form)) for way, form in _WORDED_FORMS if has_chinese(form) is chinese]
    for chinese in (False, True)
}
"""The worded forms, by whether they are Chinese."""
_WORDED_CUE: Final = re.compile(
    r"again|free of|free from|cancel|actually,? do|instead|rather than|in place of|any ?more|longer|back|limit|rule|\bban|\bbar\b|restrict|requir|nvm|never ?mind|withdraw|forget|scrap|scratch|strike|drop|lift|run its|served|had its|changed my|released|excused|\bgo\b|stop|quit|no more|needn|no need|no further|necess|\bold\b|tired|sick|enough|fine\b|\bok|good (?:to|if)|allowed|welcome|permitted|problem|will do|bother|content|mind\b|free to|miss|round to|used to|switch|revert|also|leave|lose|bore|boring|tedious|tiresome|stale|makes? me|gave me|giv(?:es?|ing) me|\bover\b|relieved|\brid\b|without|being|free (?:of|from)|moot|history|pointless|obsolete|could use|\bneed|welcome|consent|ready for|more\b|from (?:now|here|today)"
)
_CUE: Final = re.compile(
    r"need|have to|can|may|free|miss|want|over|round|used to|warmed|put|bring|get|let|switch|change|tired|sick|bored|enough|leave|够了|腻了|烦了|无所谓|解禁|没事|放开|还是|加上|nvm|more|any ?more|longer|necessary|required|withdraw|released|off|fine|ok|welcome|permitted|content|happy with| do\b|old|quit|停|随便|无所谓|回|返|拿掉|不要|改|换|当我|停一停|收一收|用不着|没人懂|省一省|歇一歇|想说就说|爱说就说|就用|随它去|没事|挺好|都成|无妨|多来点|forget|ignore|disregard|scrap|scratch|strike|drop|cancel|undo|lift|remove|mind|delete|revoke|rescind|discard|ditch|\bbin\b|waive|back|rule|stop|again|after all|no longer|不|别|又|算了|规矩|取消|撤|忘|忽|作废|去掉|解除|删|收回|之前|以前|上次|恢复|改回|可以|能"
)
_CLAUSE_END: Final = re.compile(r"[,;](?!\w)|[，；]")
_SAYS_LITTLE: Final = frozenset(
    tokenise(
        "use give make write add keep put call tell say answer reply always never please do get have show stop "
        "everything every time now from"
    )
)
_VAGUE: Final = re.compile(
    r"\b(?:things?|stuff|parts?|bits?|rules?|instructions?|requests?|preferences?|ideas?|dut(?:y|ies)|obligations?|chores?|at the (?:end|start|beginning|top|bottom)|reminders?|limits?|caps?|bans?|habits?"
    r"|business|experiments?|trials?|phases?|routines?|restrictions?|requirements?|ones?|using|giving|adding|making|putting|being|having|doing|to|me|you|your|with"
    r"|my|the|those|these|all|any|every|old|little|usual|please|instead|too|also|once|more)\b",
    re.IGNORECASE,
)
"""Says nothing of what a topic is about."""
_COURTESY: Final = re.compile(
    r"(?:(?:ok(?:ay)?|no|yes|yeah|thanks?|thank you|thx|ty|never ?mind|nvm|forget it|that's (?:all|it|fine)|for (?:now|today)|all good|i'm (?:good|fine)|it's (?:fine|ok)|no worries|bye|good night|cheers|please|then|now|anyway|a lot|so much)[,.! ]*)+"
    r"|(?:好的?|嗯|行|哦|啊|谢谢|多谢|感谢|辛苦|不客气|没事|没关系|算了|不用|不必|不麻烦|不要紧|先这样|再见|晚安|了|啦|吧|呀|哈|你|您|[，,。！!~ ])+"
)
"""Declines or thanks, and names no matter: what it could take back would be what it lies near by chance."""
_OTHERS: Final = re.compile(r"\b(?:he|she|his|hers?|him|he's|she's)\b|[他她]")
_SAYS_LITTLE_ZH: Final = re.compile(
    "以后|今后|现在|每次|永远|一律|总是|回答|回复|不要|不用|可以|请|我们?|你|您|都|再|了|吧|的|也|就|还是"
)
_LONGEST: Final = 160
"""Most characters in a sentence that only its topic makes a withdrawal."""
_ENOUGH: Final = 0.5
"""The part of a revocation's telling words that an instruction must share to be the one that is meant."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """Something the user takes back.

    Attributes:
        text: The sentence, `text[start:end]` of what it was found in.
        topic: What it is about, in its words.
        way: How it is taken back.
    """

    text: str
    start: int
    end: int
    topic: str
    way: Withdrawal


def revocations(text: str, spoken: Iterable[Sentence] | None = None) -> list[Revocation]:
    """What is taken back in a user's own words, in order; at most one to a sentence, and none for this once only.

    Args:
        spoken: The sentences of the text, if they are known.
    """
    extracted: list[Revocation] = []
    for sentence in sentences(text) if spoken is None else spoken:
        if is_for_once(low := simple(sentence.low)) or is_of_others(low):
            continue
        if (pointing := _pointing_way(sentence)) is not None:
            end = sentence.start + len(sentence.low)
            extracted.append(Revocation(text[sentence.start : end], sentence.start, end, "", pointing))
            continue
        match, way = taking_back(sentence), Withdrawal.UNDOES
        if match is None and (allowed := _letting_go(sentence)):
            match, way = allowed
        if match:
            end = sentence.start + len(sentence.low)
            begins, ends = (sentence.start + at for at in match.span("topic"))
            topic = _CLAUSE_END.split(text[begins:ends], maxsplit=1)[0]
            extracted.append(Revocation(text[sentence.start : end], sentence.start, end, topic, way))
    return extracted


def hinted(text: str, spoken: Iterable[Sentence]) -> list[Revocation]:
    """Find the sentences of a user's own that may take something back, by what they mean or a cue alone, in order."""
    extracted = []
    for sentence in spoken:
        if not sentence.asks and may_withdraw(low := simple(sentence.low)) and not _COURTESY.fullmatch(low):
            end = sentence.start + len(sentence.low)
            whole = text[sentence.start : end]
            extracted.append(Revocation(whole, sentence.start, end, whole, Withdrawal.HINTS))
    return extracted


def points_at_newest(revocation: Revocation) -> bool:
    """Whether a revocation says itself that it is of what was asked last, and not only of "that rule"."""
    return _NEWEST.search(simple(revocation.text.lower())) is not None


def _pointing_way(sentence: Sentence) -> Withdrawal | None:
    """How a sentence takes back what it points at, and does not name."""
    low = simple(sentence.low)
    if sentence.asks or len(low) > _LONGEST:
        return None
    return next((way for way, form in _POINTING[has_chinese(low)] if form.match(low)), None)


def _letting_go(sentence: Sentence) -> tuple[re.Match[str], Withdrawal] | None:
    """Match a sentence that takes something back if an instruction about its topic stands; else it only says so."""
    low = simple(sentence.low)
    chinese = has_chinese(low)
    if sentence.asks or len(low) > _LONGEST or (_CUE if chinese else _WORDED_CUE).search(low) is None:
        return None
    return next(((match, way) for way, form in _WORDED_PATTERNS[chinese] if (match := form.match(low))), None)


def taking_back(sentence: Sentence) -> re.Match[str] | None:
    """Match a sentence that takes something back, with its topic, whatever stands."""
    low = simple(sentence.low)
    if sentence.asks or _CUE.search(low) is None:
        return None
    return next(filter(None, (pattern.match(low) for pattern in _PATTERNS)), None)


def revoked(words: int, shared: Mapping[T, int]) -> T | None:
    """Which of the standing instructions a topic is about; None if none shares enough words, or two the same.

    "Stop doing that" names nothing and so revokes nothing: better one instruction too long than the wrong one gone.

    Args:
        words: How many telling words the topic has.
        shared: How many of them each instruction has too.
    """
    most = max(shared.values(), default=0)
    best = [which for which, count in shared.items() if count == most]
    return best[0] if len(best) == 1 and most >= max(1, _ENOUGH * words) else None


def telling(text: str) -> set[str]:
    """Choose the words that say what a text is about; of Chinese the pairs of characters."""
    plain = _SAYS_LITTLE_ZH.sub(" ", simple(text))
    terms = {term for term in tokenise(plain) if not is_stop(term) and term not in _SAYS_LITTLE}
    return {term for term in terms if len(term) > 1 or term.isascii()}


def names_more(topic: str, instruction: str) -> bool:
    """Whether a topic has telling words that an instruction lacks: a course in Dutch, where Dutch was asked.

    Of Chinese, which parts no words, two characters that the instruction lacks: 购物列表, where 列表 was asked.
    """
    if has_chinese(topic):
        beside = _SAYS_LITTLE_ZH.sub("", without_aspects(topic))
        return len({sign for sign in beside if has_chinese(sign)} - set(simple(instruction))) > 1
    return not telling(_VAGUE.sub(" ", without_aspects(topic))) <= telling(instruction)


def speaks_of_others(text: str) -> bool:
    """Whether a sentence speaks of a third person, so that what it says may be theirs."""
    return _OTHERS.search(simple(text).lower()) is not None


def withdrawable(topic: str, way: Withdrawal, instruction: str) -> bool:
    """Whether a withdrawal in this way, of this topic, could be of an instruction, by which side each is on."""
    if way in (Withdrawal.UNDOES, Withdrawal.REPLACES, Withdrawal.HINTS):
        return True
    against = denies(instruction)
    withdrawn, wanted = aspects(topic), aspects(instruction)
    apart = any(one != two and _name(one) == _name(two) for one in withdrawn for two in wanted)
    other = apart and withdrawn.isdisjoint(wanted)
    return (against != other) if way is Withdrawal.ALLOWS else not (against or other)


def contradicts(newer: str, older: str) -> bool:
    """Whether a standing instruction asks for another side of all that an older one asks for, and of nothing else.

    "Always answer in Spanish" ends "From now on, answer in French"; "Write mails in English" does not, for what either
    says besides differs. Neither does what is against something: "no French" leaves other languages open.
    """
    wanted, had = aspects(newer), aspects(older)
    if not wanted or not wanted.isdisjoint(had) or any(aspect.endswith(":") for aspect in (*wanted, *had)):
        return False
    if {_name(aspect) for aspect in wanted} != {_name(aspect) for aspect in had} or denies(newer) or denies(older):
        return False
    return telling(without_aspects(newer)) == telling(without_aspects(older))


def asks_other_side(newer: str, older: str) -> bool:
    """Whether an instruction asks for another side of an aspect of an older one: German, where it was French."""
    had = aspects(older)
    sides = {one for one in aspects(newer) - had if not one.endswith(":")}
    return any(_name(one) == _name(other) for one in sides for other in had) and not denies(newer)


def says_of_same(text: str, instruction: str) -> bool:
    """Whether a text has a telling word of an instruction, or speaks of an aspect of answers on the side it asks for."""
    return not telling(text).isdisjoint(telling(instruction)) or not aspects(text).isdisjoint(aspects(instruction))


def aspects_named(text: str) -> set[str]:
    """Name the aspects of an answer that a text speaks of, without their sides."""
    return {_name(aspect) for aspect in aspects(text)}


def _name(aspect: str) -> str:
    return aspect.partition(":")[0]
