# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whether a sentence can hold what a question asks for: a name, somebody, a time, a sum of money, a colour, a
place, a span, a way of going.

Of what was never said something always stands nearest, and it shares a word with the question: "the au pair leaves in
June" to "What is the au pair's name?". A sentence without any name names nobody, one without any time dates nothing.
Only what a sentence plainly lacks counts: whatever may be a name is taken for one, and what stands where the answer
would (`recall.plain_statements`) counts though no list holds it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.parts import MONTHS, WEEKDAYS
from mnemic.core.timex import find_times
from mnemic.core.tokens import hash_term, is_stop, tokenise
from mnemic.extract.chinese import SURNAMES, has_chinese
from mnemic.extract.entities_en import COMMON_WORDS
from mnemic.extract.entities_zh import names as chinese_names
from mnemic.extract.hurried import with_capitals
from mnemic.extract.known_names import GIVEN, PLACES
from mnemic.extract.slots_en_words import LANGUAGE_NAMES
from mnemic.recall.asked_for import asks_age, asks_count, tells_age, tells_only_ages
from mnemic.recall.plain_statements import (
    counts_beside,
    is_called,
    is_called_chinese,
    puts_before_chinese,
    puts_behind,
    puts_beside,
    tells_sum_in_words,
)
from mnemic.recall.polarity import ASKS_PAST
from mnemic.recall.sentence_cues import kin_tokens
from mnemic.recall.whom_it_is_about import about_another, asks_of_self, clauses

if TYPE_CHECKING:
    from mnemic.core.items import Item


class AskedKind(Enum):
    """What a question asks for, where a sentence shows whether it can hold that."""

    NAME = "name"
    SOMEBODY = "somebody"
    TIME = "time"
    MONEY = "money"
    COLOUR = "colour"
    PLACE = "place"
    DURATION = "duration"
    WAY = "way"


_ASKS: Final = {
    AskedKind.NAME: re.compile(
        r"\bnames?\W*$|\bwhat(?:['’]s| is| was| are| were) (?!(?:the|a) name)[\w'’ -]{2,40}? (?:called|named)\W*$"
        r"|\bwho(?:['’]s| is| was| are| were) (?:my|our|his|her|their|the|[\w-]+['’]s) (?:[\w-]++ ?){1,3}\W*$"
        r"|(?:[员师长友医生夫娘妈爸妻婆公主客理东猫狗鸟兔姨叔哥姐弟妹儿女娃孩伴象任爷奶姥嫂伯舅姑婶]|^\W*[我他她])(?:[以之]前|现在|原来|家)?(?:到底|都)?(?:叫什么|叫啥|姓什么|姓啥|的?名字)"
        r"|贵姓|^\W*(?:我|他|她)们?(?:的|家)?[^\W我他她在和跟]{1,6}(?:又|到底)?是谁\W*$",
        re.IGNORECASE,
    ),
    AskedKind.SOMEBODY: re.compile(r"^\W*(?:and |so )?who(?:m|se)?\b|谁", re.IGNORECASE),
    AskedKind.TIME: re.compile(
        r"^\W*(?:(?:and|so|until|till|since|from|by|on) )*(?:when\b|(?:what|which) (?:date|day|days|month|year|time|evenings?|nights?)\b)"
        r"|什么时候|何时|哪[一]?[天年月]|几[月号点]|周几|星期几|礼拜几",
        re.IGNORECASE,
    ),
    AskedKind.MONEY: re.compile(
        r"\bhow much (?:do|does|did|is|are|was|were|will|would)\b[\w'’ -]*\b(?:cost|costs|pay|paid|earn|make|charge|spend|rent|bill|salary|worth|mortgage|fee|fees|ticket|wage|wages|insurance|deposit)\b"
        r"|\bwhat(?:['’]s| is| was| are)\b[\w'’ -]*\b(?:salary|wages?|rent|price|fee|fees|deposit)\W*$|\bwhat (?:will|do|am) i (?:be )?(?:paid|earn|pay)\b"
        r"|多少钱|[租工薪房押]?(?:金|租|工资|薪水|月薪|房贷|学费|押金|定金|票价|价钱)是?多少|[挣赚花付交还]多少(?!\w{0,12}[人次天])|多少[块元]",
        re.IGNORECASE,
    ),
    AskedKind.COLOUR: re.compile(r"\bwhat colou?r\b|\bcolou?rs?\b[\w ]{0,40}\W*$|什么颜色|啥颜色", re.IGNORECASE),
    AskedKind.PLACE: re.compile(
        r"^\W*(?:and |so |to |from )?where\b|(?<![坏伤断疼痛破]了)哪[里儿](?!有?(?:不好|不舒服|不对|疼|痛|难受|毛病|受?伤))|什么地方",
        re.IGNORECASE,
    ),
    AskedKind.DURATION: re.compile(
        r"^\W*(?:for )?how long (?!(?:is|are|was|were) (?:the|my|our|his|her|their|\w+['’]s) (?!\w+ing\b))|多久(?!\w{0,12}次)|多长时间(?!\w{0,12}次)",
        re.IGNORECASE,
    ),
    AskedKind.WAY: re.compile(
        r"\bhow (?:do|does|did|am|is|are) (?:[\w'’]+ ){1,3}?(?:commut(?:e|ing)|(?:get|getting|go|going|come|travel|travelling|make it) (?:in )?(?:in)?to (?:work|school|uni|university|college|class|campus|town|the (?:office|city|station|lab|studio|shop)|my (?:job|office|work|school|classes)))\b"
        r"|\bwhat(?:['’]s| is) (?:my|our|his|her|\w+['’]s) (?:commute|way to work)\b"
        r"|怎么(?:上班(?!的事)|上学|通勤|[去到来](?:公司|单位|学校|上班|上学|办公室))|(?:上班|上学|通勤)(?:路上)?(?:是|都)?(?:怎么[去走]|坐什么|用什么|靠什么)|[坐乘骑开]什么(?:车|交通工具)?(?:去)?(?:上班|上学|通勤)",
        re.IGNORECASE,
    ),
}
"""The first that fits is asked for."""

