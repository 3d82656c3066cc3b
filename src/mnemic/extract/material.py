# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Find the words with which people hand over a text that is not theirs: to be worked on, or as what another said."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from mnemic.extract.chinese import NAME, has_chinese

_TEXTS: Final = (
    r"(?:texts?|e-?mails?|mails?|letters?|messages?|dms?|sms|articles?|pages?|posts?|documents?|docs?|transcripts?|logs?|outputs?|results?|snippets?|reviews?"
    r"|tweets?|conversations?|chats?|threads?|poems?|stor(?:y|ies)|essays?|notes?|memos?|quotes?|quotations?|excerpts?|passages?|paragraphs?|sentences?|drafts?"
    r"|readme|prompts?|comments?|replies|reply|answers?|tickets?|issues?|code|lyrics|scripts?|speech|statements?|abstracts?|clippings?|contents?|source|words|manual|instructions)"
)
_TEXT: Final = r"(?:text|e-?mail|mail|letter|message|dm|article|page|post|document|docs|transcript|logs?|output|result|snippet|review|tweet|conversation|chat|thread|poem|story|essay|note|memo|quote|excerpt|passage|paragraph|sentence|draft|readme|prompt|comment|ticket|lyrics|script|speech|statement|abstract|clipping|manual)"
"""One text, where the plural would be a subject of one's own: "Error messages: always in English"."""
_INTRODUCES: Final = re.compile(
    rf"(?:\b(?:here(?:['’]s| is| are| comes)|below (?:is|are)|this is|these are|following)\b(?! (?:how|what i|my (?:rule|request|preference|instruction|wish)))[^:：\n]{{0,40}}?\b(?<!for )(?<!about )(?<!for my )(?<!in my )(?<!for your )(?<!in your )(?<!on your )(?<!to your ){_TEXTS}\b"
    r"|(?:以下|下面|这)(?:是|为)?[^:：\n]{0,20}?(?:文章|文本|文字|邮件|网页|消息|文档|日志|对话|内容|原文|聊天记录|信|评论|帖子|结果|输出|段落|句子))[^:：\n]{0,30}[:：]\Z"
    r"|(?<!when you )(?<!whenever you )(?<!if you )\b(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|classify)\b[^:：\n]{0,40}[:：]\Z"
    r"|(?<!when you )(?<!whenever you )(?<!if you )\b(?:fix|correct|check|review|edit|improve|polish|shorten|simplify|explain|analy[sz]e|parse|read|convert|format|spell-?check|grammar-?check|critique|evaluate|rate|grade"
    r"|expand|complete|continue|interpret|describe|comment on|(?:reply|respond|answer) to|look at|(?:what do you )?think (?:of|about)|mistakes? in|errors? in|wrong with|meaning of|tone of|summary of|translation of|feedback on|opinion on)\b"
    rf"[^:：\n]{{0,40}}?\b(?:this|these|following|that|below|(?:the|my|his|her|their|a|an)(?: \w+)? {_TEXTS})\b[^:：\n]{{0,40}}[:：]\Z"
    r"|\b(?:is|does|are) (?:this|the following|these)\b[^:：?\n]{0,30}\b(?:sentence|grammatical\w*|grammar|phrase|text|e-?mail|message|wording|paragraph|translation)\b[^:：?\n]{0,40}[:：]\Z"
    r"|(?:翻译|译成|总结|改写|润色|校对|概括|缩写|扩写|续写|修改|纠正|解释|分析|点评|评价|什么意思|语法|病句|错别字|(?:改|看|查|读|译|编辑|检查)(?:一下|一改|一看|下)?(?:这|以下|下面|那))[^:：\n]{0,15}[:：]\Z",
    re.IGNORECASE,
)
"""How people hand over a text to be worked on: what follows is that text."""
_INTRODUCING_WORDS: Final = """
here here's here’s below this these following translate summarise summarize rewrite rephrase paraphrase proofread classify fix correct check
review edit improve polish shorten simplify explain analyse analyze parse read convert format spell-check spellcheck grammar-check
grammarcheck critique evaluate rate grade expand complete continue interpret describe comment reply respond answer look think mistake mistakes
error errors wrong meaning tone summary translation feedback opinion
"""

