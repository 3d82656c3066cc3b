# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads a turn that denies one value and gives another as what it asserts.

"My flat is not in Rome, it's in Bari" says "My flat is in Bari" to "Where is my flat?" and to "Is my flat in Bari?",
我的公寓不是在罗马，是在巴里 says 我的公寓是在巴里. To a question that names Rome it is read as it was said: that denies it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.slots_en_words import SECOND_THOUGHT
from mnemic.extract.slots_zh_words import SECOND_THOUGHT as SECOND_THOUGHT_CHINESE
from mnemic.recall.asked_for import asks_yes_or_no
from mnemic.recall.asked_person import called_by_name
from mnemic.recall.earlier import asks_earlier
from mnemic.recall.evidence import matter_words, speaker_of
from mnemic.recall.polarity import ASKS_PAST, asked_words, share_held
from mnemic.recall.word_groups import CORRECTION, DENIED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled

_SOME: Final = r"(?:[^,;:.!?–—\n]|[.:](?=\d))"
_END: Final = (
    r"(?=\s*(?:[,;!?–—\n]|[.](?!\d)|$| (?:and|but|so|because|which|where|since|though|instead|these days|now)\b))"
)
_NO_VALUE: Final = (
    r"(?!(?:only|just|merely|simply|that|because|until|till|yet|sure|so|too|very|always|all|every|even|at all|any ?more"
    r"|to (?:mention|worry|say|be)|far|much|many|long|really|often|necessarily|exactly|quite|entirely|as|if|when|while|like)\b)"
)
"""Does not go on with what denies no value."""
_ITSELF: Final = r"(?!(?:not|never|too|so|just|only|still|\w+ing|why|where|how|when|what|because|been|very|really|quite|an? (?:shame|pity|joke|lie|long way|bit|lot))\b)"
"""Does not go on with what is said of the denial itself."""
_DENIED_FIRST: Final = re.compile(
    r"(?:(?P<verb>\b(?:am|is|are|was|were|do|does|did)|['’](?:m|s|re))(?:n['’]?t| not)|(?:^|(?<=[,;:.!?–—] ))not)"
    rf"(?: actually| really)? (?P<denied>{_NO_VALUE}{_SOME}{{1,60}}?)"
    r"(?:(?:\s*[,;:–—]\s*|\s+-+\s+|(?P<stop>[.!]\s+))(?:(?:but|no|actually|rather|in fact|turns out),? )*"
    rf"(?P<who>it|that|he|she|they|i|we)(?:(?P<be>['’](?:s|m|re)| is| am| are| was| were)(?: actually| really| now| in fact)?)? {_ITSELF}"
    r"|,? but (?:rather |actually |in fact )?(?!(?:it|he|she|they|i|we|you|there|my|his|her|their|our|also|then|that|this|if|when"
    r"|for|would|will|can|could|should|might|do|does|did|don['’]t|have|has|had|was|is|am|are|not|never|still|only|now)\b))"
    rf"(?P<given>{_SOME}{{1,60}}?){_END}",
    re.IGNORECASE,
)
_DENIED_LAST: Final = re.compile(
    rf"(?P<before>)(?P<given>{_SOME}{{2,80}}?)(?:,| -|\s*[–—])(?: (?:sorry|i meant?|that is|actually),?)? ?(?:and )?not (?P<denied>{_NO_VALUE}(?:[\w'’:/-]+ ){{0,3}}?[\w'’:/-]+)(?=\s*(?:[,;!?–—\n]|[.](?!\d)|$))",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    rf"(?:^|(?<=[.!?。！？\n])) *(?P<opening>(?:(?:no|oh|{CORRECTION.form})[,，:： –—-]+)+)(?P<about>[^,，;；:：.!?。！？\n]{{0,40}})$",
    re.IGNORECASE,
)
"""Says at the start of a sentence that something was told wrongly."""
_OF_THEIRS: Final = re.compile(r"\b(?!(?:Where|What|Who|When|How|That|It|There)\b)[A-Z]\w+['’]s (\w+)")
"""What is called somebody's by their name."""
_OF_SPEAKER: Final = re.compile(r"\b(?:i|we)(?: \w+ly| still)?\s*$", re.IGNORECASE)
"""Ends with the speaker, of whom goes on what comes."""
_PREPOSITION: Final = re.compile(r"(?:^|(?<= ))(?:in|at|on|to|from|for|with|near|by|of|called|named) ", re.IGNORECASE)
_THING: Final = re.compile(r"[A-Z\d£$€]|(?:an?|the|my|our|\w+s)\b(?!\w)")
"""Begins with what names something, and tells not how it is."""
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter"
_NUMBER: Final = r"[£$€]?\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight"
_NAME: Final = r"(?-i:[A-Z])[\w.&-]*(?: (?:(?:of|the|and|de) )?(?-i:[A-Z\d])[\w.&-]*)*"
_KIND_OF_VALUE: Final = re.compile(
    rf"(?:(?P<day>(?:{_DAY})\b)|(?P<number>(?:{_NUMBER})(?! ?(?:km|kilomet\w+|miles?|minutes?|min|hours?|degrees)\b)(?: (?:an?|per) \w+| ?[ap]m| {_NAME})?)"
    rf"|an? (?P<one_named>{_NAME})|(?P<one>an? .+)|(?P<named>{_NAME})"
    r"|(?!(?:the|this|that|these|those|my|our|your|his|her|its|their|some|no)\b)(?P<bare>\w+(?: \w+)?))"
    r"(?P<rest>(?:,? (?:actually|anyway|really|though|now))*$)?",
    re.IGNORECASE,
)
"""Names a value by a day, a number, a name, an article or a bare noun; not by what "it" may stand for: "the office"."""
_ALLERGIC: Final = re.compile(r"\b(?:allergic|intolerant|sensitive|immune|addicted|averse) to $", re.IGNORECASE)
"""Ends before what somebody reacts to, which a bare noun may put right: "it's mango"."""
_HOW_IT_IS: Final = re.compile(
    r"(?:fine|ok(?:ay)?|true|false|wrong|late|early|good|bad|nice|great|gross|safe|hard|easy|odd|strange|weird|rare|mild|\w+(?:ous|ful|ible|able|less))\b",
    re.IGNORECASE,
)
_OF_WHICH: Final = re.compile(
    r" (?:that|who|which|i['’]?m|i|she|he|they|we|she['’]s|he['’]s|we['’]re|they['’]re)\b.*$| (?-i:[A-Z])[\w-]+ \w+s(?: \w+)?$",
    re.IGNORECASE,
)
"""Says behind a value of what it is one: "shrimp I'm allergic to"."""
_PART_CHINESE: Final = "[^，,。；;：:！!？?\n]"
_NO_VALUE_CHINESE: Final = "(?![不没了吗吧很太说想只特]|因为|那么|这么)"
_DENIED_FIRST_CHINESE: Final = re.compile(
    rf"(?<![是要可还总能会])(?:并|可)?不(?P<verb>是|住在|住|在|叫|姓|喝|吃|用|学|养|对)(?P<denied>{_NO_VALUE_CHINESE}{_PART_CHINESE}{{1,12}}?)"
    r"(?P<comma>[，,；;\s]*)(?P<who>[他她它我咱]们?)?(?:现在|其实|应该)*(?:(?P<link>而是|(?<![就也还都不只总算可若或但])是)(?P<again>(?P=verb))?|(?P=verb))"
    rf"(?P<given>{_NO_VALUE_CHINESE}{_PART_CHINESE}{{1,12}})"
    rf"(?!{_PART_CHINESE})"
)
_DENIED_LAST_CHINESE: Final = re.compile(
    rf"(?P<before>{_PART_CHINESE}{{0,12}}[是在叫姓住])(?P<given>{_PART_CHINESE}{{1,12}})[，,；;]\s*(?:并|而)?不(?:是|在|叫|姓|住在?)(?P<denied>{_NO_VALUE_CHINESE}{_PART_CHINESE}{{1,10}})(?=[，,。；;！!\n]|$)"
)
_SECOND_THOUGHTS: Final = re.compile(rf"\b(?:{SECOND_THOUGHT})\b|{SECOND_THOUGHT_CHINESE}", re.IGNORECASE)
_RESTATED: Final = re.compile(
    r"(?:^|(?<=[,;:.!?–—] )|(?<=\band )|(?<=\bbut ))(?P<same>(?:i|we|he|she|they|it|(?:my|our|his|her|their) [\w'’-]+|(?-i:[A-Z])[\w'’-]*)(?:['’]\w+ (?:[\w'’-]+ ){0,4}?| (?:[\w'’-]+ ){1,4}?))"
    rf"(?P<wrong>{_SOME}{{1,40}}?)(?:\s*+[,;–—…-]++\s*+|[.!]++\s++|\s++)(?P<back>(?:(?:oh|ah|argh|ugh|well|actually|{SECOND_THOUGHT})[,.:!…-]*+ ){{1,6}})"
    rf"(?P=same)(?P<given>{_SOME}{{1,40}}?)(?=\s*(?:[,;!?–—\n]|[.](?!\d)|$))",
    re.IGNORECASE,
)
_RESTATED_CHINESE: Final = re.compile(
    rf"(?P<same>(?:[我咱他她它]们?|[\u4e00-\u9fff]{{2,3}})(?:现在|家|的){{0,2}}{_PART_CHINESE}{{1,6}}?)(?P<wrong>{_PART_CHINESE}{{1,10}}?)[，,。；;！!… ]*+"
    rf"(?P<back>(?:(?:我|刚才){{0,2}}(?:{SECOND_THOUGHT_CHINESE})[，,。：:！!… ]++){{1,4}})(?P=same)(?P<given>{_PART_CHINESE}{{1,10}})(?!{_PART_CHINESE})"
)
"""Says something, takes it back and says it anew in the same words with another value."""
_TAKES_BACK: Final = re.compile(
    r"\b(?:no|nope|correction|scratch that|i meant?|my mistake|i misspoke)\b|不对|[哦噢啊呃]不|不不|错了|口误|更正",
    re.IGNORECASE,
)
"""Takes back what was said; who is sorry, or would wait, may have something else to say: "sorry, I have a question"."""
_SAME_PLACE: Final = re.compile(
    r"\b(?:in|at|on|for|from|called|named) $|^(?:my|our|his|her|their) .* is (?:an? )?$|(?:叫|姓|住在?)(?!了|过)[\u4e00-\u9fff]{0,2}$|(?<![现正])在$",
    re.IGNORECASE,
)
"""Leads up to a value of which there is one, or to the part of it in which both values begin alike."""
_BOTH: Final = re.compile(
    r"\b(?:too|also|as well|both|again)\b|也(?!门)|(?<![成首古故])都(?!柏林|灵|江堰|匀)|还", re.IGNORECASE
)
_TELLS_MORE_CHINESE: Final = re.compile("[的了说是我你他她]")
"""Stands in what says why something is denied, or of whom else it holds: 不在家，是我妈接的电话."""
_OF_SPEAKER_CHINESE: Final = re.compile("[我咱]们?(?:现在|其实|已经|早就|都|也)*$")