_NAMED: Final = re.compile(
    r"@\w|[\"“「《][^\"”」》]{1,20}[\"”」》]|\b(?:called|call (?:me|him|her|it|them)|named?|names|nicknam\w+|goes by|introduc\w+|initials?)\b|\b(?:mrs?|ms|dr|prof|sir|aunt|uncle)\b"
    r"|叫|名|姓|称呼|外号",
    re.IGNORECASE,
)
"""Tells a name, or puts a title before it."""
_CAPITAL: Final = re.compile(r"(?<=\S)\s+[\"'“‘(]?([A-ZÀ-Þ][\w'’-]*)")
_LATIN: Final = re.compile(r"[A-Za-z]{2,}")
_BESIDE: Final = re.compile(
    r"\b(?:with|by|from|for|and|meet|met|saw|see|got|asked|ask|thank|thanks|is|was|['’]s|,) ?,? ?(?!(?:the|a|an|my|our|his|her|their|your|this|that|it|me|us|him|them)\b)([a-z][\w-]+)(?=[.,;:!?)]|$| (?:and|at|in|on|from|who|again|now|is|was|has|will|for|but|so|today|tonight|yesterday|tomorrow|already|as|over|took|takes|knows|came|comes|does|did)\b)"
    r"|(?:^|[.,;:!?] )(?!(?:the|a|an|my|our|his|her|their|your|this|that|it)\b)([a-z][\w-]+)(?:['’]s|,| (?:is|was|has|had|says?|said|does|did|will|took|takes|knows|came|comes|got|gets|keeps?|wants?|went|goes|made|makes|left|leaves|and i\b|and me\b|starts?|started|took|plays?|runs?|ran|works?|lives?|moved|moves|failed|passed|cooked|paid|brought|sent|gave|called|rang|can|could)\b)"
    r"|\b(?:me|i|us|we) and ([a-z][\w-]+)|\bi(?:['’]m| am) ([a-z][\w-]+)(?=[.,;!]|$| (?:officially|now|again)\b)|(?:^|[.,;!] )([a-z][\w-]+) from\b",
)
"""Where a name stands in a text without capitals: behind a preposition at the end of its phrase, or before a verb."""
_VERB_FORM: Final = re.compile(r"\w{2,}(?:ing|ed|ly)$")
_ANYBODY: Final = re.compile(
    r"\b(?:he|she|they|him|her|them|someone|somebody|nobody|no one|people|everyone|everybody|i|we|myself|ourselves|alone|own|couple|lot|team|guys?)\b"
    r"|[他她我咱]|自己|大家|别人|人|同学|[师友婶姨哥姐弟妹爷奶妈爸叔伯舅姑]",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\b|\bmay\b"
    r"|\b(?:today|tonight|tomorrow|yesterday|soon|now|daily|weekly|monthly|yearly|annual\w*|every|each|once|twice|ago|next|last|since|until|till|til|before|after|when|whenever|while|as soon|by the time|within|during)\b"
    r"|\b(?:mornings?|afternoons?|evenings?|nights?|bedtime|breakfast|lunch(?:time)?|dinner(?:time)?|supper|meals?|noon|midnight|dawn|midday|dusk|twilight|daybreak|sun(?:rise|set|down|up)|week|week(?:end|day)s?|fortnight|month|year|spring|summer|autumn|winter|christmas|easter|xmas|ramadan|eid|lent|term|o['’]clock|half past|quarter (?:past|to)|birthday|anniversary|minutes?|hours?|days?|weeks|months|years|early|late|later"
    r"|(?:at|by|past|to|half|on the|from|around|about) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+(?:th|st|nd|rd))|(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun))\b"
    r"|[点月日号周年天晚早晨夜饭睡]|[随用]餐|餐[前后时]|黄昏|拂晓|日[出落]|星期|礼拜|中午|下午|上午|今|昨|明[天年早晚]|后天|前天|春|夏|秋|冬|节|时候|[之以]?[后前]|刚|现在|马上|快要|暑假|寒假|学期|小时|分钟",
    re.IGNORECASE,
)
"""Tells of some time, or of what goes before or after."""
_DAY_THAT_IS_NONE: Final = re.compile(
    r"明[明白显]|天[气花鹅桥哪]|月[亮租薪]|日[本语]|号[码称]|点[头心菜赞]|周[围到]|年[轻级糕]|早[餐点]|夜宵|后[面视来]|前[面台任妻夫]|下次|节[目约]"
)
_SUM: Final = re.compile(
    r"[£$€¥￥]|\b(?:quid|pounds?|dollars?|euros?|bucks?|pence|cents?|grand|k|free|nothing|gbp|usd|eur|fiver|tenner|yuan|rmb|rupees?|a (?:hundred|thousand|million)|hundred|thousand|per cent|percent)\b|\d\s?k\b"
    r"|(?<![:.\d])\d[\d,.]*(?![\d:]|st\b|nd\b|rd\b|th\b|[ap]m\b|\s?(?:st|nd|rd|th|%|am|pm|years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|of (?:us|them|the)|people|kids|times|steps|miles?|km|kilos?|kg|mg|ml|metres?|meters?|inch(?:es)?|pages?|rooms?|floors?)\b|\s?[年月日号点岁个只条位次天周斤寸页楼层人米步栋路趟])"
    r"|[块元钱毛]|[百千万](?!里|人|步|米|分)(?<!万(?=一))|[一二两三四五六七八九十百千]万|免费|白给|白菜价|贷",
    re.IGNORECASE,
)
"""A sum of money, or that it is free."""
_COLOURS: Final = re.compile(
    r"\b(?:colou?r\w*|red|blue|green|yellow|black|white|gr[ae]y|silver|gold|golden|brown|pink|purple|orange|beige|cream|navy|teal|turquoise|maroon|violet|burgundy|blonde?|ginger|brunette|auburn|dark|light|pale|bronze|copper|khaki|tan|hazel|crimson|scarlet|mustard|ivory|lilac|lavender|indigo|magenta|fuchsia|mauve|charcoal|olive|coral)\b"
    r"|[红蓝绿黄黑白灰银金棕褐粉紫橙橘青]|卡其|三花|狸花|虎斑|玳瑁|驼|赭|色",
    re.IGNORECASE,
)
PLACED: Final = re.compile(
    r"\b(?i:in|at|on|to|from|near|under|behind|beside|by|inside|above|below|between|outside|abroad|home|here|there|upstairs"
    r"|downstairs|visited|left|liv(?:es?|ing|ed)|via|around|past|opposite|into|onto|towards?|through|round|off|online|remote(?:ly)?|next door|across|amo?ng(?:st)?"
    r"|with (?:the|my|our|his|her|an?)|floor|office|desk|row|shelf|drawer|cupboard|garden|kitchen|(?:bed|bath|living )?room|department|at last)\b"
    r"|\b(?:is|was|are) (?:the )?[A-Z][a-z]|^[A-Z]\w+['’]s where|address|street|road|来自|是|给[\u4e00-\u9fff]{2,6}(?:打工|干活|做事)"
    r"|[在去到住从往回来搬里上下旁边放落路街号州市省县区镇村局馆厂店院校部所司铺库楼房室厅堂园庙山湖海岛港站桥巷坊驻籍]|(?<=[\u4e00-\u9fff]{2})人(?=\W|$)|[A-Z][a-z][\w’'-]*(?:, [A-Z]|$)",
)
"""What may tell where something is, or where to."""
_LASTS: Final = re.compile(
    r"\b(?:seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|fortnights?|months?|years?|yrs?|decades?|seasons?|terms?|since|until|till?|forever|ages|lifetime|always|from|anniversary|half an)\b"
    r"|\b(?:19|20)\d\d\b|[年月天周日夜点]|星期|礼拜|小时|分钟|[一半]辈子|一直|从小|从",
    re.IGNORECASE,
)
"""Tells how long something lasts, or from when or until when."""
_WAY: Final = re.compile(
    r"\b(?:cycl(?:e|es|ed|ing)|bik(?:e|es|ed|ing)|bicycle|walk(?:s|ed|ing)?|on foot|driv(?:e|es|ing)|drove|carpool\w*|(?:the|a|my|by|\d+) (?:bus|train|tram|tube|metro|subway|underground|ferry|car|scooter|moped|motorbike|taxi|bike|van)|buses|trains|commut\w+ (?:by|on)|lift (?:from|with|to)|taxis?|uber|runs? (?:in|to work)|running to work|rollerblad\w+|skateboard\w*|from home|remotely|wfh)\b"
    r"|地铁|公交|骑|开车|自驾|步行|走路|走着|打车|出租车|滴滴|班车|高铁|火车|轻轨|电动车|电瓶车|单车|自行车|摩托|拼车|顺风车|轮渡|蹭车|号线|[坐乘][\u4e00-\u9fff\d]{0,3}[车船]|居家办公|在家办公",
    re.IGNORECASE,
)
"""Tells how somebody gets somewhere, or that they need not go."""
_OF_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|her|his|their)\b|[他她]", re.IGNORECASE)
_SIZE_CHINESE: Final = re.compile(
    r"(?<![周第\d一二三四五六七八九十])[\d一二三四五六七八九十]{1,3}(?![周月日号点个只次\d一二三四五六七八九十])[\u4e00-\u9fff]"
)
"""How large a thing is, of which one asks as of somebody's age."""
_TOWARDS_NO_PLACE: Final = re.compile(
    r"\b(?:to (?:work|bed|sleep|date|be|do|go|get|have|see|find|make|take|help|me|him|her|it|us|them|you|say|eat|drink|play|pay)"
    r"|(?:at|in|on|by|for|from|with|over|around|into|to) (?:\d|all\b|last\b|first\b|once\b|least\b|most\b|night\b|time\b|me\b|him\b|her\b|it\b|us\b|them\b|you\b|my own\b|mon|tues|wednes|thurs|fri|satur|sun(?!ny)|jan|feb|mar(?!k)|apr|may\b|june?\b|july?\b|aug|sep|oct|nov|dec|spring|summer|autumn|winter|easter|christmas|the (?:morning|afternoon|evening|end|day|night|way|week|month)|a (?:week|month|day|year|while|bit)|now\b|good\b|sure\b|free\b|sale\b|hold\b|fire\b|purpose\b|top of\b|weekdays|weekends)"
    r"|for (?:an?|the|my|our|his|her|one|two|three|\w+ing)\b)"
    r"|[聊说想看听买拿遇收感找得学等提赶碰做办领猜吃喝]到|第.回|(?:带|捎|拿|送)[去来]|[上下][班学课周个次车单线头]|[起下出]来|[出下回过]去(?!了)|回[头来家复]|这回|一回|[又再]回|来[着电不]|[从]小|从来|实在|现在|正在|到[底处时点了]|看[来上]|将来|后来|原来|本来",
    re.IGNORECASE,
)
"""A preposition, or a verb of going, with no place behind it."""


