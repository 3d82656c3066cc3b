# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Blank what a text only shows and its speaker does not say: quotations, code, mail, tagged data, others' lines.

Whoever pastes a page, a letter or a log into a message vouches for none of its orders. Where it cannot be told how far
something quoted reaches, it reaches further: an instruction missed is said again, one obeyed in error is not seen.

Each kind is looked for in one pass from left to right, so that a stranger's text costs no more than its length.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from mnemic.extract.chinese import NAME, SURNAMES
from mnemic.extract.headings import begins_footnote, heads_captured, heads_file, names_file
from mnemic.extract.letters import Headers, begins_letter, is_header
from mnemic.extract.markup_blocks import markup_blocks
from mnemic.extract.material import Announcement, announcements, end_of_handover, heads_material
from mnemic.extract.salutations import may_greet, signed_letters
from mnemic.extract.speakers import is_machine_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

BLANK: Final = "_"
"""What stands for each character that is quoted or code."""

TextStretch = tuple[int, int]
"""Where something quoted begins and ends."""

_VISIBLE: Final = re.compile(r"\S")
_MARKS: Final = re.compile(
    '["`~<>|＞＜“”„‟«»‹›「」『』《》〈〉〝〞﹁﹂﹃﹄❝❞＂:：$\t\\[\\\\\xa0@&#%【¹²³⁰⁴-⁹†‡※♪♫♬［{(（↩↪⤷]'
)
_SIGNS: Final = re.compile(
    r"'(?:(?<![a-zA-Z]')|(?![a-zA-Z]))|‘(?<![a-zA-Z]‘)|’(?![a-zA-Z])|//|/\*|--|==|!!! |\?\?\? |\.\. |\.[.+]{3}|\+[.+]{3}"
)
"""Signs of more than one character; each branch begins with a character, by which the engine skips to where one may be."""
_SHOWING_WORDS: Final = re.compile(
    r"[Ff]orward|FORWARD|[Ff][Ww][Dd]|[a-z] goe?s? |[Dd]ear\b|\bbq\.|(?i:lyrics|chorus|refrain) "
)
_WRITTEN_WORDS: Final = "写着 写道 写的是 规定 提到 说的是"
_WRITTEN: Final = re.compile("|".join(_WRITTEN_WORDS.split()))


def _may_show(text: str) -> bool:
    """Whether there is any sign of something quoted, which most messages are without."""
    if _MARKS.search(text) is not None or "    " in text or _SIGNS.search(text) is not None or "hat does" in text:
        return True
    if _may_have_words_that_show(text):
        return True
    if end_of_handover(text):
        return True
    if "\n" in text and (_may_be_of_another(text) or may_greet(text)):
        return True
    return not text.isascii() and _WRITTEN.search(text) is not None


def _may_have_words_that_show(text: str) -> bool:
    """Whether a word announces something quoted, or recites it; most texts have none of the letters of one."""
    low = text.lower()
    may_have = "forward" in low or "fwd" in low or " go" in low or "dear" in low or "bq." in low
    may_have = may_have or "lyrics " in low or "chorus " in low or "refrain " in low
    return may_have and _SHOWING_WORDS.search(text) is not None


def own_words(text: str) -> str:
    """Return `text` with each visible character of what is quoted or code as `_`, every other one in its place."""
    if not _may_show(text):
        return text
    begin = own_label(text)
    return text[:begin] + _without_shown(text[begin:]) if begin else _without_shown(text)


def own_label(text: str) -> int:
    """Where the words begin that a label at the head of a text calls the writer's own: "Me: ..."; 0 if none does.

    Somebody else's line below makes it a talk that is shown, in which "me" may be anybody.
    """
    label = _MYSELF.match(text)
    if label is None:
        return 0
    lines = (line[0].rstrip("\n") for line in _LINE.finditer(text, label.end()))
    return 0 if any(map(_is_of_another, lines)) else label.end()


def _without_shown(text: str) -> str:
    text = _blanked(text, _begun_in_quoted_lines(text))
    written = text
    for find in _KINDS:
        text = _blanked(text, find(text))
    text = _blanked(text, markup_blocks(text, written))
    text = _blanked(text, signed_letters(text))
    text = _blanked(text, _of_others(text, written))
    handed = end_of_handover(text)
    return _blanked(text, [(handed, len(text))]) if handed and not _is_followed_by_shown(text, handed) else text


def _blanked(text: str, stretches: Iterable[TextStretch]) -> str:
    pieces: list[str] = []
    at = 0
    for begin, end in sorted(stretches):
        if end > at:
            pieces += (text[at : max(at, begin)], _VISIBLE.sub(BLANK, text[max(at, begin) : end]))
            at = end
    return "".join((*pieces, text[at:])) if pieces else text


