# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Blank what a text only shows and its speaker does not say: quotations, code, mail, tagged data, others' lines.

Whoever pastes a page, a letter or a log into a message vouches for none of its orders. Where it cannot be told how far
something quoted reaches, it reaches further: an instruction missed is said again, one obeyed in error is not seen.

Each kind is looked for in one pass from left to right, so that a stranger's text costs no more than its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from mnemic.extract.chinese import NAME, SURNAMES
from mnemic.extract.speakers import is_machine_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLANK: Final = "_"
"""What stands for each character that is quoted or code."""

Stretch = tuple[int, int]
"""Where something quoted begins and ends."""

_VISIBLE: Final = re.compile(r"\S")
_MARKS: Final = re.compile(
    "[\"`~<>|＞＜“”„‟«»‹›「」『』《》〈〉〝〞﹁﹂﹃﹄❝❞＂:：$\t\\[\\\\\xa0@&]|(?<![a-zA-Z])['‘]|['’](?![a-zA-Z])|//|/\\*| {4}|--|==|[Ff]orwarded|FORWARDED"
)
"""Without one of these nothing is quoted, which is true of most messages."""


def own_words(text: str) -> str:
    """Return `text` with each visible character of what is quoted or code as `_`, every other one in its place."""
    if _MARKS.search(text) is None:
        return text
    text = _blanked(text, _begun_in_quoted_lines(text))
    for find in _KINDS:
        text = _blanked(text, find(text))
    return text


def _blanked(text: str, stretches: Iterable[Stretch]) -> str:
    pieces: list[str] = []
    at = 0
    for begin, end in sorted(stretches):
        if end > at:
            pieces += (text[at : max(at, begin)], _VISIBLE.sub(BLANK, text[max(at, begin) : end]))
            at = end
    return "".join((*pieces, text[at:])) if pieces else text


# Lines that are quoted as in mail


_QUOTES_LINE: Final = r"^[ \t]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)*+(?:(?!>>> )[\w-]{0,16}+>|＞|&gt;|\|)"
_QUOTED_LINE: Final = re.compile(_QUOTES_LINE + ".*", re.MULTILINE)
_QUOTE_MARKS: Final = re.compile(_QUOTES_LINE + r"(?:[ \t]?(?:>|＞|&gt;|\|))*+", re.MULTILINE)
_TAKEN_OFF: Final = "\x01"
"""What stands for each character of the marks before a quoted line, while it is looked at what the line begins."""


def _may_quote_lines(text: str) -> bool:
    """Whether there is a mark at all that mail puts before a quoted line."""
    return ">" in text or "|" in text or "＞" in text or "&gt;" in text


def _quoted_lines(text: str) -> Iterator[Stretch]:
    return (line.span() for line in _QUOTED_LINE.finditer(text)) if _may_quote_lines(text) else iter(())


def _begun_in_quoted_lines(text: str) -> list[Stretch]:
    """What a quoted line opens and other lines go on with: code, data between tags, somebody's letter."""
    if not _may_quote_lines(text):
        return []
    bare = _QUOTE_MARKS.sub(lambda marks: _TAKEN_OFF * len(marks[0]), text)
    if bare == text:
        return []
    quoted = [line for line in _LINE.finditer(bare) if line[0].startswith(_TAKEN_OFF)]
    letter = next((line for line in quoted if _hands_over(bare, line[0].strip(_TAKEN_OFF + " \t\n"), line.end())), None)
    return [*_fences(bare), *_tagged(bare), *([(letter.start(), len(text))] if letter else [])]


# Code


_FENCE: Final = re.compile("`{3,}|~{3,}")
_BEFORE_FENCE: Final = 40
"""Characters before a fence in which its line must begin, for the fence to open the line."""


def _fences(text: str) -> Iterator[Stretch]:
    """Fenced code: a fence that opens a line ends with a line that is such a fence, or never; another at the next."""
    if "```" not in text and "~~~" not in text:
        return
    fences = list(_FENCE.finditer(text))
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
            yield opening.start(), len(text)
            return
        n += 1


def _opens_line(text: str, at: int) -> bool:
    first = max(0, at - _BEFORE_FENCE)
    begin = text.rfind("\n", first, at)
    if begin < 0 and first:
        return False
    return not text[begin + 1 if begin >= 0 else 0 : at].strip(" \t\x01>-*+•_/0123456789.)")


def _closes(text: str, opening: re.Match[str], fence: re.Match[str], *, whole_line: bool) -> bool:
    if fence[0][0] != opening[0][0] or len(fence[0]) < len(opening[0]):
        return False
    return not whole_line or (_opens_line(text, fence.start()) and _ENDS_LINE.match(text, fence.end()) is not None)