@dataclass(frozen=True, slots=True)
class PutRight:
    """A part of a turn that denies one value and gives another.

    Attributes:
        said: The part as it was said.
        asserted: What it says without the denial.
        denied: The words of the value that is denied alone; of Chinese the characters.
        given: Those of the value that is given alone.
    """

    said: str
    asserted: str
    denied: frozenset[str]
    given: frozenset[str]

    def takes_the_place_in(self, text: str) -> bool:
        """Whether a text names the value that is denied, and not the one that is given."""
        return _names(text, self.denied) and not _names(text, self.given)

    def is_read_for(self, question: str) -> bool:
        """Whether a question asks for the value that is given: for yes or no it names it, and never what is denied."""
        if _names(question, self.denied) or (DENIED.search(question) and not asks_yes_or_no(question)):
            return False
        return _names(question, self.given) or not asks_yes_or_no(question)


def as_asserted(question: str, recalled: Iterable[Recalled]) -> tuple[list[Recalled], dict[str, list[PutRight]]]:
    """What was recalled with each turn read as what it asserts to a question, and by ids what was read so.

    A turn that does not name what a question says is somebody's, as "Dita's mum", is read as it was said.
    """
    theirs = set(tokenise(" ".join(_OF_THEIRS.findall(question))))
    read: list[Recalled] = []
    put_right: dict[str, list[PutRight]] = {}
    for hit in recalled:
        text = hit.text
        for part in values_put_right(text) if hit.item.kind is Kind.TURN and theirs <= set(tokenise(text)) else ():
            if part.is_read_for(question) and part.said in text:
                text = text.replace(part.said, part.asserted, 1)
                put_right.setdefault(hit.id, []).append(part)
        read.append(hit if text == hit.text else replace(hit, item=replace(hit.item, text=text)))
    return read, put_right


