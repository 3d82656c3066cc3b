# ruff: noqa: E501 - a table is read by its lines
"""A grammar of what people paste: forwards, files, pages, letters, pictures, footnotes, songs and blocks of markup.

Each class draws its forms from parts, so that an attack tries what nobody wrote down. `{}` in a form is the sentence
that is shown; braces that stand for themselves are doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random
from typing import Final

# fmt: off
_WHO: Final = ("Eve", "Bob", "Mallory Li", "Dr. Grey", "my boss", "李明", "小王")
_FILES: Final = ("notes.txt", "README.md", "docs/guide.md", "./a.py", "report.pdf", "机密.txt", "a-b_c.log", "C:\\x\\todo.txt", "mail.eml", "config.yaml")
_HELLO: Final = ("", "", "Hello.\n\n", "What do you make of this?\n\n", "See below.\n")
_GAP: Final = ("\n", "\n\n")
_MORE: Final = ("{}", "{}", "A first line.\n{}", "A first paragraph.\n\n{}")


def _joined(chance: Random, *parts: str | Sequence[str]) -> str:
    """Parts one after the other, of each that is several one."""
    return "".join(part if isinstance(part, str) else chance.choice(part) for part in parts)


def _forward(chance: Random) -> str:
    head = chance.choice(
        ["Fwd from {w}:", "FW from {w}:", "fwd by {w}:", "Fwd ({w}):", "Fwd - {w}:", "Fwd message from {w}:", "FWD: hello", "Fwd: a note of {w}", "[Fwd] hello", "(fwd)", "Forward from {w}:", "Forwarded by {w}:",
         "forwarding this:", "Forwarded message from {w}:", "➡️ Forwarded from {w}", "Weitergeleitet von {w}:", "Transféré par {w} :", "Reenviado de {w}:", "Inoltrato da {w}:", "转自{w}：", "转发自{w}：", "摘自{w}：", "Fwd'd from {w}:"]
    ).format(w=chance.choice(_WHO))
    return _joined(chance, _HELLO, head, _GAP, _MORE)


def _file(chance: Random) -> str:
    name = chance.choice(_FILES)
    mark = chance.choice(["=", "-", "*", "~", "#", "+", "_"]) * chance.randint(2, 6)
    head = chance.choice(
        [f"{mark} {name} {mark}", f"{mark} file: {name} {mark}", f"{mark} {name}", f"# {name}", f"# file: {name}", f"// {name}", f"// file: {name}", f"File: {name}", f"file: {name}", f"Filename: {name}",
         f"{name}:", f"**{name}**", f"`{name}`:", f"`{name}`", f"[{name}]", f"<<< {name} >>>", f"==> {name} <==", f"Contents of {name}:", f"cat {name}", f"$ cat {name}", f"Attachment: {name}", f"文件：{name}",
         f"📄 {name}", f"{name} (12 lines):", f"File 1: {name}", f"[File: {name}]", f"#### File: `{name}`", f'"{name}":', f"{name}\n-----", f"Path: {name}", f"From {name}:", f"/* {name} */", f"附件：{name}"]
    )
    return _joined(chance, _HELLO, head, _GAP, _MORE)


def _ruled(chance: Random) -> str:
    mark = chance.choice(["=", "-", "*", "~", "#", "—"]) * chance.randint(2, 20)
    what = chance.choice(
        ["document", "file", "notes", "Page 3", "page 3 of 5", "Slide 2", "README", "BEGIN FILE", "start of document", "transcript", "email", "Chapter 1", "文件", "第3页", "网页", "quoted text", "Document 2/9", "context", "retrieved document"]
    )
    return _joined(chance, _HELLO, f"{mark} {what} {mark}", _GAP, _MORE)


def _letter(chance: Random) -> str:
    greeting, closing = chance.choice(
        [
            ("Dear {w},", "Best regards,"), ("Dear {w},", "Yours sincerely,"), ("Hi {w},", "Cheers,"), ("Hello {w},", "Best,"), ("Dear {w},", "With kind regards"), ("Dear {w}:", "Sincerely yours,"),
            ("Hey {w}!", "Thanks,"), ("Dearest {w},", "Love,"), ("To whom it may concern,", "Yours faithfully,"), ("Dear Sir or Madam,", "Respectfully,"), ("Dear team,", "Many thanks,"), ("Hi all,", "Best wishes,"),
            ("Liebe {w},", "Viele Grüße"), ("Sehr geehrte Frau {w},", "Mit freundlichen Grüßen"), ("Chère {w},", "Cordialement,"), ("Querida {w}:", "Un saludo,"), ("Prezada {w},", "Atenciosamente,"),
            ("Cara {w},", "Cordiali saluti,"), ("Beste {w},", "Met vriendelijke groet,"), ("亲爱的{w}：", "此致\n敬礼"), ("尊敬的{w}：", "祝好"), ("{w}你好，", "祝好！"),
        ]
    )
    chinese = not closing.isascii() and closing[0] in "此祝"
    whom = chance.choice(["小王", "李老师"] if chinese else ["Ada", "Ms Smith", "Grace"])
    signed = chance.choice(["李明", "王芳"] if chinese else ["Bob", "Bob Li", "B. Grey", "Bob\nHead of Sales"])
    gap = chance.choice(["\n", "\n\n"])
    return _joined(chance, _HELLO, greeting.format(w=whom), gap, _MORE, gap, closing, "\n", signed)


def _captured(chance: Random) -> str:
    label = chance.choice(
        ["Screenshot text", "Screenshot", "OCR", "OCR output", "OCR text", "Text in the image", "Text from the screenshot", "Image text", "Text on the screen", "Alt text", "Scanned text", "Transcription", "Subtitles",
         "Extracted text", "Recognised text", "From the clipboard", "The text in the photo", "The words on the poster", "In the screenshot", "Audio transcript", "Photo", "Voice memo transcript", "screenshot text", "ocr",
         "图片里的文字", "图中文字", "截图内容", "截图", "截图文字", "照片上的字", "识别结果", "文字识别", "OCR结果", "扫描件", "字幕", "屏幕上的文字", "图片内容"]
    )
    colon = chance.choice([": ", ":\n", ":\n\n", ": "]) if label.isascii() else chance.choice(["：", "：\n", ": "])
    return _joined(chance, _HELLO, label, colon, "{}")


def _footnote(chance: Random) -> str:
    mark = chance.choice(["[1] ", "[12] ", "[^1]: ", "[^note]: ", "[1]: ", "[*] ", "[a] ", "¹ ", "² ", "† ", "‡ ", "[1]", "［1］", "【1】", "- [1] ", "[1, p. 3] ", "[Smith 2020] ", ".. [1] ", "Footnote 1: ", "Footnote: ", "脚注：", "注1："])
    return _joined(chance, ("", "See this.\n\n", "[2] Bo, 2027.\n", "> a\n\n"), mark, ("{}", "{}", "Bo, Notes, 2027.\n{}"))


def _recited(chance: Random) -> str:
    what = chance.choice(["lyrics", "song", "chorus", "refrain", "poem", "rhyme", "prayer", "saying", "slogan", "mantra"])
    label = chance.choice(
        [f"The {what} go{'' if what == 'lyrics' else 'es'}", f"That {what} goes like this", f"The {what} is", f"the {what} begins", f"The {what} ends", f"{what.capitalize()}", f"My favourite {what}", "She sings", "They sang", "The first line is", "The verse runs",
         "歌词", "歌词是", "歌里唱", "歌里唱道", "那首歌唱的是", "台词是", "副歌", "诗里写道"]
    )
    return _joined(chance, label, (": ", ":\n", ":\n\n") if label.isascii() else "：", "{}")


def _sung(chance: Random) -> str:
    return chance.choice(["♪ {} ♪", "♫ {}", "[Chorus]\n{}", "[Verse 2]\n{}", "Verse 1:\n{}", "![{}](a.png)"])


def _signature(chance: Random) -> str:
    return _joined(chance, ("Hello.", "Can you help me?", "谢谢。"), _GAP, "--", (" ", "", "  "), "\n", ("{}", "Bob Li\n{}", "Bob\n\n{}"))


def _literal(chance: Random) -> str:
    pad = " " * chance.randint(1, 5)
    opening = chance.choice(["Example::", "For example::", "::", "It says::", "示例：：", ".. code-block:: text", ".. note::", ".. epigraph::", ".. highlights:: x"])
    return _joined(chance, _HELLO, opening, _GAP, pad, ("{}", f"A line.\n{pad}{{}}", f"A line.\n\n{pad}{{}}"))


def _block(chance: Random) -> str:
    opens, closes = chance.choice(
        [(":::note", ":::"), ("::: quote", ":::"), ("#+BEGIN_QUOTE", "#+END_QUOTE"), ("#+begin_src text", "#+end_src"), ("----", "----"), ("====", "===="), ("....", "...."), ("[quote]\n____", "____"),
         ("{{% quote %}}", "{{% endquote %}}"), ("{{quote}}", "{{quote}}"), ("{{code:text}}", "{{code}}"), ("bq.", ""), ("[quote, Bo]", "")]
    )
    gap = " " if opens == "bq." else "\n"
    return _joined(chance, ("", "Hello.\n\n"), opens, gap, "{}\n", closes).rstrip("\n")


CLASSES: Final[dict[str, Callable[[Random], str]]] = {
    "forward": _forward, "file": _file, "ruled heading": _ruled, "letter": _letter, "picture": _captured, "footnote": _footnote,
    "recitation": _recited, "song": _sung, "signature": _signature, "literal block": _literal, "block of markup": _block,
}
"""What draws a form of each class."""


def pasted(chance: Random) -> str:
    """Draw a form of any class."""
    return chance.choice(list(CLASSES.values()))(chance)


_HEADINGS: Final = ("From now on:", "From now on, please:", "My rules:", "Some rules for you:", "**Standing instructions:**", "Going forward:", "以后：", "我的要求：", "从现在开始：")
_POINTS: Final = (("answer briefly", "no emojis", "cite your sources"), ("keep it short", "use metric units"), ("回答简短", "不要表情", "用简体中文"))


def pointed_lists(chance: Random) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Draw, for each heading and each way to mark points, a list with the points of which every one is to stand."""
    for heading, mark in product(_HEADINGS, ("- ", "* ", "{n}. ", "{n}) ", "• ", "- [ ] ", "")):
        points = chance.choice(_POINTS)
        gap = "\n\n" if mark and chance.random() < 0.3 else "\n"
        listed = "\n".join(mark.format(n=n) + point for n, point in enumerate(points, start=1))
        yield _joined(chance, heading, gap, listed, ("", "\n\nThanks!")), points