_ENDS_LINE: Final = re.compile(r"[ \t]*+(?:\n|\Z)")
_TICKS: Final = re.compile("`+")


def _inline_code(text: str) -> Iterator[Stretch]:
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
        if end is not None and paragraphs.share(runs[n].start(), runs[end].start()):
            yield runs[n].start(), runs[end].end()
            n = end
        n += 1


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
_ANGLES: Final = re.compile(r"[<＜\[\\]|&lt;")
_FORMATTING_WORDS: Final = "a b big br center code em font hr i img kbd li p s small span strong sub sup u ul ol wbr"
_FORMATTING: Final = frozenset(_FORMATTING_WORDS.split())
"""Tags that people leave open, and that fence nothing then."""


def _tagged(text: str) -> Iterator[Stretch]:
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
"""
_TOPICS: Final = frozenset(_TOPICS_WORDS.split())
"""First words of what people put before a colon in words of their own."""
_HEADER: Final = re.compile(
    r"[ \t]*+[*_]*(?:from|to|cc|bcc|sent|date|subject|reply-to|发件人|收件人|抄送|发送时间|时间|日期|主题)[*_]*\s{0,3}[:：]",
    re.IGNORECASE,
)
_FORWARDED: Final = re.compile(
    r"[ \t]*+(?:"
    r"[-_=*—─]{2,}[ \t]*+[^\n]{0,40}?(?:original|forwarded|forward|begin|start of|原始邮件|原邮件|转发|开始|引用)[^\n]*+"
    r"|(?:[^\n]{0,40}?[\s:：])?(?:begin )?forwarded message|(?:fw|fwd|转发自?|引用自?)\s{0,3}[:：]|forwarded from\b|\[forwarded|\[转发"
    r"|diff --git |@@ -\d)",
    re.IGNORECASE,
)
_REPORTS: Final = re.compile(
    r"(?:\b(?:said|says|wrote|writes|reads|replied|replies|answered|posted|states?|stated|quoting|schrieb|escribió|écrit|goes"
    r"|contains?|returned|told|asked|sent|this from|as follows)(?:[ \t]+[\w'’<>@.,+-]{1,40}){0,4}"
    r"|(?:说|写|问|答|回复|回答|提到|表示|告诉我|发来|发给我|如下|返回)(?:了|过|道|的|着|的是|以下内容|如下)?)[ \t\xa0]*+[:：]?[ \t]*+(?P<end>[:：])[ \t*_]*+$",
    re.IGNORECASE,
)
_INTRODUCES: Final = re.compile(
    r"(?:\b(?:here(?:['’]s| is| are)|below (?:is|are)|this is|following)\b[^:：\n]{0,40}?\b(?:texts?|e-?mails?|mails?|letters?|messages?|articles?|pages?"
    r"|posts?|documents?|transcripts?|logs?|outputs?|results?|snippets?|reviews?|tweets?|conversations?|chats?|poems?|stor(?:y|ies))\b"
    r"|(?:以下|下面|这)(?:是|为)?[^:：\n]{0,20}?(?:文章|文本|邮件|网页|消息|文档|日志|对话|内容|原文|聊天记录|信|评论|帖子|结果|输出))[^:：\n]{0,30}[:：]"
    r"|(?<!when you )(?<!whenever you )(?<!if you )\b(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|classify)\b[^:：\n]{0,40}[:：]"
    r"|(?:翻译|总结|改写|润色|校对|概括)[^:：\n]{0,15}[:：]",
    re.IGNORECASE,
)
"""How people hand over a text to be worked on: what follows is that text."""
_MYSELF: Final = re.compile(
    r"\b(?:i|i've|i'd|i'll|i’ve|we)(?: \w+){0,2} (?:said|say|wrote|write|asked|replied|posted|sent)\b[^\n]{0,30}$"
    r"|我(?:们)?(?:再|想|要|就|先|之前|已经|刚才)*(?:说|写|问)(?:了|过)?[:：]$",
    re.IGNORECASE,
)
_HEAD: Final = 200
"""First characters of a line that are looked at for what it hands over."""
_TAIL: Final = 80
"""Last characters of a line that are looked at for who reports what follows."""
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
_SHELL: Final = re.compile(
    r"[ \t]*+(?:\$ |>>> |In \[\d*\]:|Out\[\d*\]:|[\w.-]{1,40}@[\w.-]{1,40}[:~][^\n$#]{0,60}[$#] )"
)
_COMMENT: Final = re.compile(r"[ \t]*+//(?!\S+\.\w)")
_INDENTED: Final = re.compile(r"(?:[ \xa0]{4}|[ \xa0]{0,3}\t)")
_ITEM: Final = re.compile(r"[ \t\xa0]*+(?:[-*+•]|\d{1,9}[.)、])(?:[ \t]|$)")
_LINE: Final = re.compile(r"[^\n]*+(?:\n|\Z)")


_OTHERS: Final = re.compile(r"[:：$\t\xa0─]| {4}|//|--|==|>>>|@@|——|__|\*\*|[Ff]orwarded|FORWARDED")
"""Without one of these no line says whose it is."""


def _of_others(text: str) -> Iterator[Stretch]:
    """Lines that say of themselves whose they are, to the end of their paragraph; what mail quotes, to the end."""
    if _OTHERS.search(text) is None:
        return
    spoken_by_others = before_item = was_header = False
    for line in _LINE.finditer(text):
        shown = line[0].rstrip("\n")
        if not shown.strip():
            spoken_by_others = was_header = False
            continue
        header = _HEADER.match(shown) is not None
        if (header and was_header) or _hands_over(text, shown.strip(), line.end()):
            yield line.start(), len(text)
            return
        was_header = header
        item = _ITEM.match(shown) is not None
        indented = _INDENTED.match(shown) is not None and not (item and before_item)
        before_item = item and not indented
        spoken_by_others = spoken_by_others or _is_of_another(shown)
        if spoken_by_others or header or indented or _COMMENT.match(shown):
            yield line.span()


def _hands_over(text: str, line: str, end: int) -> bool:
    """Whether what follows a line is somebody else's letter, or text to be worked on."""
    return _FORWARDED.match(line) is not None or _reports(text, line, end)