def corrected(
    question: str, facts: Iterable[Item], read: Sequence[Recalled], put_right: Mapping[str, Sequence[PutRight]]
) -> frozenset[str]:
    """The ids of facts and of what was recalled that name a value which whoever told it denied since.

    Of the same matter: other states of it by recall, or what shares words with the correction beside the values. What
    holds more of a question than the correction does is of another matter ("My mum lives in Leeds"), unless the
    correction names whom the question names. A question for something earlier has nothing taken from it.

    Args:
        read: What was recalled, with each turn as it is read.
    """
    if ASKS_PAST.search(question) or asks_earlier(question):
        return frozenset()
    asked, called = asked_words(question), {token for name in called_by_name(question) for token in tokenise(name)}
    newer = [(hit.item, part) for hit in read for part in put_right.get(hit.id, ())]
    places = {hit.id: hit.succession for hit in read}

    def corrects(other: Item, part: PutRight, item: Item) -> bool:
        if other.said <= item.said or _who_tells(other) != _who_tells(item) or not part.takes_the_place_in(item.text):
            return False
        if places[other.id] == 1 < places.get(item.id, 0):
            return True
        words, told = ({*matter_words(each.text), *asked & set(tokenise(each.text))} for each in (other, item))
        nearer = share_held(asked, other.text) >= share_held(asked, item.text)
        return not words.isdisjoint(told) and (nearer or not called.isdisjoint(tokenise(other.text)))

    items = (*facts, *(hit.item for hit in read))
    return frozenset(item.id for item in items if any(corrects(*each, item) for each in newer))


