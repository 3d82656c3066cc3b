# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tell the lines above which nobody speaks: the head of a file or page that was pasted, the words of a picture."""

from __future__ import annotations

import re
from typing import Final

_ENDINGS: Final = (
    "txt|text|md|mdx|markdown|rst|adoc|org|tex|log|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|html?|xhtml|css|scss|pdf|docx?|odt|rtf|pptx?|xlsx?|epub|eml|msg|mbox"
    "|pyi?|ipynb|jsx?|tsx?|mjs|java|kt|c|cc|cpp|h|hpp|rs|go|rb|php|pl|sh|bash|zsh|bat|ps1|sql|swift|scala|lua|vue|proto|lock|diff|patch|srt|vtt|png|jpe?g|gif|webp|heic|bmp|svg|mp3|mp4|wav|m4a|zip"
)
_NAMED_FILE: Final = (
    rf"(?:(?:[A-Za-z]:)?[\w./\\~@+()-]{{0,100}}[\w)]\.(?:{_ENDINGS})\b"
    r"|(?:[\w.-]{1,40}/){0,8}(?:README|LICENSE|CHANGELOG|CONTRIBUTING|AGENTS|Makefile|Dockerfile|\.cursorrules|\.env)\b)"
)
_SPACED_FILE: Final = rf"[\w.~()-][\w ./\\~@+()-]{{0,100}}\.(?:{_ENDINGS})\b"
_OF_FILES: Final = (
    r"(?:attached |original |pasted |uploaded |shared )?(?:files?|file ?names?|file ?paths?|documents?|docs?|attachments?|sources?|path|name|title|pages?|notes?|datei|fichier|archivo|arquivo|文件名?|文档|附件|来源|路径|ファイル|파일)"
    r"(?: (?:name|contents?|path|begins?|starts?|no\.?|number))?(?: ?#?\d{1,4})?|(?:the )?(?:contents?|text|begin(?:ning)?|start|copy|excerpts?)(?: (?:of|from))?(?: (?:the )?file)?|from(?: the file)?"
)
_FILE: Final = re.compile(
    rf"(?:(?:(?:{_OF_FILES})\]?[ \t]{{0,2}}[:：]?|cat|less|more|head|tail|type)[ \t*_]{{0,5}}[\"'`“‘]?)?(?:{_NAMED_FILE}|(?<=[\"'`“‘:：])[ \t]{{0,2}}{_SPACED_FILE})[\"'`”’*_]{{0,4}}(?:[ \t]{{0,2}}[(\[][^\n]{{0,60}})?",
    re.IGNORECASE,
)
"""A file's name alone in its line, or with what it is: "file: notes.txt", "cat notes.txt", "notes.txt (12 lines)"."""
_PIECE: Final = re.compile(
    r"(?:the )?(?:(?:begin(?:ning)?|start|end|part|content|contents|text)(?: of)?(?: the)? ?)?(?:attached |original |pasted |copied |quoted |retrieved |external )?"
    r"(?:files?|documents?|docs?|pages?|slides?|chapters?|notes?|texts?|transcripts?|e-?mails?|mails?|messages?|readme|logs?|outputs?|excerpts?|contents?|sources?|articles?|quotes?|quotations?|quoted text|context|letters?|input|data|pastes?|copy|snippets?|ocr|screenshots?|attachments?|lyrics|passages?|chunks?|results?|websites?|web ?pages?|prompts?|begin|start|clippings?"
    r"|文件|文档|附件|原文|正文|引用|网页|邮件|内容|资料|材料|聊天记录|笔记|开始|第[\d一二三四五六七八九十]{1,4}[页章节])"
    r"(?: (?:no\.? |#)?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?)?(?: (?:begins?|starts?|below|follows))?(?:[:：][^\n]{0,80})?",
    re.IGNORECASE,
)
"""What stands between rules above a text that was pasted: "--- document ---", "=== Page 3 of 5 ==="."""
_RULED: Final = re.compile(
    r"[ \t]*+(?P<rule>[-=~*#<_+—─═▬/|]{2,})[ \t]*+(?P<within>\S[^\n]{0,150}?)[ \t]*+[-=~*#>_+—─═▬/|]{2,}[ \t]*+[:：]?[ \t]*+"
)
_AROUND: Final = re.compile(r"(?:[^\w.~/\\(]|~(?!/)|//|/\*)*+(?P<within>.*?)[^\w)]*", re.DOTALL)
"""What stands before and behind the words of a heading: marks of emphasis, rules, brackets, pictures."""
_URL: Final = re.compile(
    r"(?:(?:(?:text|copied|pasted|taken|quoted|read|content) )?from |source: |quelle: |来源：|来自)<?https?://[^\s<>]{1,180}",
    re.IGNORECASE,
)
_LONGEST: Final = 200
"""Most characters in a line that is a heading."""