# Lines that are quoted as in mail


_QUOTES_LINE: Final = r"^[ \t]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)*+(?:(?!>>> )(?:\w[\w-]{0,15}+)?>|＞|&gt;|\||[↩↪⤷])"
_QUOTE_MARKS: Final = re.compile(_QUOTES_LINE + r"(?:[ \t]?(?:>|＞|&gt;|\|))*+", re.MULTILINE)
_TAKEN_OFF: Final = "\x01"
"""What stands for each character of the marks before a quoted line, while it is looked at what the line begins."""


def _may_quote_lines(text: str) -> bool:
    """Whether there is a mark at all that mail puts before a quoted line."""
    marked = ">" in text or "|" in text or "＞" in text or "&gt;" in text
    return marked or (not text.isascii() and ("↪" in text or "↩" in text or "⤷" in text))


def _quoted_lines(text: str) -> Iterator[TextStretch]:
    """Quoted lines, and those that go on with a quoted paragraph without the mark, as Markdown has it."""
    if not _may_quote_lines(text):
        return
    goes_on = False
    for line in _LINE.finditer(text):
        marks = _QUOTE_MARKS.match(line[0])
        if marks is not None:
            rest = line[0][marks.end() :].strip()
            goes_on = bool(rest) and _NO_PARAGRAPH.match(rest) is None and not rest.endswith("|")
        else:
            goes_on = goes_on and _BEGINS_BLOCK.match(line[0]) is None
        if marks is not None or goes_on:
            yield line.span()


_NO_PARAGRAPH: Final = re.compile(r"```|~~~|#{1,6}(?:[ \t]|$)|[-*_=](?:[ \t]*+[-*_=]){2,}$")
_BEGINS_BLOCK: Final = re.compile(rf"[ \t]*+(?:$|\n|[-*+•][ \t]|\d{{1,9}}[.)、]|{_NO_PARAGRAPH.pattern}|</?\w)")


def _begun_in_quoted_lines(text: str) -> list[TextStretch]:
    """What a quoted line opens and other lines go on with: code, data between tags, somebody's letter."""
    if not _may_quote_lines(text):
        return []
    bare = _QUOTE_MARKS.sub(lambda marks: _TAKEN_OFF * len(marks[0]), text)
    if bare == text:
        return []
    stretches = [*_fences(bare), *_tagged(bare)]
    quoted = list(_quoted_lines(text))
    headers = Headers()
    for line in _LINE.finditer(bare):
        shown = line[0].strip(_TAKEN_OFF + " \t\n")
        if not shown:
            headers.end_block()
        if (
            headers.take(shown, line.start())
            and _begins_in(headers.begin, quoted)
            and not _is_followed_by_shown(bare, line.end())
        ):
            stretches.append((headers.begin, len(text)))
            break
        if _begins_in(line.start(), quoted) and _hands_over(bare, shown, line.end()):
            stretches.append((line.start(), len(text)))
            break
    marked = (stretch for find in (_between_triple, _between_pairs, _between_double) for stretch in find(bare))
    return [*stretches, *(stretch for stretch in marked if _begins_in(stretch[0], quoted))]


def _begins_in(at: int, lines: list[TextStretch]) -> bool:
    """Whether a place lies in one of the lines, which are in order."""
    line = bisect_right(lines, (at, sys.maxsize)) - 1
    return line >= 0 and at < lines[line][1]


def _hands_over(text: str, line: str, end: int) -> bool:
    """Whether a line that is quoted hands over what follows it, which is not quoted."""
    announced = _announced(line)
    beginnings = list(_beginnings(line, announced))
    hands_over = (
        any(begins_letter(line[at:]) for at in beginnings)
        or _announces(line, beginnings, announced)
        or (_speaks_below(line, announced) and _is_of_another(line))
    )
    return hands_over and not _is_followed_by_shown(text, end)


# Code


_FENCE: Final = re.compile("`{3,}|~{3,}")
_BEFORE_FENCE: Final = 40
"""Characters before a fence in which its line must begin, for the fence to open the line."""


def _fences(text: str) -> Iterator[TextStretch]:
    """Fenced code: a fence that opens a line ends with a line that is such a fence, or never; another at the next."""
    if "```" not in text and "~~~" not in text:
        return
    fences = list(_FENCE.finditer(text))
    first = next((fence.start() for fence in fences if _opens_line(text, fence.start())), 0)
    n = 0
    while n < len(fences):
        opening = fences[n]
        opens_line = _opens_line(text, opening.start())
        closing = next(
            (m for m in range(n + 1, len(fences)) if _closes(text, opening, fences[m], whole_line=opens_line)), None
        )
        if closing is not None:
            yield opening.start(), fences[closing].end()
            n = closing
        elif opens_line:
            yield first, len(text)  # one fence too many: which of them were within which is not told
            return
        n += 1