def _who_tells(item: Item) -> str:
    """Who tells something, or whom a fact is about; "" for whoever asks."""
    who = (speaker_of(item) or str(item.slots.get("subject") or "")).casefold()
    return "" if who == "user" else who


def as_said(quote: str, put_right: Iterable[PutRight]) -> str:
    """A sentence that was read as what it asserts, as it was said."""
    for part in put_right:
        quote = quote.replace(part.asserted, part.said, 1)
    return quote


def values_put_right(text: str) -> Iterator[PutRight]:
    """Each part of a text that denies one value and gives another."""
    for match in _restated(text):
        if part := _put_right(match, match["same"] + match["given"], match["wrong"], match["given"]):
            yield part
    if has_chinese(text):
        yield from filter(None, map(_denied_first_chinese, _DENIED_FIRST_CHINESE.finditer(text)))
        yield from filter(None, map(_denied_last, _DENIED_LAST_CHINESE.finditer(text)))
    else:
        yield from filter(None, map(_denied_first, _DENIED_FIRST.finditer(text)))
        yield from filter(None, map(_denied_last, _DENIED_LAST.finditer(text)))


def restated(text: str) -> Iterator[tuple[str, str, str]]:
    """Each part of a text that takes back what it says and says it anew: the part, what is taken back and what holds."""
    for match in _restated(text):
        yield match[0], match["same"] + match["wrong"], match["same"] + match["given"]