def heads_file(line: str) -> bool:
    """Whether a line is the heading of a file or a page, whose text stands below it."""
    line = line.strip()
    if not line or len(line) > _LONGEST:
        return False
    if (ruled := _RULED.fullmatch(line)) is not None and _PIECE.fullmatch(ruled["within"].strip(" \t[](){}<>*\"'`")):
        return True
    if "." not in line and "README" not in line and "/" not in line:
        return False
    within = _AROUND.fullmatch(line)
    return (within is not None and names_file(within["within"])) or _URL.fullmatch(line) is not None


def names_file(label: str) -> bool:
    """Whether a label is a file's name, alone or with what it is."""
    return _FILE.fullmatch(label.strip(" \t*_`\"'")) is not None


_PICTURE: Final = r"(?:screen ?-?(?:shots?|grabs?|caps?)|images?|pictures?|pics?|photos?|photographs?|scans?|slides?|posters?|whiteboards?|receipts?|memes?|banners?|flyers?|leaflets?|billboards?|plaques?|pdf|video|recording|clip|screen|display|sticker|postcard|page|form|menu|sign|scan|camera|qr code|frame|thumbnail|diagram|chart|figure|cartoon|comic)"
_WORDS_OF: Final = r"(?:text|texts|words|wording|writing|content|contents|inscription|caption|captions|message|output|results?|transcript|transcription|ocr|reading|description|labels?|letters)"
_CHINESE_PICTURE: Final = "(?:图片|图像|配图|图|截图|截屏|照片|相片|扫描件?|屏幕|海报|画面|幻灯片|PPT|PDF|视频|录音|语音|附件|表情包|宣传单|传单|招牌|牌子|二维码|白板|黑板)"
_CAPTURED: Final = re.compile(
    rf"(?:(?:the |this |that |my |her |his |your |raw |full |extracted |attached )?{_PICTURE}(?:['’]s)? {_WORDS_OF}"
    rf"|(?:the |some |all )?(?:extracted |recogni[sz]ed )?{_WORDS_OF}(?: that (?:is|stands|was))? (?:in|on|of|from|inside|within|under) (?:the |this |that |my |her |his |an? )?(?:\w+ )?{_PICTURE}(?: (?:reads|says|is|are|was))?"
    rf"|(?:in|on|from|inside) (?:the|this|that) (?:\w+ )?{_PICTURE}"
    r"|(?:the )?ocr(?:[' ]?ed)?(?: \w+)?|(?:extracted|recogni[sz]ed|scanned|transcribed|detected|captured|dictated|machine-read) (?:text|words|content|speech|output)"
    r"|alt(?:ernative)?[ -]text|subtitles?|closed captions|transcription|(?:audio|voice|video|speech)(?:[ -](?:memo|mail|note|message))? (?:transcript|transcription)|speech[ -]to[ -]text|(?:from |on |in )?(?:the |my )?clipboard(?: contents?)?"
    rf"|{_CHINESE_PICTURE}(?:里|中|上|内|下)?(?:面|边|方)?的?(?:文字|内容|字|文本|原文|文案|转写|转文字|识别结果|写的是?|显示的?)(?:内容)?(?:如下|是|为)?|(?:OCR|文字|图像|图片|语音)?(?:识别|转写|转录|提取)(?:出来|出|到|后)?的?(?:结果|内容|文字|文本)(?:如下|是)?"
    r"|OCR的?(?:结果|文字|内容|文本|原文)?|文字识别|剪贴板(?:的)?(?:内容)?|逐字稿|录音稿|字幕|旁白)",
    re.IGNORECASE,
)
"""Labels of what was read off a picture, a recording or a clipboard; nobody says where that ends."""


def heads_captured(label: str) -> bool:
    """Whether a label before a colon heads words that were read off a picture, a recording or a clipboard."""
    return _CAPTURED.fullmatch(label.strip(" \t*_[]()【】（）#>-")) is not None


_NOTE_MARK: Final = re.compile(
    r"[ \t]*+(?:[-*+•>][ \t]++){0,2}+(?:\.\.[ \t]++)?(?:"
    r"(?:\[\^[\w-]{1,40}\]|[\[［【](?:\d{1,3}(?:[,;:–.-][^\]］】\n]{0,40})?|\*{1,3}|[†‡#]{1,2}|(?![xX ])[a-zA-Z]|[ivx]{2,5}|[A-Z][^\]］】\d\n]{1,40}(?:19|20)\d\d[a-z]?)[\]］】])[ \t]?[:：]?"
    r"|[¹²³⁰⁴-⁹†‡※]{1,3}[.):]?)[ \t]*+(?=[^\s\[\](])"
)
"""How a footnote begins, or an entry of a list of references."""


def begins_footnote(line: str) -> bool:
    """Whether a line is a footnote or a reference: what is said about a text, or by whom it is said."""
    return _NOTE_MARK.match(line) is not None