def _opens_line(text: str, at: int) -> bool:
    first = max(0, at - _BEFORE_FENCE)
    begin = text.rfind("\n", first, at)
    if begin < 0 and first:
        return False
    return not text[begin + 1 if begin >= 0 else 0 : at].strip(" \t\x01>-*+•_/0123456789.)(\"'“‘「")


def _closes(text: str, opening: re.Match[str], fence: re.Match[str], *, whole_line: bool) -> bool:
    if fence[0][0] != opening[0][0] or len(fence[0]) < len(opening[0]):
        return False
    return not whole_line or (_opens_line(text, fence.start()) and _ENDS_LINE.match(text, fence.end()) is not None)


_ENDS_LINE: Final = re.compile(r"[ \t]*+(?:\n|\Z)")
_TICKS: Final = re.compile("`+")


def _inline_code(text: str) -> Iterator[TextStretch]:
    """Code between two equal runs of backticks in one paragraph."""
    if "`" not in text:
        return
    runs = list(_TICKS.finditer(text))
    following: dict[int, int] = {}
    partner: list[int | None] = [None] * len(runs)
    for n in range(len(runs) - 1, -1, -1):
        partner[n] = following.get(len(runs[n][0]))
        following[len(runs[n][0])] = n
    paragraphs = _Paragraphs(text)
    n = 0
    while n < len(runs):
        end = partner[n]
        while end is not None and not text[runs[n].end() : runs[end].start()].strip() and partner[end] is not None:
            end = partner[end]  # two runs with nothing between are one, of code that holds code
        if end is not None and paragraphs.share(runs[n].start(), runs[end].start()):
            yield runs[n].start(), runs[end].end()
            n = end
        n += 1


_HEREDOC: Final = re.compile(r"<<[-~]?[ \t]?(?:(?P<mark>[\"'])(?P<quoted>\w{1,40})(?P=mark)|\\?(?P<bare>[A-Z_]{2,40}))")
_WORD_ALONE: Final = re.compile(r"^[ \t]*+(\w{1,40})[ \t]*+$", re.MULTILINE)
_ENDS_OF_HEREDOC: Final = frozenset({"EOF", "END", "EOS", "EOT", "EOL", "HEREDOC"})
"""Words that end nothing else, so that one which is not there is taken for forgotten."""


def _heredocs(text: str) -> Iterator[TextStretch]:
    """What a shell is given until a line that is a word of its own: `cat <<EOF`."""
    if "<<" not in text or "\n" not in text:
        return
    ends: dict[str, list[int]] = {}
    for line in _WORD_ALONE.finditer(text):
        ends.setdefault(line[1], []).append(line.end())
    at = 0
    for opening in _HEREDOC.finditer(text):
        if opening.start() < at:
            continue
        word = opening["quoted"] or opening["bare"]
        closings = ends.get(word, [])
        closing = bisect_right(closings, opening.end())
        if closing < len(closings):
            at = closings[closing]
            yield opening.start(), at
        elif word in _ENDS_OF_HEREDOC and text.find("\n", opening.end()) >= 0:
            yield opening.start(), len(text)
            return


class _Paragraphs:
    """Where the paragraphs of a text end."""

    _GAP: Final = re.compile(r"\n[ \t\r]*+\n")

    def __init__(self, text: str) -> None:
        self._ends = [*(gap.start() for gap in self._GAP.finditer(text)), len(text)]

    def end(self, at: int) -> int:
        """Where the paragraph of a place ends."""
        return self._ends[min(bisect_right(self._ends, at), len(self._ends) - 1)]

    def share(self, at: int, other: int) -> bool:
        """Whether two places lie in one paragraph."""
        return self.end(at) == self.end(other)


# Data between tags


