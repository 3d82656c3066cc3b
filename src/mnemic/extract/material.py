# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Find the words with which people hand over a text that is not theirs: to be worked on, or as what another said."""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.chinese import NAME

_TEXTS: Final = (
    r"(?:texts?|e-?mails?|mails?|letters?|messages?|dms?|sms|articles?|pages?|posts?|documents?|docs?|transcripts?|logs?|outputs?|results?|snippets?|reviews?"
    r"|tweets?|conversations?|chats?|threads?|poems?|stor(?:y|ies)|essays?|notes?|memos?|quotes?|quotations?|excerpts?|passages?|paragraphs?|sentences?|drafts?"
    r"|readme|prompts?|comments?|replies|reply|answers?|tickets?|issues?|code|lyrics|scripts?|speech|statements?|abstracts?|clippings?|contents?|source|words|manual|instructions)"
)
_TEXT: Final = r"(?:text|e-?mail|mail|letter|message|dm|article|page|post|document|docs|transcript|logs?|output|result|snippet|review|tweet|conversation|chat|thread|poem|story|essay|note|memo|quote|excerpt|passage|paragraph|sentence|draft|readme|prompt|comment|ticket|lyrics|script|speech|statement|abstract|clipping|manual)"
"""One text, where the plural would be a subject of one's own: "Error messages: always in English"."""
_INTRODUCES: Final = re.compile(
    rf"(?:\b(?:here(?:['’]s| is| are| comes)|below (?:is|are)|this is|these are|following)\b(?! (?:how|what i|my (?:rule|request|preference|instruction|wish)))[^:：\n]{{0,40}}?\b{_TEXTS}\b"
    r"|(?:以下|下面|这)(?:是|为)?[^:：\n]{0,20}?(?:文章|文本|文字|邮件|网页|消息|文档|日志|对话|内容|原文|聊天记录|信|评论|帖子|结果|输出|段落|句子))[^:：\n]{0,30}[:：]"
    r"|(?<!when you )(?<!whenever you )(?<!if you )\b(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|classify)\b[^:：\n]{0,40}[:：]"
    r"|(?<!when you )(?<!whenever you )(?<!if you )\b(?:fix|correct|check|review|edit|improve|polish|shorten|simplify|explain|analy[sz]e|parse|read|convert|format|spell-?check|grammar-?check|critique|evaluate|rate|grade"
    r"|expand|complete|continue|interpret|describe|comment on|(?:reply|respond|answer) to|look at|(?:what do you )?think (?:of|about)|mistakes? in|errors? in|wrong with|meaning of|tone of|summary of|translation of|feedback on|opinion on)\b"
    rf"[^:：\n]{{0,40}}?\b(?:this|these|following|that|below|(?:the|my|his|her|their|a|an)(?: \w+)? {_TEXTS})\b[^:：\n]{{0,40}}[:：]"
    r"|\b(?:is|does|are) (?:this|the following|these)\b[^:：?\n]{0,30}\b(?:sentence|grammatical\w*|grammar|phrase|text|e-?mail|message|wording|paragraph|translation)\b[^:：?\n]{0,40}[:：](?=[ \t]*\S)"
    r"|(?:翻译|译成|总结|改写|润色|校对|概括|缩写|扩写|续写|修改|纠正|解释|分析|点评|评价|什么意思|语法|病句|错别字|(?:改|看|查|读|译|编辑|检查)(?:一下|一改|一看|下)?(?:这|以下|下面|那))[^:：\n]{0,15}[:：]",
    re.IGNORECASE,
)
"""How people hand over a text to be worked on: what follows is that text."""