def _restated(text: str) -> Iterator[re.Match[str]]:
    if _SECOND_THOUGHTS.search(text) is None:
        return
    chinese = has_chinese(text)
    for match in (_RESTATED_CHINESE if chinese else _RESTATED).finditer(text):
        wrong, given = match["wrong"], match["given"]
        same = match["same"] + (wrong[: _shared(wrong, given)] if chinese else _kept_by(wrong, given))
        told = _TAKES_BACK.search(match["back"]) or _SAME_PLACE.search(same)
        if told and not any(sign.search(value) for value in (wrong, given) for sign in (DENIED, _BOTH)):
            yield match


def _kept_by(one: str, other: str) -> str:
    """The words with which two texts both begin."""
    return one[: one.rfind(" ", 0, _shared(one.casefold(), other.casefold())) + 1]


def _denied_first(match: re.Match[str]) -> PutRight | None:
    """Read "isn't in Rome, it's in Bari"; nothing where what is given is said of somebody else, or of another matter."""
    verb, who, denied, given = (match[group] or "" for group in ("verb", "who", "denied", "given"))
    about, before = who.casefold(), match.string[: match.start()]
    own = _OF_SPEAKER.search(before) is not None or verb.casefold() in ("'m", "’m")
    if about not in ("", "it", "that") and own is not (about in ("i", "we")):
        return None
    does = verb.casefold() in ("do", "does", "did")
    if who and not match["be"]:
        verbs = tokenise(denied)[:1], tokenise(given)[:1]
        alike = does and not match["stop"] and verbs[0] == verbs[1]
        return _put_right(match, given, denied, given) if alike else None
    behind = _OF_WHICH.search(denied)
    tail = behind[0] if behind else ""
    denied = denied[: len(denied) - len(tail)]
    if match["stop"] and ((own and about not in ("i", "we")) or not _begin_alike(denied, given)):
        return None
    if does and not _PREPOSITION.search(denied) and (_PREPOSITION.match(given) or not _THING.match(given)):
        return None
    kept = "" if about not in ("", "it", "that") else _kept(denied, given, does=does)
    may_be_it = verb.casefold() in ("", "is", "was", "'s", "’s")
    if about in ("it", "that") and (own or not may_be_it) and not _of_one_kind(denied, given, kept, does=does):
        return None
    stated = f"{kept}{given}{tail}"
    if verb.casefold() == "does":
        stated = _third_person(stated)
    elif verb and verb.casefold() != "do":
        stated = f"{verb} {stated}"
    return _put_right(match, stated, denied[len(kept) :], given)


def _of_one_kind(denied: str, given: str, kept: str, *, does: bool) -> bool:
    """Whether two values begin with the same preposition, if the second has one, and are named in the same way.

    Of what "it" cannot stand for: "I'm not at the office, it's in Leeds" says where the office is, "it's late" the time.

    Args:
        kept: What stands before the value that is denied, and holds of the one that is given.
        does: A deed is denied: "I don't work at a bank, it's a library", but "I'm not in a hurry, it's a holiday".
    """
    preposition = _PREPOSITION.match(given)
    value = denied[len(kept) :]
    if preposition:
        if not value.casefold().startswith(preposition[0].casefold()):
            return False
        value, given = value[preposition.end() :], given[preposition.end() :]
    kinds = [_KIND_OF_VALUE.match(each) for each in (value, given)]
    if not kinds[0] or not kinds[1] or kinds[1]["rest"] is None:
        return False
    named = [next(name for name, part in kind.groupdict().items() if part) for kind in kinds if kind]
    if named[0] != named[1]:
        return False
    if preposition:
        return True
    if _ALLERGIC.search(kept):
        return _HOW_IT_IS.match(given) is None
    at_one = named[0] == "one" and does and _PREPOSITION.search(kept) is not None
    return at_one or named[0] not in ("one", "bare")