_TAG: Final = re.compile(
    r"<!--(?P<comment>)|<!\[CDATA\[(?P<data>)|<\|(?P<special>\w{1,40})\|>"
    r"|(?:[<＜]|&lt;)(?P<close>/)\s?(?P<closed>[^\W\d_](?:[\w.:-]{0,59}\w)?+)\s*+(?:[>＞]|&gt;)?"
    r"|(?:(?<!\w)[<＜]|&lt;)(?P<gap> ?)(?P<opened>[^\W\d_](?:[\w.:-]{0,59}\w)?+)(?=[\s/>＞&])[^<>＜＞&]*+(?:[>＞]|&gt;)"
    r"|\\(?P<latex>begin|end)\{(?P<environment>[a-z]{1,40}\*?)\}"
    r"|\[(?P<bracket>/?)(?P<named>[A-Za-z][\w-]{0,40}+)(?:=[^\]\n]{0,100})?\]"
)
_ANGLES: Final = re.compile(r"[<＜\[\\&]")
_FORMATTING_WORDS: Final = "a b big br center code em font hr i img kbd li p s small span strong sub sup u ul ol wbr"
_FORMATTING: Final = frozenset(_FORMATTING_WORDS.split())
"""Tags that people leave open, and that fence nothing then."""


def _tagged(text: str) -> Iterator[TextStretch]:
    """What stands between tags; from a tag that is not closed to the end, and to one that nothing opened."""
    if _ANGLES.search(text) is None:
        return
    opened: dict[str, list[tuple[int, bool]]] = {}
    for tag in _TAG.finditer(text):
        if tag["comment"] is not None or tag["data"] is not None:
            end = text.find("-->" if tag["comment"] is not None else "]]>", tag.end())
            if end < 0:
                yield tag.start(), len(text)
                break
            yield tag.start(), end + 3
        elif tag["special"]:
            yield tag.start(), len(text)
            break
        elif name := tag["opened"]:
            if not tag[0].endswith(("/>", "/＞", "/&gt;")):
                opened.setdefault(name.lower(), []).append((tag.start(), not tag["gap"]))
        elif tag["latex"] == "begin":
            opened.setdefault(f"{tag['environment']}}}", []).append((tag.start(), True))
        elif tag["named"] and not tag["bracket"]:
            opened.setdefault(f"[{tag['named'].lower()}", []).append((tag.start(), False))
        else:
            name = _closed(tag)
            if places := opened.get(name):
                yield places.pop()[0], tag.end()
            elif name not in _FORMATTING and name[0] != "[":
                yield 0, tag.end()
    for name, places in opened.items():
        if name not in _FORMATTING and (fences := [at for at, sure in places if sure]):
            yield fences[0], len(text)


def _closed(tag: re.Match[str]) -> str:
    """What a closing tag closes; a tag in brackets or braces closes none in angles."""
    if tag["latex"]:
        return f"{tag['environment']}}}"
    return f"[{tag['named'].lower()}" if tag["named"] else str(tag["closed"]).lower()


# Lines and paragraphs of others