def kind_asked(question: str) -> AskedKind | None:
    """What a question asks for; None where no sentence shows whether it holds that."""
    return next((kind for kind, form in _ASKS.items() if form.search(question)), None)


def lacks_kind(question: str, text: str, item: Item) -> bool:
    """Whether a text plainly holds nothing of the kind that a question asks for."""
    match kind_asked(question):
        case AskedKind.NAME:
            return not _may_name(text, question)
        case AskedKind.SOMEBODY:
            return not (_may_name(text, question) or _ANYBODY.search(text) or _has_kin(text))
        case AskedKind.TIME:
            past = ASKS_PAST.search(question) or _PAST_CHINESE.search(question)
            return not past and not _may_date(text, item) and not _gives_occasion(question, text)
        case AskedKind.MONEY:
            return not (_SUM.search(text) or tells_sum_in_words(text) or counts_beside(question, text))
        case AskedKind.COLOUR:
            return not (_COLOURS.search(text) or _gives_colour(question, text))
        case AskedKind.PLACE:
            return not (_tells_place(text, question) or _gives_firm(question, text))
        case AskedKind.DURATION:
            return not (_LASTS.search(text) or counts_beside(question, text))
        case AskedKind.WAY:
            return not any(_tells_way(clause, question) for clause in clauses(text))
        case None if asks_count(question):
            return tells_only_ages(text) and _ADDS_UP.search(text) is None
        case None:
            return asks_age(question) and not (tells_age(text) or _SIZE_CHINESE.search(text))


