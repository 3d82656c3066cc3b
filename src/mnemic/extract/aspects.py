# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Name the aspects of an answer that a text speaks of, in English and Chinese, and which way each of them goes.

"Keep it to two lines" and "drop the word limit" share no word, and are about one thing. So a withdrawal finds what it
withdraws: by aspect and side, such as `length` that is `short` or `long`, where words in common do not tell.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.chinese import simple

_LEXICON: Final = (
    ("length", "short", r"short(?:er|en)?|brief(?:ly)?|brevity|concise(?:ly)?|succinct|terse|tl;?dr|one[- ]liners?|(?:two|one|three|\d+) (?:words|lines?|sentences?|paragraphs?)|(?:under|at most|max(?:imum)?) \d+|(?:word|length) (?:limit|cap|count)|(?:the )?gist|get to the point", "精简|简短|短|简洁|[一两三几半]屏|篇幅|[一两三几]句话?|字以内|字数|省流|少说|重点|结论"),
    ("length", "long", r"long(?:er)?|(?:normal|usual|regular|full|ordinary|original) length|length(?:y|ier)|detail(?:s|ed)?|in depth|essays?|elaborate|ramble|walls? of text|verbose|wordy|full answers", "(?:正常|平常|原来的?)(?:长度|篇幅)|长一?点|长些|长篇|长的|写长|详细|展开|啰嗦"),
    ("language", "english", "english", "英文|英语|洋文"),
    ("language", "chinese", "chinese|mandarin", "中文|普通话|国语|汉语"),
    ("language", "cantonese", "cantonese", "粤语|广东话|广州话"),
    ("language", "classical", "classical chinese", "文言"),
    ("language", "plain", "everyday chinese", "白话|书面语"),
    ("language", "taiwanese", "taiwanese", "台语|闽南话"),
    *(("language", name, name, zh) for name, zh in (("french", "法语|法文"), ("spanish", "西班牙语|西语"), ("german", "德语|德文"), ("italian", "意大利语"), ("portuguese", "葡萄牙语"), ("japanese", "日语|日文"), ("korean", "韩语|韩文"), ("russian", "俄语|俄文"), ("dutch", "荷兰语"), ("arabic", "阿拉伯语"), ("polish", "波兰语"), ("turkish", "土耳其语"))),
    ("script", "traditional", r"traditional (?:characters|script)", "繁体"),
    ("script", "simplified", r"simplified (?:characters|script)", "简体"),
    ("translation", "", r"translat(?:e|es|ing|ions?)", "翻译|译文|译成|英文版"),
    ("emoji", "", "emojis?|emoticons?|smileys?|smiley faces", "表情|颜文字|emoji"),
    ("lists", "", r"bullets?|bullet[- ]?points?|lists?|listing|numbered", "列表|分点|列点|分条|逐条|一条一条"),
    ("tables", "", "tables?", "表格"),
    ("headings", "", "headings?|headers?", "标题"),
    ("markdown", "", "markdown|bold|asterisks|formatting", "加粗|markdown|排版"),
    ("units", "metric", r"metric|kilomet(?:re|er)s?|km|kilos?|kilograms?|kg|grams?|celsius|centimet(?:re|er)s?|met(?:re|er)s|lit(?:re|er)s?", "公里|公斤|摄氏|公制|平方米|厘米"),
    ("units", "imperial", "imperial|miles?|feet|inches|fahrenheit|pounds|ounces|stones?|cups|gallons", "英里|华氏|英制|英尺|(?<!公)斤"),
    ("units", "kelvin", "kelvin", "开尔文"),
    *(("money", name, word, zh) for name, word, zh in (("euro", "euros?", "欧元"), ("dollar", "dollars?|usd", "美元|美金"), ("yuan", "yuan|rmb|renminbi", "人民币"), ("pound", "sterling|gbp", "英镑"), ("hkd", "hong kong dollars", "港币|港纸"), ("twd", "taiwan dollars", "台币"), ("yen", "yen", "日元"))),
    ("calendar", "lunar", r"lunar", "农历|阴历"),
    ("calendar", "solar", r"gregorian", "公历|阳历"),
    ("calendar", "republic", r"minguo", "民国"),
    ("clock", "24", "24[- ]hour|military time", "24小时|二十四小时"),
    ("clock", "12", "12[- ]hour|am (?:and|or) pm|am/pm|twelve[- ]hour", "12小时|十二小时"),
    ("register", "formal", "formal(?:ly|ity|ities)?|polite(?:ly|ness)?|honorifics?", "敬语|正式|客气|客套|尊称|您"),
    ("register", "casual", "casual(?:ly)?|informal(?:ly)?|slang|colloquial(?:ly)?|chatty", "随意|口语|俚语|网络用语"),
    ("joking", "", "jok(?:e|es|ing)|funny|humou?r|puns?|teas(?:e|ing)|sarcas(?:m|tic)", "玩笑|笑话|幽默|吐槽|调侃"),
    ("praise", "", "prais(?:e|ing)|compliment(?:s|ing)?|flatter(?:y|ing)?|congratulat\\w+", "夸|表扬|赞美|称赞|拍马屁"),
    ("apologies", "", r"apolog\w+|sorry", "道歉|抱歉|对不起"),
    ("encouragement", "", r"pep talks?|encourag\w+|cheer\w*|motivat\w+", "鼓励|鸡汤|加油|励志"),
    ("warnings", "", r"warn(?:ings?)?|disclaimers?|caveats?", "免责|警告|风险提示"),
    ("sources", "", r"sources?|cit(?:e|es|ing|ations?)|references?|footnotes?", "来源|出处|引用|参考|文献"),
    ("links", "", "links?|urls?", "链接|网址"),
    ("code comments", "", r"(?:code )?comments?", "注释"),
    ("explanation", "", r"expla(?:in\w*|nations?)|walk me through", "解释|讲解|说明"),
    ("examples", "", "examples?|analog(?:y|ies)|metaphors?", "例子|举例|比喻|类比"),
    ("steps", "", "steps?|step[- ]by[- ]step", "步骤|一步"),
    ("questions", "", r"follow[- ]?up\w*|questions? back|ask me", "反问|追问|问我"),
    ("greetings", "", r"greet\w*|pleasantries|small talk|chit-?chat|sign[- ]offs?", "寒暄|问候|开场白|结束语"),
    ("spoilers", "", "spoil\\w*", "剧透"),
    ("case", "upper", r"capitals?|caps|upper ?case|capitali[sz]e\w*", "大写"),
    ("case", "lower", r"lower[- ]?case", "小写"),
    ("spelling", "british", r"british|uk spelling", "英式"),
    ("spelling", "american", r"american|us spelling", "美式"),
    ("spelling", "canadian", "canadian", "加拿大式"),
    ("correcting", "", r"correct(?:s|ed|ing|ions?)?|fix my", "纠正|改错|挑错|指正"),
    ("naming", "", r"call(?:ing)? me(?! (?:back|when(?:ever)?|if|later|after|before)\b)|address(?:ing)? me|my (?:nick)?name", "叫(?!我?(?:一声|一下|起床|醒))|称呼"),
    ("wording", "simple", r"simpl[ey]\w*|eas(?:y|ier) words|plain (?:words|language)|layman\S*", "简单|通俗|大白话|好懂"),
    ("wording", "technical", r"difficult words|hard words|technical\w*|jargon|big words|fancy words|terminology", "术语|专业|行话|黑话"),
    ("contractions", "", "contractions?", "缩写"),
    ("exclamations", "", r"exclamation\w*", "感叹号|惊叹号"),
    ("food", "light", "low[- ]salt|less salt|low[- ]calorie|low[- ]carb", "清淡|淡一?点|少盐|低卡|低碳|那么淡"),
    ("food", "vegetarian", "vegetarian|vegan|meatless|meat-free", "吃素|素食|素菜|全素|食素"),
    ("food", "meat", "meat|beef|pork|chicken", "肉|荤"),
    ("work", "", r"(?:talk about |mention )?work", "工作|上班"),
    ("date", "", "dates?", "日期|日子"),
    ("swearing", "", r"swear\w*|curs(?:e|ing)|profanity|bad language", "脏话|粗口|脏字|骂人"),
    ("confidence", "", r"confidence|how (?:sure|certain)", "把握|确信|置信"),
)  # fmt: skip
_GROUPS: Final = {f"a{n}": f"{aspect}:{side}" for n, (aspect, side, _, _) in enumerate(_LEXICON)}
_ENGLISH: Final = re.compile(
    r"\b(?:" + "|".join(f"(?P<a{n}>{form})" for n, (_, _, form, _) in enumerate(_LEXICON)) + r")\b"
)
_CHINESE: Final = re.compile("|".join(f"(?P<a{n}>{form})" for n, (_, _, _, form) in enumerate(_LEXICON)))
_DENIES: Final = re.compile(
    r"\b(?:no|never|not|without|avoid|skip|drop|leave out|leave off|omit|stop|spare|lose|cut|less|fewer|free of|out of it|dont|cannot)\b|n't\b"
    r"|不要|别|不用|不必|不准|不许|禁止|不能|不需要|避免|省略|去掉|少用|少说|免了|讨厌|受不了|(?<!麻)(?<!劳)烦(?!请)|不喜欢|不爱|过敏"
)


def aspects(text: str) -> frozenset[str]:
    """Name what aspects of an answer a text speaks of, each with its side: "length:short", "emoji:"."""
    low = simple(text).lower()
    groups = {_GROUPS[str(match.lastgroup)] for match in _ENGLISH.finditer(low)}
    if not low.isascii():
        groups |= {_GROUPS[str(match.lastgroup)] for match in _CHINESE.finditer(low)}
    return frozenset(groups)


def aspect_spans(text: str) -> list[tuple[int, int]]:
    """Where a text names aspects of an answer, in order of place."""
    low = simple(text).lower()
    if len(low) != len(text):
        return []
    matches = [*_ENGLISH.finditer(low), *([] if low.isascii() else _CHINESE.finditer(low))]
    return sorted(match.span() for match in matches)


def without_aspects(text: str) -> str:
    """What a text says beside aspects of an answer, in lower case."""
    return _CHINESE.sub(" ", _ENGLISH.sub(" ", simple(text).lower()))


def denies(text: str) -> bool:
    """Whether an instruction is against what it names: "no emojis", 别用表情."""
    return _DENIES.search(simple(text).lower()) is not None