_NAMED: Final = r"(?P<name>[^\s:：][^:：\n]{0,39}?)"
_LABEL: Final = re.compile(rf"[ \t]*+[-*+•#>]*+[ \t]*+[*_\[(【]*+{_NAMED}[*_\])】]*[ \t]*+[:：][*_]*+(?P<rest>[^\n]*+)")
_SPEAKER: Final = re.compile(
    rf"[QA]|@[\w.-]+|[A-Z][\w'’-]+(?: [A-Z][\w'’.-]*){{0,2}}|{NAME}|[{SURNAMES}](?:先生|女士|老师|总|经理)"
)
_TOPICS_WORDS: Final = """
accessibility address addresses advice answers budget citations code comments communication conventions correspondence
currency dates default defaults deadlines diet documentation email emails errors examples explanations feedback files
final first food format formatting formality grammar greetings health heads headings important instruction instructions
language last layout length lists math meals meetings messages metric music naming never note notes one order output
payments plans please pleasantries policy preference preferences prices privacy punctuation question questions quick
recipes reminder reminders replies reply reports request requests requirement requirements responses rule rules
sources spelling standing style summaries summary tables temperature testing tests text three times timezone tip tone
travel two typography units verbosity voice warnings work writing today tomorrow always also and so ok okay btw fyi ps
remember reminding warning caution attention notice hint nb disclaimer correction clarification update edit addendum
postscript thing things again honestly seriously basically recap ask wish wishes favour favor caveat exception exceptions
condition conditions goal goals priority priorities second third fourth fifth firstly secondly lastly finally never
please don't do avoid must should only just from going until since when whenever if for in on with about because hence
therefore listen look hear actually anyway photos pictures images captions emojis
"""
_TOPICS: Final = frozenset(_TOPICS_WORDS.split())
"""First words of what people put before a colon in words of their own."""
_POSTED: Final = re.compile(
    r"(?!(?:At|By|Until|From|Around|Since|Before|After)\b)(?:[A-Z][\w'’.-]{0,30}(?: [A-Z][\w'’.-]{0,30}){0,2}|[\u4e00-\u9fff]{2,4})[ \t—–(-]{1,6}"
    r"(?i:(?:today|yesterday|今天|昨天)[ \t]+(?:at[ \t])?)?\d{1,2}:\d\d(?::\d\d)?(?i:[ \t\xa0\u202f]?[ap]m)?\)?[ \t]*+"
)
"""How chats head what somebody posted: a name and the time of day."""
_LOGGED: Final = re.compile(
    r"[ \t]*+(?:\[[^\]\n]{4,40}\]|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},?[ \t]{1,3}\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?(?: -)?)[ \t]*+"
    r"[^\s:：\n][^:：\n]{0,40}[:：]",
    re.IGNORECASE,
)
_LEVEL: Final = r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b"
_LOG_ENTRY: Final = re.compile(
    rf"[ \t]*+(?:{_LEVEL}[\]:]{{0,2}}[ \t]++)?\[?\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}[T \t]{{1,3}}\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d{{1,9}})?)?(?:Z|[+-]\d\d:?\d\d)?\]?(?:[ \t]++\[[^\]\n]{{1,40}}\]){{0,2}}(?:[ \t]++-)?[ \t]++{_LEVEL}"
)
"""How a program's log begins a line: the time, and how grave it is."""
_SHELL: Final = re.compile(
    r"[ \t]*+(?:\$ |>>> |In \[\d*\]:|Out\[\d*\]:|[\w.-]{1,40}@[\w.-]{1,40}[:~][^\n$#]{0,60}[$#] )"
)
_COMMENT: Final = re.compile(r"[ \t]*+(?://(?!\S+\.\w)|#{1,6}[ \t]|--[ \t]|%[ \t]|/\*|\*/)")
_INDENTED: Final = re.compile(r"(?:[ \xa0]{4}|[ \xa0]{0,3}\t)")
_ITEM: Final = re.compile(r"[ \t\xa0]*+(?:[-*+•]|\d{1,9}[.)、])(?:[ \t]|$)")
_LINE: Final = re.compile(r"[^\n]*+(?:\n|\Z)")
_SPEAKER_IN_BRACKETS: Final = re.compile(
    r"[ \t]*+[*_#]*+[ \t]?[\[(【（]{1,2}(?P<name>[^\[\]()【】（）\n:：]{1,30})[\])】）]{1,2}[*_]*+(?:[ \t]*+[:：])?+(?P<rest>[^\n]*+)"
)
_OPENING: Final = re.compile(r"[ \t\xa0]*+[-#/*%\"'‘“„「『«`~(|]++[ \t\xa0]*+")
"""Marks before what a line says: of a comment, of a quotation that goes on, of emphasis."""
_DEEPEST: Final = 4
"""Most labels and marks in one line behind which another text is looked for."""
_BEFORE_SPEAKER: Final = " \t\xa0/#"
_MYSELF: Final = re.compile(r"\s*+[*_]{0,2}(?:me|myself|我|本人)[*_]{0,2}[ \t]?[:：]", re.IGNORECASE)
_OWN_HEADING: Final = re.compile(
    r"(?:(?:in|for|on|when|whenever|with|about|regarding|if|while|as|during|using|concerning|re)\b(?! (?:reply|response|answer))"
    r"|(?:hi|hey|hello|dear|ok|okay|so|please)\b|(?:(?:my|our|some|the|new|standing|general|here are) ){0,3}"
    r"(?:rules?|instructions?|preferences?|requests?|requirements?|guidelines|conventions|reminders?|orders?|settings) (?:for|to)\b"
    r"|亲爱的|尊敬的|你好|您好|嗨|.*(?:关于|对于|的时候$|时$))",
    re.IGNORECASE,
)
"""Labels of one's own words, though they name a tool or greet a model: "For Python code", "Hi ChatGPT"."""


_OTHERS_MARKS: Final = re.compile("[¹²³⁰⁴-⁹†‡※［:：$\t\xa0─\\[(【（#%]")
_OTHERS_SIGNS: Final = re.compile(
    r"\.[a-zA-Z]|README|~~|<<|\+\+|转自|转发|摘自|//|/\*|--|==|>>>|@@|——|__|\*\*|F(?:orward|ORWARD|[Ww][Dd])|f(?:orward|[Ww][Dd])|写着|写道|写的是|规定|提到|说的是"
)


def _may_be_of_another(text: str) -> bool:
    """Whether a text has any sign without which no line says whose it is."""
    return _OTHERS_MARKS.search(text) is not None or "    " in text or _OTHERS_SIGNS.search(text) is not None


