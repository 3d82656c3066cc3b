"""Chinese text for patterns: whether there is any, and its traditional characters made simple, each in its place."""

from __future__ import annotations

import re
from typing import Final

_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_PAIRS: Final = """
後后 從从 現现 開开 這这 記记 請请 別别 給给 說说 話话 時时 間间 對对 還还 無无 論论 復复 覆复 簡简
單单 結结 釋释 譯译 總总 須须 務务 書书 寫写 確确 認认 許许 準准 絕绝 遠远 數数 據据 點点 幫帮 們们
個个 為为 與与 應应 該该 歡欢 習习 慣惯 問问 題题 歲岁 學学 業业 醫医 職职 員员 國国 語语 讀读 愛爱
媽妈 爺爷 養养 貓猫 鳥鸟 魚鱼 過过 長长 灣湾 東东 廣广 蘇苏 陝陕 來来 號号 兩两 週周 電电 郵邮 實实
師师 門门 親亲 聽听 講讲 當当 會会 麼么 誰谁 嗎吗 儘尽 盡尽 統统 調调 稱称 發发 標标 詳详 細细 飯饭
麵面 雞鸡 蝦虾 鮮鲜 經经 濟济 車车 樂乐 畫画 處处 邊边 進进 運运 動动 連连 買买 賣卖 錢钱 銀银 飛飞
機机 場场 區区 縣县 鎮镇 鄉乡 龍龙 劉刘 張张 陳陈 楊杨 趙赵 黃黄 吳吴 孫孙 馬马 羅罗 鄭郑 謝谢 鄧邓
馮冯 蔣蒋 葉叶 閻阎 餘余 盧卢 鍾钟 譚谭 陸陆 範范 蕭萧 賈贾 韋韦 鄒邹 齊齐 龐庞 顧顾 賴赖
"""
_SIMPLE: Final = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_TRADITIONAL: Final = frozenset(map(chr, _SIMPLE))


def has_chinese(text: str) -> bool:
    return not text.isascii() and _HAN.search(text) is not None


def simple(text: str) -> str:
    """`text` with the traditional characters that our patterns use made simple, each in its place."""
    return text if text.isascii() or _TRADITIONAL.isdisjoint(text) else text.translate(_SIMPLE)