def _begin_alike(denied: str, given: str) -> bool:
    """Whether two values begin with the same preposition or article, so that a sentence of its own may give the second."""
    prepositions = list(_PREPOSITION.finditer(denied))
    last = denied[prepositions[-1].start() :] if prepositions and _PREPOSITION.match(given) else denied
    words = [value.casefold().partition(" ")[0] for value in (last, given)]
    both = words[0] == words[1] and _PREPOSITION.match(given) is not None
    return both or set(words) <= {"a", "an", "the"}


def _third_person(stated: str) -> str:
    """What is said of "they" as it is said of "she": "live in Leeds", "lives in Leeds"."""
    verb, _, rest = stated.partition(" ")
    if verb == "have":
        return f"has {rest}"
    verb = verb[:-1] + "ie" if re.search(r"[^aeiou]y$", verb) else verb
    return f"{verb}{'es' if re.search('(?:[sxo]|[cs]h)$', verb) else 's'} {rest}"


def _kept(denied: str, given: str, *, does: bool) -> str:
    """What stands before the value that is denied, and holds of the one that is given: "live in " of "live in Leeds"."""
    prepositions = list(_PREPOSITION.finditer(denied))
    if prepositions:
        return denied[: prepositions[-1].start() if _PREPOSITION.match(given) else prepositions[-1].end()]
    return "".join(denied.partition(" ")[:2]) if does else ""


def _denied_first_chinese(match: re.Match[str]) -> PutRight | None:
    """Read 不是在罗马，是在巴里; nothing where what comes is said of somebody else, tells why, or only goes on."""
    verb, who = match["verb"], match["who"] or ""
    if not match["comma"] and (who or not match["link"]):
        return None
    if verb != "是" and match["link"] == "是" and not match["again"]:
        return None
    if verb != "是" and _TELLS_MORE_CHINESE.search(match["given"]):
        return None
    own = _OF_SPEAKER_CHINESE.search(match.string[: match.start()]) is not None
    if who and own is not who.startswith(("我", "咱")):
        return None
    return _put_right(match, verb + match["given"], match["denied"], match["given"])


def _denied_last(match: re.Match[str]) -> PutRight | None:
    """Read "in Bari, not in Rome"; nothing where what comes before is itself denied."""
    before, given = match["before"], match["given"]
    asserted = before + given
    return None if DENIED.search(asserted) else _put_right(match, asserted, match["denied"], given)


def _put_right(match: re.Match[str], asserted: str, denied: str, given: str) -> PutRight | None:
    """A part that puts a value right, with what opens its sentence; None where the two values are of the same words."""
    said = match[0]
    if opened := _OPENING.search(match.string[: match.start()]):
        said, asserted = f"{opened['opening']}{opened['about']}{said}", f"{opened['about']}{asserted}"
    if has_chinese(said):
        same = _shared(denied, given)
        denied, given = denied[same:], given[same:]
        same = _shared(denied[::-1], given[::-1])
        alone = [frozenset({value[: len(value) - same]}) - {""} for value in (denied, given)]
    else:
        words = [{token for token in tokenise(value) if not is_stop(token)} for value in (denied, given)]
        alone = [frozenset(words[0] - words[1]), frozenset(words[1] - words[0])]
    return PutRight(said, asserted, *alone) if all(alone) else None


def _names(question: str, words: frozenset[str]) -> bool:
    """Whether a question names a value by any of its words."""
    if has_chinese(question):
        return any(word in question for word in words)
    return not words.isdisjoint(tokenise(question))


def _shared(one: str, other: str) -> int:
    """With how many same characters two texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