def _of_others(text: str, written: str) -> Iterator[TextStretch]:
    """Lines that say of themselves whose they are, to the end of their paragraph; a letter, a file, or a text that is
    handed over, to the end.

    Args:
        written: The text before anything in it was blanked: names of files stand between marks of code.
    """
    if not _may_be_of_another(text):
        return
    theirs = headed = before_item = False
    headers = Headers()
    for line in _LINE.finditer(text):
        shown = line[0].rstrip("\n")
        if not shown.strip():
            theirs = headed
            headers.end_block()
            continue
        if not theirs and not _may_be_of_another(shown):
            headers.take(shown, line.start())
            before_item, headed = _ITEM.match(shown) is not None, False
            continue
        announced = _announced(shown)
        bare = announced[0].end if announced and shown[announced[0].end - 1] not in ":：" else 0
        if headers.take(shown[bare:], line.start()):
            yield headers.begin, len(text)
            return
        if (handed := _handed_over(text, line, shown, announced)) is not None:
            yield handed, len(text)
            return
        if heads_file(written[line.start() : line.end()]):
            if not _is_followed_by_shown(text, line.end()):
                yield line.start(), len(text)
                return
            continue
        item = _ITEM.match(shown) is not None
        indented = _INDENTED.match(shown) is not None and not (item and before_item)
        before_item = item and not indented
        if not theirs and (begin := _of_another(text, line, shown, announced)) is not None:
            theirs = True
            yield line.start() + begin, line.end()
        elif theirs or indented or is_header(shown) or _COMMENT.match(shown):
            yield line.span()
        headed = theirs and _has_head(shown) and _speaks_below(shown, announced)


def _handed_over(text: str, line: re.Match[str], shown: str, announced: Sequence[Announcement]) -> int | None:
    """Where a text begins that a line hands over: somebody's letter, what somebody said, what is to be worked on."""
    end = len(shown.rstrip(" \t*_"))
    for announcement in announced:
        if announcement.is_worked_on and announcement.end < end:
            return line.start() + announcement.end
    beginnings = list(_beginnings(shown, announced))
    if any(_is_captured(shown[at:]) for at in beginnings):
        return line.start()
    if any(begins_letter(shown[at:].strip()) for at in beginnings):
        follows = _VISIBLE.search(text, line.end()) is not None
        return None if follows and _is_followed_by_shown(text, line.end()) else line.start()
    if _announces(shown, beginnings, announced):
        return None if _is_followed_by_shown(text, line.end()) else line.end()
    return None


def _announced(line: str) -> list[Announcement]:
    return announcements(line) if _has_colon(line) or not line.isascii() else []


def _announces(line: str, beginnings: Sequence[int], announced: Sequence[Announcement]) -> bool:
    """Whether a line ends with the announcement of what stands below it."""
    if announced and announced[-1].end >= len(line.rstrip(" \t*_")):
        return True
    return _has_colon(line) and any(_heads_material(line[at:]) for at in beginnings)


def _beginnings(line: str, announced: Sequence[Announcement]) -> Iterator[int]:
    """Where what a line says can begin: at its own beginning, and behind the labels and marks that stand before it."""
    at = 0
    for _ in range(_DEEPEST):
        yield at
        label = _SPEAKER_IN_BRACKETS.match(line, at) or _LABEL.match(line, at) or _OPENING.match(line, at)
        begins = [] if label is None else [_rest_of(label)]
        begins += [announcement.end for announcement in announced if announcement.end > at][:1]
        if not begins or not at < min(begins) < len(line.rstrip()):
            return
        at = min(begins)


def _rest_of(label: re.Match[str]) -> int:
    return label.start("rest") if "rest" in label.re.groupindex else label.end()


def _heads_material(line: str) -> bool:
    label = _LABEL.match(line)
    if label is None or label["rest"].strip():
        return False
    return heads_material(label["name"]) or heads_captured(label["name"])


def _is_captured(line: str) -> bool:
    """Whether a line begins to say what a picture or a recording said."""
    label = _LABEL.match(line) or _SPEAKER_IN_BRACKETS.match(line)
    return label is not None and label["rest"].strip() != "" and heads_captured(label["name"])


def _is_followed_by_shown(text: str, end: int) -> bool:
    """Whether the next line with words in it is one that is blank already, so that it is what was announced."""
    following = _VISIBLE.search(text, end)
    if following is None:
        return True
    at = following.start()
    until = text.find("\n", at)
    line = text[text.rfind("\n", 0, at) + 1 : until if until >= 0 else len(text)]
    return (
        line[:1] == _TAKEN_OFF or _INDENTED.match(line) is not None or not line.strip(" \t\x01_.,!?。，！？'\"”’»」』")
    )