def _reports(text: str, line: str, end: int) -> bool:
    """Whether a line says that what follows it is somebody's, and nothing that is blank already follows."""
    tail = line.rstrip()[-_TAIL:]
    introduces = _INTRODUCES.search(line, 0, _HEAD) if _has_colon(line) else None
    if introduces is not None and introduces.end() < len(line.rstrip()):
        return True
    if tail[-1:] not in (":", "：", "*", "_") or _MYSELF.search(tail) or not (introduces or _REPORTS.search(tail)):
        return False
    following = _VISIBLE.search(text, end)
    return following is not None and text[following.start()] not in "\x01_\"'“”‘„«「『《﹁＂"


def _has_colon(line: str) -> bool:
    """Whether a line has a colon, without which it neither labels nor introduces anything."""
    return ":" in line or "：" in line


def _is_of_another(line: str) -> bool:
    if not _has_colon(line):
        return _SHELL.match(line) is not None
    if _LOGGED.match(line) or _SHELL.match(line) or _POSTED.fullmatch(line):
        return True
    label = _LABEL.match(line)
    if label is None or not label["rest"].strip():
        return label is not None and is_machine_label(label["name"])
    name = label["name"].strip()
    if is_machine_label(name):
        return True
    return _SPEAKER.fullmatch(name) is not None and name.split()[0].lower() not in _TOPICS


# Between quotation marks


_PAIRS: Final = {
    "“": "”", "„": "”“", "‟": "”", "«": "»", "‹": "›", "「": "」", "『": "』", "《": "》", "〈": "〉", "〝": "〞",
    "﹁": "﹂", "﹃": "﹄", "❝": "❞",
}  # fmt: skip
_DOUBLE: Final = re.compile("[\"＂]|``|''|&(?:quot|apos|#3[49]|[lr][ds]quo|laquo|raquo);")
_SINGLE: Final = re.compile(r"['‘’]|\n[ \t\r]*+\n")
_ELISION: Final = re.compile(r"['‘’](?:cause|em|til|till|twas|tis|bout|round|n|\d\ds?)\b", re.IGNORECASE)
_OPENS_AFTER: Final = "([{（【:：,，—–-=/>*_"


def _between_pairs(text: str) -> Iterator[Stretch]:
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


def _between_double(text: str) -> Iterator[Stretch]:
    """What stands between straight marks; from one left open to its paragraph's end."""
    opened: int | None = None
    for mark in _DOUBLE.finditer(text):
        before, after = text[mark.start() - 1 : mark.start()] or "\n", text[mark.end() : mark.end() + 1] or "\n"
        if opened is None:
            if mark[0] != "''" and _opens(before, after):
                opened = mark.start()
        elif (before.isspace() or before in _OPENS_AFTER) and not after.isspace() and after.isalnum():
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


def _between_single(text: str) -> Iterator[Stretch]:
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


_KINDS: Final[tuple[Callable[[str], Iterator[Stretch]], ...]] = (
    _quoted_lines,
    _fences,
    _inline_code,
    _tagged,
    _between_pairs,
    _between_double,
    _between_single,
    _of_others,
)