_PROSE: Final = r"(?:text|e-?mail|letter|message|article|page|post|document|transcript|review|tweet|poem|story|essay|note|memo|quote|excerpt|passage|paragraph|sentence|draft|readme|prompts?|comment|speech|statement|abstract|instructions?|rules?|wording|system prompt)"
_HANDED_OVER: Final = re.compile(
    r"\s*+(?:(?:hi|hey|hello|please|can you|could you|would you|will you|i(?:['’]d like| want) you to|help me)\b[ ,]{1,2}){0,3}(?:"
    r"(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|classify|fix|correct|check|review|edit|improve|polish|shorten|simplify|explain|analy[sz]e|critique|evaluate|rate|grade|read|comment on|look at|have a look at|tell me what you think (?:of|about))"
    rf" (?:this|these|the following)(?: [\w-]{{1,20}})? {_PROSE}(?: (?:below|here|for me|please|into \w+|to \w+)){{0,2}}"
    rf"|(?:what do you think|what(?:['’]s| is) your (?:opinion|take)|(?:any|your) (?:thoughts|feedback|opinion)) (?:of|about|on) (?:this|these|the following)(?: [\w-]{{1,20}})? {_PROSE}"
    rf"|(?:is|are|does|do) (?:this|these|the following)(?: [\w-]{{1,20}})? {_PROSE}(?: [\w'’-]{{1,20}}){{1,5}}(?=[ \t]?\?)"
    r")[ \t]?(?:[.!?]{1,3}(?=\s)|(?=[ \t]*\n))"
    r"|\s*+(?:i |we |somebody |someone )?(?:just )?(?:found|saw|read|got|came across|copied|pasted|posted|stumbled (?:up)?on) (?:this|these|the following)(?: [\w-]{1,20})? (?:on|in|from|at|online|via|off)\b(?: [\w.'’/-]{1,30}){0,4}[.!…]{0,3}[ \t]*+(?=\n)"
    r"|\s*+(?:请|麻烦|帮我|你|帮忙){0,3}(?:翻译|总结|润色|校对|概括|修改|改写|检查|评价|点评|分析|看看|看一下|解释)(?:一下)?(?:这|以下|下面)[^\n。，,？！]{0,8}(?:文章|文本|文字|邮件|消息|文档|信|评论|段落|句子|话|提示词?|指令|规则)[。？！]?[ \t]*+(?=\n)"
    r"|\s*+你?(?:觉得|认为|怎么看)这[^\n。，,？！]{0,6}(?:文章|文本|文字|邮件|消息|信|评论|段落|句子|话|提示词?|指令|规则)[^\n。，,？！]{0,8}？"
    r"|\s*+我?(?:刚)?在?(?:网上|网页上|论坛上|微博上|知乎上)(?:看到|找到|读到|复制)[^\n。，,？！]{0,10}[。！]?[ \t]*+(?=\n)",
    re.IGNORECASE,
)
"""How a message begins that hands a text over without a colon: "this" can point at nothing but what follows."""


def end_of_handover(text: str) -> int:
    """Where the words end with which a message begins by handing a text over, without a colon; 0 if it does not."""
    handed = _HANDED_OVER.match(text)
    return 0 if handed is None else handed.end()