def _has_head(line: str) -> bool:
    """Whether a line can be the head of what somebody says below it."""
    return line.rstrip(" \t*_").endswith((":", "：", "]", ")", "】", "）"))


def _has_colon(line: str) -> bool:
    """Whether a line has a colon, without which it neither labels nor introduces anything."""
    return ":" in line or "：" in line


def _of_another(text: str, line: re.Match[str], shown: str, announced: Sequence[Announcement]) -> int | None:
    """Where in a line somebody else's words begin; None if its speaker's go on."""
    if _is_of_another(shown):
        return None if _speaks_below(shown, announced) and _is_followed_by_shown(text, line.end()) else 0
    return announced[0].end if announced else None


def _speaks_below(line: str, announced: Sequence[Announcement]) -> bool:
    """Whether a line names who speaks and says nothing else, so that their words stand below it."""
    for at in _beginnings(line, announced):
        label = _LABEL.match(line, at) or _SPEAKER_IN_BRACKETS.match(line, at)
        if label is not None and not label["rest"].strip(" \t*_"):
            return True
    return False


def _is_of_another(line: str) -> bool:
    line = line.lstrip(_BEFORE_SPEAKER)
    bracketed = _SPEAKER_IN_BRACKETS.match(line)
    if bracketed is not None and (is_machine_label(bracketed["name"]) or heads_material(bracketed["name"])):
        return True
    if begins_footnote(line):
        return True
    if not _has_colon(line):
        return _SHELL.match(line) is not None
    if _LOGGED.match(line) or _LOG_ENTRY.match(line) or _SHELL.match(line) or _POSTED.fullmatch(line):
        return True
    label = _LABEL.match(line)
    if label is None:
        return False
    name = label["name"].strip()
    if names_file(name):
        return True
    if is_machine_label(name) or heads_material(name):
        return _OWN_HEADING.match(name) is None
    if not label["rest"].strip():
        return False
    return _SPEAKER.fullmatch(name) is not None and name.split()[0].lower() not in _TOPICS


# Between quotation marks


_PAIRS: Final = {
    "“": "”", "„": "”“", "‟": "”", "«": "»", "‹": "›", "「": "」", "『": "』", "《": "》", "〈": "〉", "〝": "〞",
    "﹁": "﹂", "﹃": "﹄", "❝": "❞",
}  # fmt: skip
_DOUBLE: Final = re.compile("(?:[\"＂]|``|''|&(?:quot|apos|#3[49]|[lr][ds]quo|laquo|raquo);)+")
_TRIPLE: Final = re.compile("\"{3,}|'{3,}")
_STRUCK: Final = re.compile(r"(?<!~)~~(?!~)[^~\n]{1,1000}~~(?!~)")
_MEANT: Final = re.compile(
    r"\bwhat (?:does|do|did)\b(?! (?:it|this|that|he|she|they|you|we|i)\b)(?P<asked>[^\n]{1,300}?)\bmeans?\b",
    re.IGNORECASE,
)
_IMAGE: Final = re.compile(r"!\[[^\]\n]{0,500}\](?=[(\[])")
_SUNG: Final = re.compile(r"[♪♫♬][^\n]*+")
_RECITED: Final = re.compile(
    r"\b(?:(?:lyrics|song|chorus|refrain|verse|poem|rhyme|prayer|saying|proverb|joke|motto)(?: \w{1,20}){0,3}? go(?:es)?(?: like (?:this|so))?+|(?:the|its) (?:lyrics|chorus|refrain) (?:are|is|were|was)),? (?P<words>[^\n.!?:：]{1,300}+)(?![:：])",
    re.IGNORECASE,
)
"""What is recited without a mark: "the song goes I live in Porto"."""
_SUNG_WORDS: Final = re.compile("lyrics |chorus |refrain ", re.IGNORECASE)
_SPEECH: Final = "说道写问答喊叫：，"
"""Before a straight mark, what makes it one that opens: it has no side of its own."""
_SINGLE: Final = re.compile(r"['‘’]|\n[ \t\r]*+\n")
_ELISION: Final = re.compile(r"['‘’](?:cause|em|til|till|twas|tis|bout|round|n|\d\ds?)\b", re.IGNORECASE)
_OPENS_AFTER: Final = "([{（【:：,，—–-=/>*_"


