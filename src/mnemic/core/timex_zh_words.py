"""The characters that Chinese names times with, their numbers, and the patterns made of them."""

from __future__ import annotations

from typing import Final

_SIMPLE: Final = str.maketrans(
    "週號個後兩這禮點時間從來內過幾鐘開數當歲紀終", "周号个后两这礼点时间从来内过几钟开数当岁纪终"
)
_TRADITIONAL: Final = frozenset("週號個後兩這禮點時間從來內過幾鐘開數當歲紀終")
_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS: Final = {"十": 10, "百": 100, "廿": 20, "卅": 30}
NUMERAL: Final = "〇零一二三四五六七八九十廿卅百两"
NUMBER: Final = rf"(?:\d{{1,3}}|[{NUMERAL}]{{1,6}})"
UNIT_NAMES: Final = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "周末": "weekend", "月": "month",
    "季度": "quarter", "年": "year", "小时": "hour", "钟头": "hour", "分钟": "minute",
}  # fmt: skip
_SHIFTS: Final = {"大前": -3, "上上": -2, "前": -2, "上": -1, "昨": -1, "去": -1, "今": 0, "本": 0, "这": 0, "当": 0}
_AHEAD: Final = {"来": 1, "明": 1, "下": 1, "下下": 2, "后": 2, "大后": 3}
SHIFTS: Final = _SHIFTS | _AHEAD
PART_NAMES: Final = {
    "凌晨": "dawn", "清晨": "morning", "早晨": "morning", "早上": "morning", "上午": "morning", "中午": "noon",
    "下午": "afternoon", "傍晚": "evening", "晚上": "night", "晚间": "night", "夜里": "night", "夜晚": "night",
    "深夜": "night", "半夜": "night",
    "早": "morning", "晨": "morning", "晚": "night", "夜": "night",
}  # fmt: skip
PART: Final = "(?P<part>凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|晚间|夜里|夜晚|深夜|半夜)"
STRETCH_NAMES: Final = {
    "初": "start", "年初": "start", "底": "end", "年底": "end", "末": "end", "年末": "end", "中": "middle",
    "年中": "middle", "上旬": "early", "中旬": "mid", "下旬": "late",
}  # fmt: skip
PICK: Final = "(?P<pick>上上|下下|上|下|本|这)一?个?"


def simplified(text: str, characters: set[str]) -> str:
    """`text` with the traditional characters that time expressions use made simple, each in its place."""
    return text if characters.isdisjoint(_TRADITIONAL) else text.translate(_SIMPLE)


def numeral(text: str) -> int:
    """The value of digits or of Chinese numerals below a thousand, such as 廿三 or 二零二三 (digit by digit)."""
    if text.isdecimal():
        return int(text)
    if not any(c in _TENS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    total, pending = 0, 0
    for c in text:
        if c in _DIGITS:
            pending = _DIGITS[c]
        else:
            total += _TENS[c] if c in "廿卅" else (pending or 1) * _TENS[c]
            pending = 0
    return total + pending