_RECITED_WORDS: Final = """
lyrics lyric song songs chorus refrain verse stanza poem rhyme prayer hymn anthem psalm haiku limerick quote quotation saying proverb motto slogan mantra
inscription caption headline tagline script dialogue monologue joke line lines oath spell chant
"""
_RECITED: Final = re.compile(
    rf"\b(?:{'|'.join(_RECITED_WORDS.split())})\b[^:：\n]{{0,40}}?\b(?:is|are|was|were|go|goes|went|run|runs|ran|begins?|starts?|ends?|opens|reads?|says?)(?: [\w'’]{{1,20}}){{0,3}}[ \t*_]*+[:：]\Z",
    re.IGNORECASE,
)
"""Before a colon: what is recited behind it, "the lyrics go", "the motto is"."""
_REPORTING_WORDS: Final = """
sings sing sang singing sung chants chanted recites recited whispers whispered shouts shouted yells yelled mutters muttered narrates narrated
said says say wrote writes reads replied answered posted state states stated quoting goes contain contains returned returns
printed showed shows told tells asked asks sent forwarded pasted mentioned claims claimed suggested recommends instructs instructed insist insists demanded texted messaged e-mailed emailed tweeted commented
schrieb schreibt sagte sagt meinte escribió escribe dijo dice écrit dit escreveu disse diz scritto scrive detto schreef schrijft zei zegt
"""
_CUES: Final = frozenset((*_INTRODUCING_WORDS.split(), *_REPORTING_WORDS.split(), *_RECITED_WORDS.split(), "follows"))
"""Without one of these nothing is announced in a language with spaces."""
_SAYING: Final = r"(?:说|唱|念|写|问|答|回复|回答|提到|表示|告诉我|发来|发给我|如下|返回|显示|规定|要求)(?:了|过|道|的|着|的是|以下内容|如下|这个|这些|这段|这条)?"
_REPORTS: Final = re.compile(
    rf"(?:\b(?:{'|'.join(_REPORTING_WORDS.split())}|this from|as follows)(?:[ \t]+[\w'’<>@.,+-]{{1,40}}){{0,4}}|{_SAYING})[ \t\xa0]*+[:：]?[ \t]*+[:：]\Z",
    re.IGNORECASE,
)
"""Before a colon: who says what follows it."""
_PEOPLE_AND_PAPERS: Final = (
    rf"(?:他们?|她们?|它|TA|对方|有人|别人|人家|老板|上司|领导|同事|客户|老师|医生|朋友|妈妈?|爸爸?|老婆|老公|经理|房东|邻居|{NAME}|小[\u4e00-\u9fff]|老[\u4e00-\u9fff]"
    r"|(?:邮件|信|网页|网站|页面|文章|文档|文件|说明书?|公告|通知|日志|短信|微信|消息|书|牌子|标语|手册|帖子|评论|合同|README|歌|歌词|副歌|诗|台词|剧本|截图|图片|照片|海报|屏幕)(?:里面?|上面?|中)?)"
)
_CHINESE_REPORTS: Final = re.compile(
    rf"{_PEOPLE_AND_PAPERS}[^:：，,。\n]{{0,8}}?{_SAYING}[ \t]*+[:：]\Z|(?:歌词|副歌|台词|那首歌|诗句|口号|座右铭|对白|旁白)[^:：，,。\n]{{0,8}}(?:是|唱|念|为|如下)[^:：，,。\n]{{0,6}}[:：]\Z|(?:粘贴|复制|转来|收到|抄来|引自|摘自)的?[^:：\n]{{0,8}}[:：]\Z",
    re.IGNORECASE,
)
"""The same within a line, where Chinese must name who it is: "说真的：" is one's own."""
_STANDS_WRITTEN: Final = re.compile(
    r"(?:邮件|信|网页|网站|页面|文章|文档|文件|说明书?|公告|通知|日志|短信|微信|消息|书|牌子|标语|手册|帖子|评论|合同|README|[里上中])(?:里面?|上面?|中)?(?:都|还|就|也)?(?:写着|写道|写的是|说的是|规定了?|提到)[:：]?"
)
"""Chinese for "it says there", which needs no colon."""
_MYSELF: Final = re.compile(
    r"\b(?:i|i've|i'd|i'll|i’ve|we)(?: \w+){0,2} (?:said|say|wrote|write|asked|replied|posted|sent|told|tell|mentioned|suggested|suggest|recommend)\b[^\n]{0,30}\Z|\byou say[^\n]{0,30}\Z"
    r"|\b(?:my|our)(?: \w+){0,2} (?:rules?|requests?|instructions?|preferences?|wish(?:es)?|orders?|requirements?|defaults?|polic(?:y|ies)|conventions?|style|guidelines?|settings?)\b[^\n]{0,30}\Z"
    r"|\b(?:my|our) (?:own )?(?:motto|mantra|one line)\b[^\n]{0,30}\Z|\blet me (?:just |only |simply )?(?:say|tell|repeat|add|put|write|state|reply|answer|ask|comment)\b[^\n]{0,40}\Z"
    r"|我们?的(?:所有|几[点个条])?(?:要求|规则|规定|规矩|建议|请求|偏好)(?:是|如下)?[:：]\Z|我(?:们)?(?:再|想|要|就|先|之前|已经|刚才|的要求|的规则)*(?:说|写|问|如下|要求)(?:了|过|的是)?[:：]\Z",
    re.IGNORECASE,
)
"""Reports of one's own words, which stay one's own."""
_COLON: Final = re.compile("[:：]")
_REACH: Final = 120
"""Characters before a colon that are looked at for what it announces."""
_BREAK: Final = re.compile(r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bSt)[.!?][)\"'”’]?\s|[。！？]")
_WORDS: Final = re.compile(r"[^\W\d_][\w'’-]*")