def _between_pairs(text: str) -> Iterator[TextStretch]:
    """What stands between marks that open and close, however deep; from one left open to its paragraph's end."""
    paragraphs: _Paragraphs | None = None
    for opening, closings in _PAIRS.items():
        if opening not in text and not (opening == "“" and "”" in text):
            continue
        paragraphs = paragraphs or _Paragraphs(text)
        opened: list[int] = []
        stray: int | None = None
        for mark in re.finditer(f"[{opening}{closings}]", text):
            at = mark.start()
            if text[at] == opening and not (text[at] in closings and opened):
                opened.append(at)
            elif opened:
                yield opened.pop(), at + 1
            elif stray is not None and paragraphs.share(stray, at):
                yield stray, at + 1
                stray = None
            else:
                stray = at
        covered = 0
        for at in opened:
            if at >= covered:
                covered = paragraphs.end(at)
                yield at, covered


def _between_triple(text: str) -> Iterator[TextStretch]:
    """What stands between three straight marks and three; from those left open to the end."""
    if '"""' not in text and "'''" not in text:
        return
    opened: re.Match[str] | None = None
    for mark in _TRIPLE.finditer(text):
        if opened is None:
            opened = mark
        elif mark[0][0] == opened[0][0] and text[opened.end() : mark.start()].strip():
            yield opened.start(), mark.end()
            opened = None
    if opened is not None and _opens_line(text, opened.start()):
        yield opened.start(), len(text)


def _struck_or_asked(text: str) -> Iterator[TextStretch]:
    """What is struck through, pictures' texts, comments in code, what is sung, and what somebody asks the meaning of."""
    if "~~" in text:
        yield from (struck.span() for struck in _STRUCK.finditer(text))
    if "![" in text:
        yield from (image.span() for image in _IMAGE.finditer(text))
    at = 0
    while (begin := text.find("/*", at)) >= 0:
        end = text.find("*/", begin + 2)
        if end < 0:
            break
        if not text[begin - 1 : begin].strip():
            yield begin, end + 2
        at = end + 2
    if "♪" in text or "♫" in text or "♬" in text:
        yield from (sung.span() for sung in _SUNG.finditer(text))
    if " go" in text or _SUNG_WORDS.search(text) is not None:
        yield from (recited.span("words") for recited in _RECITED.finditer(text))
    if "hat d" in text:
        yield from (asked.span("asked") for asked in _MEANT.finditer(text))


def _between_double(text: str) -> Iterator[TextStretch]:
    """What stands between straight marks; from one left open to its paragraph's end."""
    if not ('"' in text or "&" in text or "''" in text or "``" in text or "＂" in text):
        return
    opened: int | None = None
    for mark in _DOUBLE.finditer(text):
        before, after = text[mark.start() - 1 : mark.start()] or "\n", text[mark.end() : mark.end() + 1] or "\n"
        if opened is None:
            if (
                mark[0] != "''"
                and (mark[0] == "``" or _opens(before, after))
                and (len(mark[0]) != 2 or after.isalnum())
            ):
                opened = mark.start()
        elif before in _SPEECH or mark[0] == "``" or ((before.isspace() or before in _OPENS_AFTER) and after.isalnum()):
            yield opened, mark.end()
            opened = mark.start()
        else:
            yield opened, mark.end()
            opened = None
    if opened is not None:
        yield opened, _Paragraphs(text).end(opened)


def _opens(before: str, after: str) -> bool:
    if before.isspace() or before in _OPENS_AFTER:
        return True
    if before.isascii() and before.isalnum():
        return after.isalnum() and not before.isdigit()
    return not after.isspace()


def _between_single(text: str) -> Iterator[TextStretch]:
    """What stands between single marks in one paragraph, to the last that closes: one before may be an apostrophe."""
    if "'" not in text and "‘" not in text and "’" not in text:
        return
    opened = closed = None
    for mark in _SINGLE.finditer(text):
        at = mark.start()
        before, after = text[at - 1 : at] or "\n", text[at + 1 : at + 2] or "\n"
        opens = mark[0] != "’" and not after.isspace() and _apart(before) and _ELISION.match(text, at) is None
        closes = mark[0] != "‘" and not before.isspace() and _apart(after)
        if mark[0][0] == "\n" or (opens and not (closes and opened is not None)):
            if opened is not None and closed is not None:
                yield opened, closed
            opened, closed = None if mark[0][0] == "\n" else at, None
        elif closes and opened is not None:
            closed = at + 1
    if opened is not None and closed is not None:
        yield opened, closed


def _apart(character: str) -> bool:
    """Whether a mark beside this character stands outside a word."""
    return not character.isalnum() or not character.isascii()


_KINDS: Final[tuple[Callable[[str], Iterator[TextStretch]], ...]] = (
    _quoted_lines,
    _fences,
    _inline_code,
    _heredocs,
    _tagged,
    _between_triple,
    _struck_or_asked,
    _between_pairs,
    _between_double,
    _between_single,
)