_ADDS_UP: Final = re.compile(r"\b(?:and|both|twins|another|second|third|an?)\b|和|都|双胞胎|又|另", re.IGNORECASE)
"""May tell how many without a number."""
_PAST_CHINESE: Final = re.compile(r"[了过的][?？]?\W*$|[的了过](?!\w{0,12}(?:生日|时候))\w{0,3}[?？]?$")
"""Asks for what has happened: the day it was said on may answer."""


def _tells_way(clause: str, question: str) -> bool:
    """Whether a clause tells how somebody gets somewhere, nobody else where a question asks of whoever asks it."""
    if _WAY.search(clause) is None:
        return False
    return not (asks_of_self(question) and (_OF_OTHERS.search(clause) or about_another(clause, frozenset(), question)))


def _gives_colour(question: str, text: str) -> bool:
    """Whether a text says of the thing asked about that it is, or was made, something that may be a colour."""
    if has_chinese(text):
        return any(len(value) < 4 and not _STATE_CHINESE.search(value) for value in is_called_chinese(question, text))
    return any(_may_be_value(word) for word in (*is_called(question, text), *puts_behind(question, text)))


def _gives_occasion(question: str, text: str) -> bool:
    """Whether a text puts beside what is asked about an occasion that may be its time: "with food", 药随餐吃."""
    if has_chinese(text):
        return puts_before_chinese(question, text)
    return any(True for _ in puts_beside(question, text)) or any(map(_may_be_value, is_called(question, text)))


