# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Chinese text for patterns: whether there is any, its traditional characters made simple, and how names look in it."""

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
體体 視视 頻频 質质 溫温 換换 聲声 內内 關关 變变 讓让 氣气 見见 覺觉 觀观 規规 則则 頭头 顏颜 顯显 類类 圖图 團团 報报
備备 傳传 傷伤 價价 億亿 優优 儀仪 兒儿 減减 凍冻 創创 劃划 劇剧 劑剂 勝胜 勞劳 勵励 協协 卻却 厭厌 參参 雙双 衝冲 啟启
喚唤 喪丧 嘗尝 嚇吓 嚴严 囉啰 圍围 園园 圓圆 執执 壓压 壞坏 夠够 夢梦 奪夺 妳你 婦妇 寶宝 審审 寬宽 導导 將将 專专 尋寻
嘆叹 歎叹 屬属 層层 幣币 幹干 幾几 廠厂 廢废 彈弹 強强 彙汇 徑径 徵征 恆恒 惡恶 愜惬 態态 慮虑 憂忧 憑凭 懶懒 懷怀 懸悬
戰战 戲戏 戶户 擇择 擊击 擔担 擬拟 擾扰 攜携 敘叙 敵敌 斷断 於于 暫暂 曆历 歷历 條条 極极 構构 樣样 檔档 檢检 權权 欄栏
歐欧 歸归 殘残 殺杀 毀毁 氫氢 決决 沒没 淚泪 淨净 測测 湊凑 滅灭 滿满 漢汉 潔洁 濃浓 灑洒 災灾 煩烦 熱热 燈灯 營营 爛烂
爭争 牆墙 獎奖 獨独 獲获 環环 產产 畢毕 異异 療疗 癢痒 盤盘 眾众 碼码 禮礼 種种 積积 穩稳 窮穷 筆笔 節节 築筑 糾纠 級级
紀纪 約约 紅红 純纯 紙纸 組组 絡络 維维 綱纲 網网 綜综 線线 緊紧 練练 縮缩 績绩 織织 繼继 續续 罵骂 義义 聖圣 聯联 聰聪
肅肃 腦脑 膚肤 臉脸 臺台 舊旧 舉举 艱艰 蘭兰 虛虚 蟲虫 術术 衛卫 裝装 裡里 裏里 複复 襯衬 討讨 訊讯 訂订 訓训 託托 設设
訴诉 診诊 註注 評评 詞词 試试 詩诗 誇夸 誌志 誠诚 誤误 課课 談谈 諒谅 謊谎 證证 識识 議议 護护 豐丰 財财 責责 貨货 貼贴
費费 資资 賞赏 賺赚 贈赠 趕赶 跡迹 踐践 輕轻 較较 載载 輯辑 輸输 轉转 辦办 農农 遊游 達达 違违 適适 選选 遲迟 邏逻 針针
鋪铺 錄录 錯错 鍵键 鐘钟 鐵铁 閉闭 閒闲 閱阅 閃闪 隊队 階阶 際际 隨随 險险 隱隐 雖虽 難难 離离 雜杂 響响 頁页 順顺 預预
領领 頗颇 願愿 飲饮 餓饿 館馆 饋馈 駕驾 驗验 驚惊 髮发 鬧闹 麗丽 黨党
唔不 嘅的 佢他 啲些 咗了 冇没 喺在 嗰那 睇看 俾给 畀给 哋们 嚟来 乜什 咁这 喇了 㗎的 係是
"""
_SIMPLE: Final = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_TRADITIONAL: Final = frozenset(map(chr, _SIMPLE))

SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦傅方白邹孟熊秦邱江尹薛"
    "闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷"
    "盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣"
)
COMPOUND: Final = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|司徒|端木|夏侯|南宫|宇文|长孙"
_GIVEN: Final = "[\u4e00-\u9fff]"
NAME: Final = rf"(?:(?:{COMPOUND})|[{SURNAMES}]){_GIVEN}{{1,2}}"
"""A surname and one or two characters; what it stands beside must tell that it is one."""

_KNOWN_PLACES_WORDS: Final = """
北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 成都 武汉 西安 长沙 郑州 青岛 大连 厦门 宁波 无锡 福州 济南 合肥 昆明 哈尔滨 沈阳 长春 石家庄 太原 南昌 南宁 贵阳 海口 兰州 西宁 银川 乌鲁木齐 拉萨
呼和浩特 温州 佛山 东莞 珠海 中山 泉州 扬州 绍兴 嘉兴 金华 桂林 三亚 丽江 大理 洛阳 香港 澳门 台北 高雄 台湾 四川 浙江 江苏 广东 广西 福建 湖南 湖北 河南 河北 山东 山西 陕西 甘肃 云南 贵州 海南
江西 安徽 辽宁 吉林 黑龙江 新疆 西藏 青海 宁夏 内蒙古 中国 美国 英国 法国 德国 日本 韩国 加拿大 澳大利亚 新西兰 新加坡 泰国 越南 印度 俄罗斯 意大利 西班牙 葡萄牙 荷兰 瑞士 瑞典 挪威 芬兰 丹麦 巴西
墨西哥 埃及 土耳其 希腊 东京 大阪 京都 首尔 纽约 洛杉矶 旧金山 西雅图 波士顿 芝加哥 伦敦 巴黎 柏林 慕尼黑 罗马 米兰 马德里 巴塞罗那 莫斯科 悉尼 墨尔本 多伦多 温哥华 曼谷 吉隆坡 西湖 滨江 浦东 凤凰
杨浦 徐汇 静安 松江 闵行 虹口 黄浦 长宁 海淀 丰台 昌平 余杭 萧山 拱墅 福田 罗湖 龙岗 天河 越秀 海珠 番禺 江宁 武侯 渝北 洪山
"""
KNOWN_PLACES: Final = _KNOWN_PLACES_WORDS.split()
PLACE_ENDS: Final = "自治区|自治州|省|市|县|区|镇|乡|村|州|岛"
PLACE: Final = (
    rf"(?:(?:{'|'.join(sorted(KNOWN_PLACES, key=len, reverse=True))})(?:[省市])?(?:[\u4e00-\u9fff]{{1,4}}?(?:市|县|区|镇|州))?"
    rf"|[\u4e00-\u9fff]{{2,5}}?(?:{PLACE_ENDS}))"
)
ORGANISATION_ENDS: Final = "有限公司|股份公司|公司|集团|银行|医院|大学|学院|中学|小学|幼儿园|研究所|研究院|实验室|事务所|出版社|报社|电视台|博物馆|博物院|图书馆|美术馆|基金会|协会|委员会|法院|工作室|酒店|餐厅|咖啡馆|书店|剧院|俱乐部|乐队|科技|律所"


_TRIP: Final = re.compile("^[一两几]?(?:[趟次]|回(?![族龙民]))")
_BEHIND_PLACE: Final = re.compile(
    "(?<=..)(?:(?<!未)来(?!宾)|去|回(?![族龙民])|上[班学]|工作(?!室)|生活(?![馆区广])|居住|定居|安家|落脚|扎根|打工|出差|出趟|旅[游行]|度假|(?<!古)玩|(?<!纪)念|读|做|开[了家着个药]|[买拿取接送见找逛]|办(?!事处|公)|看病|检查|复查|发展$|[那这]边|一趟|住|待了|[呆待]).*$"
)
"""What goes on behind the name of a place: how somebody came there, or what they do there."""
_SHORTEST_PLACE: Final = 2
_NO_PLACE: Final = re.compile(
    "^(?!多伦多|多哈|多特蒙德|和田|那不勒斯|那曲|不丹|不来梅|别府|两江|几内亚|好莱坞)[跟和同与给这那哪一几两我你他她它很好不别各多解某每把被]|[早晚]上|[上中下]午|[今明昨]天|现在|周末|半夜|消息|微信|电话|邮件|信息|[年月]底|[0-9点号]"
)


def bare_place(words: str) -> str:
    """The place that begins some words which follow a verb of going or staying; "" where none does.

    Chinese parts no words, so that 趟泰国 and 天津来 are cut to 泰国 and 天津.
    """
    place = place_alone(_TRIP.sub("", words))
    return "" if len(place) < _SHORTEST_PLACE or _NO_PLACE.search(place) else place


def place_alone(words: str) -> str:
    """A place without what goes on behind its name: 佛山 of 佛山来上班."""
    return _BEHIND_PLACE.sub("", words)


def has_chinese(text: str) -> bool:
    """Whether any character of a text is Chinese."""
    return not text.isascii() and _HAN.search(text) is not None


def simple(text: str) -> str:
    """`text` with traditional characters made simple, and Cantonese particles made Mandarin, each in its place."""
    return text if text.isascii() or _TRADITIONAL.isdisjoint(text) else text.translate(_SIMPLE)