_OWN_LINES: Final = frozenset({"line", "lines", "headline", "caption", "script", "spell", "haiku", "joke"})
"""Words for what is recited that people also head rules of their own with: "Captions", "Subject line"."""
_HEADING: Final = re.compile(
    rf"(?:(?!(?:that|it|what|here|there|let|today|tomorrow|how|who)['’]s\b)[\w'’ -]{{0,30}}\w['’]s? (?:\w+ )?{_TEXTS}"
    rf"|(?:the|this|that|a|an|his|her|their)(?: [\w-]+){{0,2}} {_TEXT}"
    rf"|(?:pasted|copied|quoted|attached|forwarded|original|received|incoming|following|above|below)(?: [\w-]+)? {_TEXTS}"
    rf"|(?:previous|raw|full|voice|system|error|customer|client|user|release|meeting|lecture|source|input|sample|example|test)(?: [\w-]+)? {_TEXT}"
    rf"|{_TEXTS}(?: [\w-]+)? (?:from|by|below|above|begins|starts|follows)(?: [\w'’.@-]+){{0,4}}"
    r"|(?:pasted|copied|quoted|attached|forwarded|quoting|received)(?: (?:from|by|below|text|here|in))?(?: [\w'’.@-]+){0,3}"
    r"|text|document|article|transcript|letter|message|excerpt|passage|quote|paste|snippet|log|readme|e-?mail body|paragraph|sentence"
    r"|[^:：\n]{0,12}(?:粘贴|复制|转发|收到|附上|原始)的?[^:：\n]{0,6}|[^:：\n]{1,8}的(?:邮件|信|消息|留言|短信|原话|原文|文章|帖子|评论|聊天记录)|文本|文章|原文|文档|聊天记录|句子|段落"
    rf"|(?:(?:my|the|his|her|their) )?(?:[\w-]+ )?(?:{'|'.join(word for word in _RECITED_WORDS.split() if word not in _OWN_LINES)})(?: \d{{1,3}})?(?: \(?x?\d\)?)?|(?:pre-|post-)?(?:intro|outro|bridge|hook)|(?:\w+ )?dialogue"
    r"|(?:page|slide|chapter|act|scene|footnote|endnote|file|document|attachment|figure|exhibit|frame|cell|fn\.?|appendix) (?:no\. ?)?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?|footnotes?|endnotes?|screen ?shot|image|picture|photo|scan(?:ned page)?|poster|receipt|voice ?mail|ocr|截图|截屏|图片|照片|扫描件|海报"
    r"|(?:quote|verse|listing|excerpt|epigraph),[^\n]{0,60}|歌词|副歌|主歌|台词|对白|诗句?|原诗|脚注\d*|尾注\d*|注[\d¹²³①-⑳]{1,3}|译注|编者按|第[\d一二三四五六七八九十]{1,4}[页章幕])",
    re.IGNORECASE,
)
"""Labels of texts that are shown: "Eve's message", "Pasted text", "Note from Bo"."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a colon in a line announces.

    Attributes:
        end: Where in the line the announced text begins.
        is_worked_on: It is handed over to be worked on, and not only reported.
    """

    end: int
    is_worked_on: bool


def announcements(line: str) -> list[Announcement]:
    """Find the words in a line that announce a text which is not its speaker's: the first few, and what ends the line."""
    announcements_read: list[Announcement] = []
    if not line.isascii() and (written := _STANDS_WRITTEN.search(line)) is not None:
        announcements_read.append(Announcement(written.end(), is_worked_on=False))
    colons = [colon.end() for colon in _COLON.finditer(line)]
    cues = [cue.end() for cue in _WORDS.finditer(line) if cue[0].lower() in _CUES] if colons else []
    tries, last = 0, len(line.rstrip(" \t*_"))
    for end in colons if len(announcements_read) < _FEW else colons[-1:]:
        if len(announcements_read) == _FEW and end != colons[-1]:
            continue
        cue = bisect_right(cues, end)
        near = cue > 0 and cues[cue - 1] >= end - _REACH
        if not near and (line.isascii() or _CHINESE_CUES.search(line, max(0, end - _CHINESE_REACH), end) is None):
            continue
        tries += 1
        if tries > _TRIES:
            announcements_read.append(Announcement(end, is_worked_on=True))
            break
        before = _clause_before(line, end)
        if _INTRODUCES.search(before):
            announcements_read.append(Announcement(end, is_worked_on=True))
        elif _is_reported(line, before, end, is_within=end < last):
            announcements_read.append(Announcement(end, is_worked_on=False))
    return sorted(announcements_read, key=lambda announced: announced.end)


def _is_reported(line: str, before: str, end: int, *, is_within: bool) -> bool:
    reports = _CHINESE_REPORTS if is_within and has_chinese(before) else _REPORTS
    return (
        (reports.search(before) is not None or _RECITED.search(before) is not None)
        and _NO_SPEECH.match(line, end - 2) is None
        and _MYSELF.search(before) is None
    )


_TRIES: Final = 64
"""Most colons in a line that are looked at; what follows so many is nobody's speech, and taken for a text that is shown."""
_FEW: Final = 4
"""Most announcements in a line, beside that which ends it."""
_CHINESE_REACH: Final = 40
_CHINESE_CUES: Final = re.compile(
    "[译总改润校概缩扩续修纠解分点评什语病错看查读编检这以下那说写问答回提表告发如返显规要粘复转收抄引摘歌唱诗词口]"
)
_NO_SPEECH: Final = re.compile(r"\d:\d|[a-z]://")
"""Around a colon: a time of day, an address."""


def _clause_before(line: str, end: int) -> str:
    """What is said in the sentence that ends with a colon."""
    before = line[max(0, end - _REACH) : end]
    begin = 0
    for gap in _BREAK.finditer(before):
        begin = gap.end()
    return before[begin:]


def heads_material(label: str) -> bool:
    """Whether a label before a colon heads a text that is shown."""
    return _HEADING.fullmatch(label.strip(" \t*_[]()【】#>-")) is not None