def _gives_firm(question: str, text: str) -> bool:
    """Whether a text puts beside what is asked about somebody for whom it is done: "I work for tesco"."""
    return not has_chinese(text) and any(not _DATED.search(word) for word in puts_beside(question, text))


def _may_be_value(word: str) -> bool:
    """Whether a word that a thing is said to be may be a colour, or an hour: no common one, no form of a verb."""
    return not (word.casefold() in COMMON_WORDS or _VERB_FORM.search(word.casefold()) or _DATED.search(word))


_STATE_CHINESE: Final = re.compile("[手人送买租借坏破大小长短高]")
"""What a thing is said to be that is no colour."""


def _tells_place(text: str, question: str) -> bool:
    """Whether a text may tell where something is, or where to, beside prepositions that lead to no place."""
    if has_chinese(text):
        if any(entity.kind != "person" and entity.name not in question for entity in chinese_names(text)):
            return True
    elif any(word in _PLACES_ONLY for word in re.findall(r"[a-z]+", text.lower())):
        return True
    return PLACED.search(_TOWARDS_NO_PLACE.sub(" ", text)) is not None


def _may_name(text: str, question: str) -> bool:
    """Whether a text may name somebody or something beside what the question names itself."""
    asked = {word.casefold() for word in re.findall(r"[\w-]+", question)}
    if has_chinese(text):
        bare = text
        if _NAMED.search(bare) or any(word.casefold() not in asked for word in _LATIN.findall(bare)):
            return True
        people = [entity.name for entity in chinese_names(text.replace("师傅", "师")) if entity.kind == "person"]
        people += [match[0] for match in _FAMILIAR.finditer(_KIN_TWICE.sub("", text))]
        if _ASKS_PET.search(question):
            people += is_called_chinese(question, text)
        return any(name not in question for name in people)
    if _NAMED.search(text):
        return True
    if any(name not in _PLACES_ONLY for name in _capitals(text, question)):
        return True
    if any(word.casefold() in _PLACES_ONLY or _OF_A_CLAN.match(word) for word in is_called(question, text)):
        return True
    beside = (next(filter(None, groups), "") for groups in _BESIDE.findall(text.lower()))
    return any(_unknown(word, asked) for word in beside)


