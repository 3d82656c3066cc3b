# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Names in Chinese text, which marks none: surnames where a person stands, known places, and telling endings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.extract.chinese import COMPOUND, KNOWN_PLACES, ORGANISATION_ENDS, PLACE_ENDS, SURNAMES, simple
from mnemic.extract.entity import Entity

if TYPE_CHECKING:
    from collections.abc import Iterator

_HAN: Final = "[\u4e00-\u9fff]"
_FAMILY: Final = rf"(?:{COMPOUND}|[{SURNAMES}])"
_NOT_GIVEN: Final = "的了是在和与也都就很还又不没有说去来到给把被让对从向这那他她我你们吗呢吧啊着过一二三四五六七八九十上下里外中年月日个号时点分后前为于以而或等会能要想看做吃喝跟同先生女士老师经理教授医生"
_GIVEN: Final = f"[^{_NOT_GIVEN}\\W\\da-zA-Z_]"
_BEFORE: Final = r"(?:叫做?|名叫|名字是|姓名|我是|他是|她是|和|跟|与|同|给|找|问|对|向|请|让|陪|见到?|遇到|认识|约了?|嫁给|娶了|告诉|联系|感谢|谢谢|[，,。！？、：:“\"（( ]|同事|朋友|同学|老师|老板|经理|医生|教授|主任|总裁|导演|歌手|作家|作者|演员|先生|女士|姐姐|妹妹|哥哥|弟弟|儿子|女儿|丈夫|妻子|老公|老婆|女友|男友|女朋友|男朋友|邻居|室友|闺蜜|^)"
_AFTER: Final = r"(?=下|约|考|问|得|上|先生|女士|小姐|老师|教授|医生|经理|同学|博士|主任|说|问|去|来|在|是|的|和|跟|与|今|昨|明|也|都|很|喜欢|打|给|写|送|告诉|住|从|因为|，|,|。|！|!|？|\?|、|；|”|\"|）|\)|：|:| |$|一起|结婚|工作|想|要|会|有|把|被|刚|正|已|最近|总|不|又|还|就|生日|吗|吧|呢|啊)"
_PERSON: Final = re.compile(rf"(?:(?<=叫)|(?:{_BEFORE}))(?P<name>{_FAMILY}{_GIVEN}{{1,2}}){_AFTER}")
_FAMILIAR: Final = re.compile(
    rf"(?P<name>[小老阿][{SURNAMES}])(?={_HAN}?(?:说|问|去|来|在|是|的|和|跟|也|都|今|昨|明|给|打|，|。|！|？|、|$|还|又|已|刚|让|叫|帮|请|经理|老师))|(?P<titled>{_FAMILY}(?:老师|先生|女士|小姐|教授|医生|经理|总|主任|阿姨|叔叔|师傅|同学|博士))"
)
_KNOWN: Final = re.compile(
    rf"(?P<name>(?:{'|'.join(sorted(KNOWN_PLACES, key=len, reverse=True))})(?:[省市](?!场|长(?!沙|春|治)|民|政))?)"
)
_CUT: Final = r"在去来到从往是和跟与的了我他她你们住回过给于由被把对，。、于这那一个家位名所座爬登看游逛"
_PLACE: Final = re.compile(
    rf"(?P<name>[^{_CUT}\W\da-zA-Z_]{{1,4}}(?:{PLACE_ENDS}|路|街|大道|广场|公园|机场|火车站|高铁站|湖|山|江|河|寺|古镇|景区|大桥)(?!{_HAN}?(?:长|民|政府|场|委)))"
)
_ORGANISATION: Final = re.compile(
    rf"(?P<name>[^{_CUT}\W_]{{2,10}}?(?:{ORGANISATION_ENDS})(?:[^{_CUT}\W_]{{0,6}}?(?:{ORGANISATION_ENDS}))*)"
)
_NO_NAMES: Final = re.compile(
    r"(?:公|本|这|那|各|全|某|一|几|每|哪|大|小|新|老|我|你|他|她|同|中|好|高|现|当|附近|当地|外地|城|郊|社|校|市|山|景|住宅|开车|坐车|走|旅|出|入|登|爬|上|下|公共|国家|地|什么|这个|那个)?"
    rf"(?:{PLACE_ENDS}|路|街|大道|广场|公园|机场|火车站|高铁站|湖|山|江|河|寺|{ORGANISATION_ENDS})"
)
_WORDS_WORDS: Final = """
高兴 高中 高考 高铁 高级 高温 高速 高度 安全 安静 安排 安装 安慰 温暖 温柔 温度 成功 成为 成长 成绩 方便 方法 方式 方向 方面 时间 时候 时光 和平 明天 明白 明年 白天 白色 金色 黄色 马上 马路 马虎
水果 水平 全部 全家 关系 关于 关心 关注 计划 计算 任何 任务 向往 钱包 常常 常见 项目 路上 路线 单位 单身 单独 房子 房间 房租 车站 车票 简单 简直 应该 应用 连续 连忙 经常 经历 牛奶 牛肉 汤圆 米饭
古典 古代 古老 石头 花园 花费 花生 和谐 万一 万里 游戏 游泳 游客 林子 平时 平常 平静 管理 习惯 舒服 舒适 易经 景色 景点 幸福 幸运 乐观 乐器 阳光 阳台 童年 梅花 司机 师傅 师生 顾客 顾虑 严重 严格
武术 包括 包容 毕业 毕竟 麦当 文化 文章 文件 文艺 祝福 祝你 祝愿 解决 解释 谢谢 施工 康复 葛优 能够 江边 江南 雷雨 雪山 叶子 胡同 胡说 胡椒 钟头 钟表 程序 程度 龙井 辛苦 季节 党员 费用 强大 华丽
华南 华北 华东 许多 冷静 左右 左边 沙发 沙滩 荣幸 欧洲 戴上 郎朗 宁静 尚未 尤其 支持 支付 段时 段落 孔子 章节 封面 鲁莽 温习 黎明 蒙古 查看 查询 席位 宗教 周末 周一 周二 周三 周四 周五 周六 周日 周围 周年 党派 穆斯 岳父 岳母 项链 商业 商店 商量
商场 商品 于是 相信 相处 相关 相机 经理 经验 元素 权利 都市 晚上 晚安 别人 别担 别忘 别客 曾经 曾有 那么 那些 喻为 盛开 巴黎 巴西 柏林 柏树
"""
_WORDS: Final = frozenset(_WORDS_WORDS.split())


def names(text: str) -> Iterator[Entity]:
    """People, places and organisations of a Chinese text; they may overlap, the caller chooses."""
    plain = simple(text)
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            group = match.lastgroup or "name"
            start, end = match.span(group)
            if not _is_word(plain[start:end], kind):
                yield Entity(text[start:end], start, end, kind)


_PATTERNS: Final = (
    ("organisation", _ORGANISATION),
    ("place", _KNOWN),
    ("place", _PLACE),
    ("person", _PERSON),
    ("person", _FAMILIAR),
)


def _is_word(name: str, kind: str) -> bool:
    if kind == "person":
        return name[:2] in _WORDS
    return _NO_NAMES.fullmatch(name) is not None