_VERBS: Final = (
    r"(?:said|says|wrote|writes|reads|replied|replies|answered|answers|posted|posts|states?|stated|quoting|goes|contains?|returned|returns|prints?|printed|showed|shows"
    r"|told|tells|asked|asks|sent|forwarded|pasted|mentioned|claims?|claimed|suggests?|suggested|recommends?|instructs?|instructed|insists?|demanded|texted|messaged|e-?mailed|tweeted|commented"
    r"|schrieb|schreibt|sagte|sagt|meinte|escribió|escribe|dijo|dice|écrit|dit|escreveu|disse|diz|scritto|scrive|detto|schreef|schrijft|zei|zegt|this from|as follows)"
)
_PEOPLE_AND_PAPERS: Final = (
    rf"(?:他们?|她们?|它|[Tt][Aa]|对方|有人|别人|人家|老板|上司|领导|同事|客户|老师|医生|朋友|妈妈?|爸爸?|老婆|老公|经理|房东|邻居|{NAME}|小[\u4e00-\u9fff]|老[\u4e00-\u9fff]"
    r"|(?:邮件|信|网页|网站|页面|文章|文档|文件|说明书?|公告|通知|日志|短信|微信|消息|书|牌子|标语|手册|帖子|评论|合同|README)(?:里面?|上面?|中)?)"
)
_REPORTS: Final = re.compile(
    rf"(?:\b{_VERBS}(?:[ \t]+[\w'’<>@.,+-]{{1,40}}){{0,4}}"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )\bsay(?:[ \t]+(?:that|this|it))?"
    r"|(?:说|写|问|答|回复|回答|提到|表示|告诉我|发来|发给我|如下|返回|显示|规定|要求)(?:了|过|道|的|着|的是|以下内容|如下|这个|这些|这段|这条)?)[ \t\xa0]*+[:：]?[ \t]*+(?P<end>[:：])[ \t*_]*+$",
    re.IGNORECASE,
)
"""The end of a line below which somebody else's words stand."""
_REPORTS_WITHIN: Final = re.compile(
    rf"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bi've )(?<!\bi have )(?<!\bi just )\b(?:{_VERBS}|say)(?:[ \t]+(?:to|me|us|you|him|her|them|this|that|it|just|now|back|yesterday|today|there|here|in|by|on|the|\w{{1,20}})){{0,4}}?[ \t\xa0]*+[:：](?=[ \t*_]*[^\s*_/\d])"
    rf"|{_PEOPLE_AND_PAPERS}[^:：，,。\n]{{0,8}}?(?:说|写|问|答|回复|回答|提到|表示|告诉我|发来|发给我|显示|规定|要求)(?:了|过|道|的|着|的是|这个|这些|这段|这条)?[ \t]*+[:：](?=[ \t]*\S)"
    r"|(?:粘贴|复制|转来|收到|抄来|引自|摘自)的?[^:：\n]{0,8}[:：](?=[ \t]*\S)",
    re.IGNORECASE,
)
"""A colon within a line behind which somebody else's words stand."""
_STANDS_WRITTEN: Final = re.compile(
    r"(?:邮件|信|网页|网站|页面|文章|文档|文件|说明书?|公告|通知|日志|短信|微信|消息|书|牌子|标语|手册|帖子|评论|合同|README|[里上中])(?:里面?|上面?|中)?(?:都|还|就|也)?(?:写着|写道|写的是|说的是|规定了?|提到)"
)
"""Chinese for "it says there", which needs no colon."""
_MYSELF: Final = re.compile(
    r"\b(?:i|i've|i'd|i'll|i’ve|we)(?: \w+){0,2} (?:said|say|wrote|write|asked|replied|posted|sent|told|tell|mentioned|suggested|suggest|recommend)\b[^\n]{0,30}$"
    r"|\b(?:my|our)(?: \w+){0,2} (?:rules?|requests?|instructions?|preferences?|wish(?:es)?|orders?|requirements?|defaults?|polic(?:y|ies)|conventions?|style|guidelines?|settings?)\b[^\n]{0,30}$"
    r"|我(?:们)?(?:再|想|要|就|先|之前|已经|刚才|的要求|的规则)*(?:说|写|问|如下|要求)(?:了|过|的是)?[:：]$",
    re.IGNORECASE,
)
"""Reports of one's own words, which stay one's own."""
_HEAD: Final = 200
"""First characters of a line that are looked at for what it hands over."""
_TAIL: Final = 80
"""Last characters of a line that are looked at for who reports what follows."""

_HEADING: Final = re.compile(
    rf"(?:(?!(?:that|it|what|here|there|let|today|tomorrow|how|who)['’]s\b)[\w'’ -]{{0,30}}\w['’]s? (?:\w+ )?{_TEXTS}"
    rf"|(?:the|this|that|a|an|his|her|their)(?: [\w-]+){{0,2}} {_TEXT}"
    rf"|(?:pasted|copied|quoted|attached|forwarded|original|received|incoming|following|above|below)(?: [\w-]+)? {_TEXTS}"
    rf"|(?:previous|raw|full|voice|system|error|customer|client|user|release|meeting|lecture|source|input|sample|example|test)(?: [\w-]+)? {_TEXT}"
    rf"|{_TEXTS}(?: [\w-]+)? (?:from|by|below|above|begins|starts|follows)(?: [\w'’.@-]+){{0,4}}"
    r"|(?:pasted|copied|quoted|attached|forwarded|quoting|received)(?: (?:from|by|below|text|here|in))?(?: [\w'’.@-]+){0,3}"
    r"|text|document|article|transcript|letter|message|excerpt|passage|quote|paste|snippet|log|readme|e-?mail body|paragraph|sentence"
    r"|[^:：\n]{0,12}(?:粘贴|复制|转发|收到|附上|原始)的?[^:：\n]{0,6}|[^:：\n]{1,8}的(?:邮件|信|消息|留言|短信|原话|原文|文章|帖子|评论|聊天记录)|文本|文章|原文|文档|聊天记录|句子|段落)",
    re.IGNORECASE,
)
"""Labels of texts that are shown: "Eve's message", "Pasted text", "Note from Bo"."""


def introduced(line: str) -> int | None:
    """Where in a line a text begins that is handed over to be worked on; None if none is."""
    introduces = _INTRODUCES.search(line, 0, _HEAD)
    return None if introduces is None else introduces.end()


def reports(line: str) -> bool:
    """Whether a line ends with words that say that what follows it is another's."""
    tail = line.rstrip()[-_TAIL:]
    return tail[-1:] in (":", "：", "*", "_") and _REPORTS.search(tail) is not None and _MYSELF.search(tail) is None


def reported(line: str) -> int | None:
    """Where in a line another's words begin of which the line itself says so; None if nowhere."""
    written = _STANDS_WRITTEN.search(line, 0, _HEAD)
    if written is not None:
        return written.end()
    for colon in _REPORTS_WITHIN.finditer(line, 0, _HEAD):
        if _MYSELF.search(line, max(0, colon.end() - _TAIL), colon.end()) is None:
            return colon.end()
    return None


def heads_material(label: str) -> bool:
    """Whether a label before a colon heads a text that is shown."""
    return _HEADING.fullmatch(label.strip(" \t*_[]()【】#>-")) is not None