_OF_A_CLAN: Final = re.compile(r"[od]['’]\w{3}", re.IGNORECASE)
"""Begins like O'Hara."""
_ASKS_PET: Final = re.compile("[猫狗兔鸟龟马鱼]|仓鼠|鹦鹉|宠物")
"""Asks for what is called by any word: 可乐, 东京."""
_PLACE_NAMES: Final = frozenset(map(str.casefold, PLACES))
_PLACES_ONLY: Final = _PLACE_NAMES - frozenset(map(str.casefold, GIVEN))
_NO_NAMES: Final = frozenset({"i", "ok", *map(str.casefold, (*MONTHS, *WEEKDAYS)), *map(str.casefold, LANGUAGE_NAMES)})
"""What is written with a capital and names nobody."""
_KIN_TWICE: Final = re.compile(r"([爷奶爸妈哥姐弟妹姥叔伯舅姑婶太公婆宝娃常刚天明慢渐偏往好早晚乖猫狗])\1")
_FAMILIAR: Final = re.compile(
    rf"[小老大][{SURNAMES}]|[{SURNAMES}](?:大夫|医生|[工总姐哥叔姨师]|会计|老师|教练|律师|主任|经理|阿姨)|阿(?![姨爸妈])[\u4e00-\u9fff]|[小老][\u4e00-\u9fff](?=[说来去给叫又在是和跟还也都接打当做住])"
    r"|(?<![\u4e00-\u9fff])([\u4e00-\u9fff])\1(?![\u4e00-\u9fff]\1)|(?<=[和跟叫婆公友])([\u4e00-\u9fff])\2"
    rf"|(?<=[和跟由找是叫给请让])[{SURNAMES}](?![的了是在们])[\u4e00-\u9fff]"
    r"|(?<=[妻老太友女对][子公婆太友象儿])(?!的|又|还|也|都|说|去|来|在|是|不|很|想|要|会|爱|喜|跟|和|们|生|今|昨|明|前|后|最|已|刚|做|上|下|有|没|让|叫|把|给|对|到|回|出|从)[\u4e00-\u9fff]{1,2}"
)
"""Somebody as friends call them, 小乔, 老钱, 敏敏; or right behind what they are: 我老婆克兰."""


def _capitals(text: str, question: str) -> list[str]:
    """The words of a text that begin with a capital inside it, or would, and that the question does not give."""
    asked = {word.casefold() for word in re.findall(r"[\w-]+", question)} | _NO_NAMES
    words = (word.removesuffix("'s").removesuffix("’s") for word in _CAPITAL.findall(with_capitals(text)))
    return [
        word.casefold()
        for word in words
        if word.casefold() not in asked and word[:2] not in ("I'", "I’") and not (word.isupper() and len(word) > 1)
    ]


def _unknown(word: str, asked: set[str]) -> bool:
    """Whether a word in small letters may be a name: no common one, none of the question, and no form of a verb."""
    if not word or word in asked | COMMON_WORDS | _PLACES_ONLY or is_stop(word) or _VERB_FORM.search(word):
        return False
    return not any(hash_term(token) in kin_tokens() for token in tokenise(word))


def _has_kin(text: str) -> bool:
    return any(hash_term(token) in kin_tokens() for token in tokenise(text))


def _may_date(text: str, item: Item) -> bool:
    return bool(
        _DATED.search(_DAY_THAT_IS_NONE.sub(" ", text)) or find_times(text, micros(item.said), item.said_offset)
    )
