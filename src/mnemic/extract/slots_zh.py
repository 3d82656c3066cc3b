# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people state simple facts about themselves in Chinese, on simplified characters, and what rules a sentence out."""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.patterns import PatternTable, SlotAct
from mnemic.extract.slots_zh_words import RELATIONS, SECOND_THOUGHT, say

_WORDS: Final = tuple(RELATIONS.items())
_PETS_NAMED: Final = r"(?P<slot>猫咪|猫|狗狗|狗|兔子|仓鼠|鹦鹉|乌龟)"
_NAMED_EACH: Final = (
    r"(?P<value>(?![叫是一两二三都很])[\u4e00-\u9fff]{1,3}?(?:、[\u4e00-\u9fff]{1,3}?)*[和跟][\u4e00-\u9fff]{1,3}?)"
)
_AGO: Final = r"(?:昨天|昨晚|昨夜|前天|今天|今早|上周|上个?月|上个?星期|上个?礼拜|这周|这个?月|最近|前不久|前几天|去年|今年|[一二三四五六七八九十\d]{1,2}月|不幸|突然|已经|刚|还是|终于|也|就)*"
_OUR_HOUSING: Final = r"(?:新)?(?:房子|家(?!人|里人|长|具|乡|店|公司|餐)|公寓|出租屋|小窝)(?!.{0,6}(?:卖|租出|出租|租给|空着|挂牌|退租|拆|以前|当年))"
"""A home that its speaker speaks of as theirs, and has not left, let or sold."""
_NOT_FOUND: Final = r"(?!.*(?:(?<!没)(?<!没有)找到|(?<!没)(?<!没有)找着|(?<!没)(?<!没有)(?<!没再)回来了))"
_KEPT: Final = "(?:猫咪?|狗狗?|兔子|仓鼠|鹦鹉|乌龟|金鱼|英短|美短|布偶|缅因|暹罗|加菲|金毛|柴犬|柯基|泰迪|哈士奇|拉布拉多|边牧|法斗|比熊|博美|萨摩耶|雪纳瑞|吉娃娃|德牧|贵宾)"
_LOOKING: Final = "[大小老]?(?:[白黑花橘黄灰蓝]色?的?)?"
_FOR_GOOD: Final = r"(?![了啦]?[，,、 ]*[^，,。！!]{0,12}(?:暂时|临时|[几一两三]天|[几一两三]个?(?:周|星期|礼拜|月)|一阵|周末|[接带领抱拿要]回|还给我|回来))"
"""The next clause says nothing of a while, or of a return."""
_NO_CALL: Final = r"(?!声|得|个|起来|了|的|什么|不|人|[我你他她它]|唤|着|醒|来(?![福财喜宝运旺顺])|[早春](?:了|啦)?(?:[，,。！!；;~～ …]|$)|医生|大夫|外卖|快递|[\u4e00-\u9fff]{1,4}[看来走去醒修治查瞧送]了)"
"""What follows 叫 is no sound and nobody who is sent for: 叫起来, 叫来朋友, 叫医生看了."""
_CALLED_IT: Final = rf"[，,]?(?:它的?)?(?:名叫|名字叫做?|叫做?){_NO_CALL}"
_CARS: Final = "(?:极氪|腾势|岚图|智己|阿维塔|零跑|奇瑞|荣威|红旗|凯迪拉克|路虎|斯柯达|标致|雪铁龙|Model ?[3SXY])"
_NO_CAR: Final = r"(?<![辆台部开是])(?![\u4e00-\u9fff]{0,3}[辆台部])[\u4e00-\u9fff]{0,4}(?:红旗|标致)(?! ?[A-Za-z0-9])"
"""A word that is more than a car's maker, without a model, where nothing tells of a car: 一面红旗."""
_NO_PHONE: Final = (
    "[一那这]?辆|(?:(?!手机)[^，,。！!]){0,6}(?:(?:SU|YU) ?7|汽车|电视|平板|手环|手表|电脑|笔记本|耳机|音箱)"
)
"""What makers of phones make beside them; what is counted by 辆 has wheels."""
_ONE_CALLED: Final = rf"一?[只条头匹](?!名?叫)[\u4e00-\u9fff]{{1,6}}?{_CALLED_IT}[\u4e00-\u9fffA-Za-z]{{1,6}}?(?:了|啦|呢|吧|哦)?(?:[，,。！!；;~～ …]|$)"
"""One pet, of whatever kind, and what it is called."""
_CALLED_PET: Final = r"(?P<value>(?![我你他她它谁这那都人大])[\u4e00-\u9fff]{2,3}?)"

_ALLERGENS: Final = (
    "(?:花生|坚果|海鲜|贝类|虾|螃蟹|蟹|鱼|芒果|菠萝|凤梨|桃子?|草莓|猕猴桃|奇异果|香蕉|苹果|荔枝|木瓜|番茄|西红柿|牛奶|奶制品|乳制品|鸡蛋|蛋白|蛋|小麦|麸质|面粉|大豆|黄豆|芝麻|腰果|核桃|杏仁"
    "|榛子|开心果|酒精|花粉|柳絮|尘螨|粉尘|灰尘|猫毛|狗毛|羊毛|乳胶|青霉素|头孢|阿莫西林|阿司匹林|布洛芬|磺胺)"
)
_REACTED_TO: Final = r"(?!什么|任何|季节性|食物|药物|皮肤|容易|有点|真的?|严重|普通|一般|[我你您他她它这那])(?:(?!不|没|对|是|过敏)[\u4e00-\u9fffA-Za-z、]){1,10}?"
_REACTION: Final = rf"(?:{_REACTED_TO}(?=过敏)|{_ALLERGENS}(?:[、和]{_ALLERGENS})*)"
"""What somebody reacts to: anything before 过敏, and without this word what people are known to react to."""
_BUT: Final = r"[，,、；; ]+(?:而|其实|原来|实际上|应该|真正)*"
"""Leads over to what is so in place of what is not; 就是 does not, behind which either may be."""
_NOT_BECAUSE: Final = r"(?:并|根本|压根|从来|完全)?不是(?:因为)?对?"
_TELLS_MY_ALLERGY: Final = r"(?:(?:医生|大夫)[^，,。！!我你您他她它]{0,8}(?=我))?<I>(?:的?过敏原?)?(?:应该)?"
_I_REACT_TO: Final = r"(?:其实|原来|真正|一直|会)*(?:让|使|令|害|导致|引起|引发)?我(?:真正|其实|一直|会)*过敏的(?:东西|食物)?(?:其实|根本|真正|原来|应该|并)*"
_FROM_NOW: Final = (
    r"(?:[从打自]?(?:今天|今日|今儿|今|现在|此刻?|这天|这个?月|今年)(?:起|开始|以?后)|从?(?:以后|往后|今后))"
)
_STAYING_ON: Final = r"(?!.*(?:出差|旅游|旅行|玩|探亲|探望|看望|周末|过年|过节|假期|放假|几天|一趟|办事|开会|就走|待[一两三四五六七八九十几\d]|[天周]就|参加|喝喜酒))"
"""Says nothing of a journey, or of a stay that is to end."""

_LIFE: Final = (
    say("name", r"<I>(?:的(?:名字|全名|大名)(?:叫|是)|名字叫|名叫|大名叫?|叫做?)<PERSON><END>", "叫 名"),
    say("name", r"我是(?P<value>(?:[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范石廖贾夏韦傅白邹孟熊秦邱江尹薛]|欧阳|司马|上官|诸葛)[\u4e00-\u9fff]{1,2})<END>", "是"),
    say("name", r"^(?:我)?(?:大名|本名|真名)(?:叫|是)?<PERSON><END>", "名"),
    say("name", r"<I>(?:改名|改了名字?|名字改)[，,]?(?:叫|成|为|现在叫)了?<PERSON><END>", "改", begins=True),
    say("nickname", r"(?:大家|朋友们?|同事们?|家里人|他们|别人)(?:都|平时)*(?:叫|喊|管)我(?:叫)?<PERSON><END>", "叫 喊"),
    say("nickname", r"我的?(?:小名|外号|昵称|网名)(?:就?叫|是)?<PERSON><END>", "小 外 昵 网"),
    say("nickname", r"(?:你|您|大家)?(?:可以|改)叫我(?:作|做)?<PERSON>(?:吧|就行|就好)?<END>", "叫"),
    say("age", r"<WE>(?:今年|现在|刚满|刚|已经)?(?:满)?(?P<value>\d{1,3}|[一二三四五六七八九十两]{1,3})(?:周)?岁(?!的时候|时|那年|之前|以前|之后)", "岁"),
    say("age", r"<I>(?:刚刚?|今年|已经|就)*满了?(?P<value>\d{2}|[二三四五六七八九]十[一二三四五六七八九]?)<END>", "满"),
    say("age", r"我(?:今年|现在)(?P<value>\d{2}|[一二三四五六七八九]?十[一二三四五六七八九]?)<END>", "年 在"),
    say("birthday", r"我?的?生日(?:是|在)<DAY>", "生"),
    say("birthday", r"<I>(?:是|出?生于|出生在)?(?P<value>\d{4}年(?:\d{1,2}月\d{1,2}[日号])?)(?:出生|生的|生人|<END>)", "生 年"),
    say("blood_type", r"我(?:的血型)?是(?P<value>(?:AB|A|B|O|ab|a|b|o)型(?:血|Rh阴性|阴性|阳性)?)", "型"),
    say("city", r"<I>(?:住在|住|居住在|定居在?|常住|家住|家在)(?!的|<OF_OTHERS>)<PLACE>", "住 居 家"),
    say("city", r"<I>住(?:在)?(?!的|<OF_OTHERS>|[^，,。！!？?；; ]{1,6}的时间)<SPOT><PASSED>?<END>", "住"),
    say("city", r"<INTRO>(?:住在|住|家住|家在|常住|定居在?|居住在|生活在|坐标)(?!的)<PLACE><PASSED>?<END>", "住 家 居 生 坐"),
    say("city", r"<INTRO>在<PLACE>(?:工作|生活|上班|定居|居住)<PASSED>?<END>", "工 生 上 居"),
    say("city", r"我在<PLACE>(?:工作|生活|上班|定居|居住|租房|租了|买了?房|安家|落脚|扎根|住(?!院|过))(?!<OF_OTHERS>)", "在"),
    say("city", r"<I>(?:在|于)?(?:[\u4e00-\u9fff\d]{1,6}年)?(?:落户|安家|定居|扎根|落脚)(?:在|到|于)?了?<PLACE>", "落 安 定 扎", begins=True),
    say("city", r"<MY>(?:家|房子|住的地方)(?:现在)?在(?!<OF_OTHERS>)<PLACE>", "家 房 住"),
    say("city", r"<I>(?:.{0,8}?(?:年|月|天|周))?<FROM>?(?:搬到|搬去|搬来|搬回|搬至|移居到?|迁到|搬家到)了?<PLACE>", "搬 移 迁", begins=True),
    say("city", r"<WE><FROM>?(?:搬到|搬去|搬来|搬回|移居到?|搬家到)了?<SPOT><PASSED>?<END>", "搬 移", begins=True),
    say("city", r"<WE><FROM>?(?:搬到|搬去|搬来|搬回|移居到|搬家到)了?<PLACE>(?=(?:以后|之后|后|那天|的时候)|<PASSED>)", "搬 移", begins=True),
    say("city", r"<WE>搬(?:新|了)?家(?:了|啦|咯)*[，,！!。：:～~ ]+(?:我们?)?(?:现在|如今|目前|以后|就)*(?:住在|住到|住|租在)(?!的)<SPOT><PASSED>?<END>", "搬", begins=True),
    say("city", r"<WE>搬(?:新|了)?家(?:了|啦|咯)*[，,！!。：:～~ ]+(?:我们?)?(?:现在|如今|目前|以后|就)*(?:在|是)<PLACE><END>", "搬", begins=True),
    say("city", r"我们?(?:现在)?(?:租|买|住)的(?:那个?)?(?:房子|公寓|家|地方)(?:现在)?在(?!装修|漏|修|出租|挂|卖|翻新|涨|闹|刷)<SPOT><END>", "租 买 住"),
    say("city", rf"我们?(?:现在)?在<SPOT>的{_OUR_HOUSING}", "房 家 公 屋 窝", implied=True),
    say("city", rf"我们?(?:现在)?<KNOWN>的{_OUR_HOUSING}", "房 家 公 屋 窝", implied=True),
    say("city", r"^(?:现在|如今|以后)?(?:我们?的?)?<KNOWN>(?:现在)?就?是我们?的?家了?<END>", "家", begins=True),
    say("city", rf"<WE>(?:重新|又)?(?:住回|搬回|回到)了?<PLACE>(?:来)?(?:住|定居|生活)?了?<END>{_STAYING_ON}", "住 搬 回", begins=True),
    say("city", rf"<WE>又回(?:到)?了?<KNOWN>(?:来)?(?:住|定居|生活)?(?:了|啦)<END>{_STAYING_ON}", "回", begins=True),
    say("city", rf"<WE>(?:重新|又)?回(?:到)?了?(?!老家|家|宿舍|学校|公司|娘家|婆家|父母|爸妈|国)<SPOT>(?:来)?(?:住|定居|生活)了<END>{_STAYING_ON}", "回", begins=True),
    say("city", r"<WE>(?:来到|来|到)了?<PLACE>(?:打工|工作|上班|生活|住|定居|落户)?(?:了)?<SETTLED>(?:了|啦)?(?=[，,。！!；;]|$)", "来 到", begins=True),
    say("city", r"<WE>在<PLACE>(?:已经|都|也|一共)*(?:住|待|呆|生活|打工|工作|上班)(?:了)?<SETTLED>了(?=[，,。！!；;]|$)", "在"),
    say("city", r"<I>(?:真正|便)?(?:是|算是?|成为?|变成)了?(?:一[个名])?新?<KNOWN>(?:人|市民)(?:了(?!解|不起)|啦|咯|喽)", "人 民", begins=True),
    say("city", r"<WE>(?:真正)?(?:成为?|变成)了?(?:一[个名])?新?<KNOWN>(?:人|市民)<END>", "成", begins=True),
    say("city", rf"{_FROM_NOW}[，,]?我们?(?:也|就|便|正式|真正)*(?:是|算是?)(?:一[个名])?新?<PLACE>(?:人|市民)<END>", "人 民", begins=True),
    say("city", r"(?:<I>|^)租在<PLACE>", "租"),
    say("city", r"^[\u4e00-\u9fff]{0,6}在<KNOWN>(?:落脚|安家|定居|扎根)", "落 安 定 扎", begins=True),
    say("employer", r"<MY>(?:公司|单位)(?:名字)?(?:叫|是)<FIRM><END>", "公 单"),
    say("city", r"<I>(?:早就|已经)?(?:不(?:再)?住(?:在)?|搬离了?|搬出了?|离开了?)<PLACE>(?:住)?(?:了)?<END>", "住 搬 离", act=SlotAct.ENDS),
    say("city", r"<I>(?:从来)?没(?:有)?在<PLACE>住过", "没", act=SlotAct.ENDS),
    say("city", r"<I>(?:以前|曾经|原来|过去)住(?:在|过)?<PLACE>", "住", act=SlotAct.ENDS),
    say("city", r"跟<KNOWN>(?:道别|说再见|告别)了", "别 再", act=SlotAct.ENDS),
    say("origin", r"(?<![起始后])(?<![起始后][，,])<I>(?:是|来自)<PLACE>(?:人(?![了啦咯喽])|的|<END>)", "是 来"),
    say("origin", r"(?:我的?|我们?)?(?:老家|家乡|故乡)(?:在|是)<PLACE>", "家 故"),
    say("origin", r"(?:我的?|我们?)老家(?:是|在)?<KNOWN>(?:人|的)?<END>", "家"),
    say("address", r"(?:<MY>(?:家)?(?:新)?(?:的)?(?:地址|住址|收货地址)(?:现在)?(?:是|改成|改为|换成|：|:)了?|(?:包裹|快递|信)(?:请)?(?:寄到|送到|寄))(?P<value>[\u4e00-\u9fff\d\w-]{4,30}?(?:号|室|楼|栋|弄|单元|层)(?:[\d\w-]{1,8}(?:室|号|楼)?)?)", "地 住 寄 送"),
    say("employer", r"<I>(?:在|就职于|供职于|任职于)<COMPANY>(?:(?:工作|上班|任职|做|当|干|打工)(?!<OF_OTHERS>)|<END>)", "在 于"),
    say("employer", r"<I>在<KNOWN_FIRM>(?:(?:工作|上班|任职|做|当|干|打工)(?!<OF_OTHERS>)|<END>)", "在"),
    say("employer", r"<I>换了?(?:个|份)?新?(?:工作|公司|单位)了?[，,](?:我)?(?:现在|如今|目前)?在<KNOWN_FIRM>(?:工作|上班|任职|做|当|干)", "换", begins=True),
    say("employer", r"<I>换了?(?:个|份)?新?(?:工作|公司|单位)了?[，,](?:我)?(?:现在|如今|目前)?在<COMPANY>(?:工作|上班|任职|做|当|干)", "换", begins=True),
    say("job", r"<I>换了?(?:个|份)?新?(?:工作|职业|岗位|行业?)了?[，,](?:我)?(?:现在|如今|目前)?(?:是|做|当)(?:一名|一个|一位|个|名)?<JOB><END>", "换", begins=True),
    say("employer", r"<WE>(?:加入|入职|跳槽到|跳槽去|跳到|调到|调去|调进|转到|进)了?<COMPANY>(?:工作|上班|去|<END>)", "加 入 跳 调 转 进", begins=True),
    say("employer", r"<I><FROM>?(?:加入|入职|跳槽到|跳槽去)了?<FIRM><END>", "加 入 跳", begins=True),
    say("employer", r"<WE>(?:跳到|跳槽到|入职)了?<FIRM>(?:去|上班)了?<END>", "跳 入", begins=True),
    say("employer", r"<WE>(?:刚刚?|才)?(?:加入|入职|跳槽到|跳槽去)了?<KNOWN_FIRM>(?=<PASSED>)", "加 入 跳", begins=True),
    say("employer", r"<WE>从<KNOWN_FIRM>(?:辞职|离职|退休|跳槽|出来)了", "辞 离 退 跳 出", act=SlotAct.ENDS),
    say("employer", r"<I>(?:从)<COMPANY>(?:辞职|离职|退休|跳槽|出来)了?", "辞 离 退 跳 出", act=SlotAct.ENDS),
    say("employer", r"<WE>(?:从|在)<FIRM_LEFT>(?:正式|已经|提前)*(?:辞职|离职|退休|辞)(?:了|啦)<END>", "辞 离 退", act=SlotAct.ENDS, headless=True),
    say("employer", r"<I>(?:辞掉|辞去|辞)了?<COMPANY>的?(?:工作|职务|活|班)(?:了)?", "辞", act=SlotAct.ENDS),
    say("employer", r"<WE>(?:辞掉|辞去|辞)了?<FIRM_LEFT>的?(?:工作|职务|活|班)(?:了|啦)?<END>", "辞", act=SlotAct.ENDS, headless=True),
    say("employer", r"<WE>把?<FIRM_LEFT>(?:的|那份|那个)(?:工作|职务|活)(?:给)?辞(?:掉)?(?:了|啦)<END>", "辞", act=SlotAct.ENDS, headless=True),
    say("employer", r"<WE>从(?:公司|单位|厂里)(?:正式|已经|提前)*(?:辞职|离职|退休)(?:了|啦)<END>", "辞 离 退", act=SlotAct.ENDS, headless=True),
    say("employer", r"<I>(?:早就)?(?:不在)<COMPANY>(?:工作|上班|干|做|待)?了", "不", act=SlotAct.ENDS),
    say("employer", r"<WE>(?:辞职|离职|退休|失业|下岗|被辞退|被开除|被裁员?|被炒鱿鱼|被炒|辞了工作|把工作辞|丢了工作|裸辞)(?:了|啦|，|,|。|！|!|$)", "辞 离 退 失 下 被 丢 裸", act=SlotAct.ENDS),
    say("job", r"<WE>退休(?:<PASSED>)?(?:了|啦|在家)", "退", says="退休", begins=True),
    say("job", r"<I>(?:现在)?(?:是个?|做|当|干起了?)?(?P<value>单干|自由职业|待业|失业|全职妈妈|全职爸爸|全职主妇)(?:了|者)?<END>", "单 自 待 失 全", begins=True),
    say("job", r"<I>(?:是|在做|做|当|成了|当上了?|升(?:职)?(?:为|成|了|做|当)*|升任|转行(?:做|当)|改行(?:做|当))(?:一名|一个|一位|个|名)?<JOB><END>", "是 做 当 成 升 转 改", begins=True),
    say("employer", r"<INTRO>在(?![^，,。]{0,8}(?:一[家个所间]|某))<COMPANY>(?:工作|上班|任职|做|当|干|打工)<NO_ATTRIBUTE>", "在"),
    say("employer", r"<INTRO>在<KNOWN_FIRM>(?:工作|上班|任职|做|当|干|打工)<NO_ATTRIBUTE>", "在"),
    say("job", r"<INTRO>(?:在(?:(?!的(?!一[家个所间]))[^，,。]){1,14}?)?(?:是|做|当|担任)(?:一名|一个|一位|个|名)?<JOB><END>", "是 做 当 任"),
    say("job", r"^(?:我)?当<JOB>第?[一二三四五六七八九十两\d]{1,3}年", "当"),
    say("job", r"<I>(?:是)?(?:干|做)(?P<value>[\u4e00-\u9fff]{2,5}?)(?:这一行|这行|这个行业|行业的?)", "行"),
    say("job", r"<WE>(?P<value>跑外卖|送外卖|送快递|跑快递|开出租|开滴滴|开网约车|开货车|开大车|摆摊|种地|做生意|跑业务|跑运输)(?:的)?<END>", "跑 送 开 摆 种 做"),
    say("job", r"<I>(?:是|在[\u4e00-\u9fff]{1,8}?)?(?P<value>教(?:小学|初中|高中)?(?:语文|数学|英语|物理|化学|生物|历史|地理|政治|音乐|美术|体育|钢琴|舞蹈))(?:的)?<END>", "教"),
    say("job", r"我开了(?:一?[家个间])小?(?P<value>(?!玩笑|会|头|口|证明)[\u4e00-\u9fff]{0,4}(?:馆|店|铺|摊子?|工作室|诊所))<END>", "开", shown="开{value}"),
    say("job", r"我?的?(?:工作|职业|本职)是(?:一名|一个|一位)?<JOB><END>", "工 职"),
    say("job", r"我(?:当|做|干)<JOB>(?:[\u4e00-\u9fff\d]{1,4}年)", "当 做 干"),
    say("job", r"<I>(?:不再是|不是|早就不是|不当|不做|没再当)<JOB>(?:了)?<END>", "不 没", act=SlotAct.ENDS),
    say("school", r"<I>(?:在|就读于|毕业于|考上了?|考进了?|转学?到了?|保送到?了?|录取到?了?)<SCHOOL>(?:读|上学|念|学习|上|去了?|<END>)", "在 读 毕 考 转 保 录", begins=True),
    say("school", r"^(?:我)?(?:本科|硕士|博士|研究生)(?:是|在|读的|念的|读|念)?<SCHOOL>(?:的)?<END>", "本 硕 博 研"),
    say("school", r"^(?:学籍)?转到<SCHOOL>去了", "转", begins=True),
    say("school", r"<I>没(?:有)?(?:念|上|读)过(?P<value>大学|高中|初中|研究生)", "没", act=SlotAct.ENDS),
    say("studies", r"<I>(?:大学|本科|研究生|硕士|博士|现在)?(?:学的是|读的是|念的是|学|读|念|主修|攻读)(?P<value>(?:中医|西医|临床医学|医学|法律|法学|计算机|软件工程|会计|金融|经济学?|美术史?|音乐|历史|哲学|数学|物理|化学|生物|英语|日语|法语|德语|中文|新闻|建筑|土木|护理|设计|心理学?|教育|机械|自动化|统计学?|语言学|考古|古文字|兽医|农学|园林|电子|通信))(?:专业|系)?<END>", "学 读 念 修"),
    say("studies", r"<I>?(?:转|换)(?:到|去|成|了)+(?P<value>[\u4e00-\u9fff]{2,6}?)(?:专业|系)(?:了)?<END>", "转 换", begins=True),
    say("studies", r"<WE>(?:办了?)?(?:退学|休学|毕业|肄业|辍学)(?:了|啦)?<END>", "学 业", act=SlotAct.ENDS),
    say("phone_number", r"(?:<THEIR>(?:手机|电话|联系)?(?:号码|手机号|电话|号)(?:现在)?(?:是|改成|改为|换成|变成|：|:)了?|(?:打|拨)我(?:这个)?(?:电话|手机)?|(?:我的?)?新?(?:手机|电话)(?:是|换成|改成|：|:)?) ?<NUMBER>", "号 电 手 打 拨"),
    say("phone_number", r"(?:<I>)?(?:刚)?(?:换|改)了?(?:一?个)?(?:新的?)?(?:手机|电话)?(?:号码|号|电话)(?:了)?[，,：: ]*(?:新(?:的|号码?)?(?:现在)?(?:是)?|现在(?:是)?|是)?<NUMBER>", "换 改", begins=True),
    say("e-mail", r"<I>?(?:换了?(?:个|一个)?新?邮箱(?:地址)?了?|邮箱(?:地址)?(?:已经)?换了?)[，,：:。 ]*(?:我)?(?:以后|现在|改)*(?:新的?(?:邮箱|地址)?|用)?(?:是|用|成|：|:)? ?(?=[A-Za-z0-9])<MAIL>", "@", begins=True, headless=True),
    say("e-mail", r"(?:<THEIR>(?:电子)?(?:邮箱|邮件地址|邮件|email|Email)(?:地址)?(?:现在)?(?:是|改成|改为|换成|挪到|换到|：|:)?了?|(?:资料|文件|邮件|材料)?(?:请)?(?:发|寄|写信)(?:到|给|至)?|发我) ?<MAIL>", "@"),
)  # fmt: skip

_SURNAME: Final = "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范石廖贾夏韦傅白邹孟熊秦邱江尹薛]"
_BEHIND_NAME: Final = r"今年|明年|去年|刚|考|不让|说|做|特别|最近|喜欢|今天|昨天|明天|下周|下个?月|上周|上个?月|周[一二三四五六日天]|[\d一二三四五六七八九十]+[月号]|在|是|也|又|要|会|想|来|去|回|住|搬|上[小初高大班]|毕业|结婚|生病|工作|[，,。！!]"
"""What may follow a name that stands behind what somebody is to the speaker."""

_PEOPLE: Final = (
    say("", r"<MY><RELATION>(?:的名字)?(?:叫做?|名叫|是叫|就叫)<PERSON><END>", "叫", words=_WORDS),
    say("", r"^<RELATION>叫做?<WHO><END>", "叫", words=_WORDS),
    say("", r"^<RELATION>叫做?(?P<value>(?P<twice>[\u4e00-\u9fff])(?P=twice))<END>", "叫", words=_WORDS),
    say("", r"<MY><RELATION>(?:是)<WHO_IS><END>", "是", words=_WORDS),
    say("", r"<WHO>(?:现在)?是<MY><RELATION>(?:了)?<END>", "是", words=_WORDS),
    say("", rf"<MY><RELATION>(?P<value>{_SURNAME}[\u4e00-\u9fff]{{1,2}}?|[小阿](?![时学心孩说声气吃子狗猫区伙组腿半名便])[\u4e00-\u9fff])(?={_BEHIND_NAME})", "我", words=_WORDS, anywhere=True),
    say("partner", r"我(?:跟|和|与)<WHO>(?:已经|刚刚|刚|正式|终于|又|重新|<LATELY>)*(?:在一起|结婚|领证|订婚|恋爱|复合|复婚|和好|谈恋爱)(?:了|啦|[一二三四五六七八九十\d]+年)", "跟 和 与", begins=True),
    say("partner", r"(?:我)?(?:跟|和|与)<WHO>(?:已经|刚刚|刚|正式|终于|早就?|协议|<LATELY>)*(?:<GONE>|结束|不在一起|不处|没在一起|断|拜拜|不是一路人)(?:了|啦|手)", "跟 和 与", act=SlotAct.ENDS),
    say("partner", r"我(?:们俩?)?(?:和|跟|与)?(?:我)?(?:<ROMANCE>)?(?:已经|刚刚|刚|正式|终于|早就?|协议|<LATELY>)*(?:<GONE>)了", "分 离 掰 散 吹", act=SlotAct.ENDS),
    say("partner", r"^(?:昨天|上个?月|上周|刚刚?|已经)?(?:分手|离婚)(?:了|啦)", "分 离", act=SlotAct.ENDS),
    say("partner", r"<WHO>(?:已经)?(?:不是|不再是)我(?:的)?<ROMANCE>(?:了)?", "不", act=SlotAct.ENDS),
    say("partner", r"我(?:的)?<ROMANCE>(?:跟我)?(?:把我甩|离开我|和我分手|跟我分手|和我离婚|跟我离婚)了", "甩 离 分", act=SlotAct.ENDS),
    say("partner", r"<I>(?:恢复单身|又单身|单身)(?:了|啦|<END>)", "单", act=SlotAct.ENDS),
    say("marital_status", r"<WE>(?:刚|已经|正式)?(?P<value>结婚|订婚|离婚|领证|再婚|离异|丧偶|单身|已婚|未婚)(?:了|啦|<END>)", "婚 证 异 偶 单", begins=True),
    say("marital_status", r"<I>(?:跟|和)[\u4e00-\u9fffA-Za-z]{1,4}(?P<value>结婚|订婚|离婚|领证)(?:了|啦)", "婚 证", begins=True),
    say("family", r"<I>(?:家)?有(?P<value>[一两二三四五六七八个\d]{1,2}(?:个)?(?:孩子|儿子|女儿|闺女|姐姐|妹妹|哥哥|弟弟|兄弟|姐妹|娃))", "有"),
    say("family", r"^(?:上头|下面|家里)有?(?P<value>[一两二三四五六七八\d]个(?:姐姐|妹妹|哥哥|弟弟|孩子|娃))", "个"),
    say("family", r"<I>是(?P<value>独生子女|独生子|独生女|双胞胎|单亲妈妈|单亲爸爸)", "独 双 单"),
    say("family", r"<WE>(?:升级)?当(?P<value>爸爸|妈妈|爸|妈|奶奶|爷爷|外婆|外公|姥姥|姥爷|舅舅|姑姑|姨妈)了", "当", begins=True),
    say("family", r"<I>没有?(?P<value>孩子|兄弟姐妹|姐妹|兄弟|哥哥|弟弟|姐姐|妹妹)<END>", "没", act=SlotAct.ENDS),
    say("marital_status", r"<WE>没(?:有)?(?:结过|结)(?P<value>婚)", "没", act=SlotAct.ENDS),
    say("pet", rf"(?:我们?|我家|我们家|家里)的?(?:养了?)?(?:有)?[一两]?(?:只|条|个)?(?:小)?<PETS>[，,]?(?:名字)?(?:叫做?|名叫){_NO_CALL}<PERSON><END>", "叫", shown="{value} ({slot})", anywhere=True),
    say("pet", rf"(?:<I>|我们?家|家里)(?:养了?|有|领养了?|收养了?|买了?|捡了?|抱养了?)(?:一?[只条个])?(?:名?叫做?|名字叫){_NO_CALL}(?P<value>[\u4e00-\u9fffA-Za-z]{{1,6}}?)的{_LOOKING}(?P<slot>{_KEPT})<END>", "叫", shown="{value} ({slot})", begins=True),
    say("pet", rf"(?:<WE>|我们?家|家里)(?:(?:养|领养|收养|抱养)了?|(?:有|买了?|捡了?)(?=一?[只条]{_LOOKING}{_KEPT}))一?[只条头匹](?P<slot>(?!名?叫)[\u4e00-\u9fff]{{1,6}}?){_CALLED_IT}(?P<value>[\u4e00-\u9fffA-Za-z]{{1,6}}?)<END>", "叫", shown="{value} ({slot})", begins=True),
    say("pet", r"(?:我家|我们家)的?(?P<slot>猫|狗)(?P<value>(?![猫狗天常偷刚慢明老乖悄渐日夜年处往默紧白好统])(?P<twice>[\u4e00-\u9fff])(?P=twice))(?=又|在|今|昨|老|最|总|特|把|不|也|最近|会|病|生|[，,。！!])", "家", shown="{value} ({slot})"),
    say("pet", rf"(?:<I>|我们?家的?|家里)?(?:养了?|有)?[两二三四五](?:只|条|个)(?:小)?{_PETS_NAMED}[，,、：:]?(?:名字)?(?:分别)?(?:叫做?|名叫|是)?{_NAMED_EACH}<END>", "养 有 两 二 三 四 五", shown="{value} ({slot})", many=True),
    say("", rf"(?:我们?家的?|可怜的)?{_CALLED_PET}{_AGO}(?:去世|过世|离世|病逝|病死|死)了<END>", "世 逝 死", act=SlotAct.ENDS, among="living"),
    say("", rf"(?:我们?家的?|可怜的)?{_CALLED_PET}{_AGO}(?:走|没|走丢|跑丢|离开我们|去(?:了)?(?:喵星|汪星)|去彩虹桥)了?<END>{_NOT_FOUND}", "走 没 离 星 桥 丢", act=SlotAct.ENDS, among="pet"),
    say("", rf"(?:我们?家?的?)?{_CALLED_PET}{_AGO}(?:飞走|飞跑)了{_NOT_FOUND}", "飞", act=SlotAct.ENDS, among="owned"),
    say("", rf"(?:我们?家?的?)?{_CALLED_PET}{_AGO}(?:跑|飞|溜|丢|走失|不见).{{0,8}}?(?:再也|一直|至今|到现在|就|都|还)+没(?:有)?(?:再)?(?:回来|找到|找着)", "跑 飞 溜 丢 失 见", act=SlotAct.ENDS, among="owned"),
    say("", rf"<MY><RELATION>{_AGO}(?:去世|过世|离世|病逝|不在人世)(?:了)?<END>", "世 逝", words=_WORDS, act=SlotAct.ENDS),
    say("", r"(?:<MY>)(?:那[辆台部只])?(?P<value>(?![那这])[\u4e00-\u9fffA-Za-z0-9]{1,6}?)(?:昨天|昨晚|上周|今天|前天)?(?:被(?:人)?偷|被盗|丢|不见|报废)了<END>", "偷 盗 丢 见 废", act=SlotAct.ENDS, among="owned"),
    say("pet", rf"(?:<I>|家里|^)养了?(?!{_ONE_CALLED})(?:只|条|头|匹|对(?!了)|缸)?(?P<value>(?:[一两二三四五六七八九十几\d]+(?:只|条|头|匹|对|缸)|(?<=[只条头匹对缸]))(?!(?:名?叫|名字叫){_NO_CALL}[^，,。的]{{1,6}}的{_LOOKING}{_KEPT}<END>)(?:[\u4e00-\u9fff]{{1,6}}?))(?=[，,。！!；;]|$|叫(?!的|声))(?![，,、：:]?(?:名字)?(?:分别)?(?:叫做?|名叫|是)?[\u4e00-\u9fff]{{1,3}}(?:、[\u4e00-\u9fff]{{1,3}})*[和跟][\u4e00-\u9fff]{{1,3}}(?:[，,。！!；;]|$))", "养"),
    say("pet", r"<I>(?:不养|没养|没有)(?P<value>宠物|猫|狗)<END>", "不 没", act=SlotAct.ENDS),
    say("pet", r"(?:<MY>)(?:家)?的?(?:猫|狗|兔子|仓鼠|鹦鹉|乌龟)(?:已经)?(?:去世|死|走丢|走|没)了", "去 死 走 没", act=SlotAct.ENDS),
    say("car", r"<WE>(?:开的是|开|的车是|换了?|买了?|提了?)(?:一?[辆台部])?(?P<value>(?:(?!的是|了|过)[\u4e00-\u9fff]){0,4}(?:特斯拉|丰田|本田|大众|宝马|奔驰|奥迪|比亚迪|吉利|长城|哈弗|别克|福特|日产|马自达|现代|起亚|沃尔沃|雷克萨斯|保时捷|五菱|蔚来|理想|小鹏|问界|桑塔纳|捷达|电车|电动车|新能源)[\u4e00-\u9fffA-Za-z0-9]{0,6}?)<END>", "开 车 换 买 提", begins=True),
    say("car", rf"<WE>(?:开的是|开|的车是|换了?|买了?|提了?|入手了?)(?:一?[辆台部])?(?P<value>(?!个|{_NO_CAR}|.{{0,14}}(?:模型|车模|玩具|贴膜|脚垫))(?:(?!的是|了|过)[\u4e00-\u9fff]){{0,4}}(?:小米(?:汽车|(?:SU|YU) ?7)|{_CARS})(?!连锁|的(?!新?(?:轿|跑|电动?)?车|SUV))[\u4e00-\u9fffA-Za-z0-9 ]{{0,6}}?)<END>", "开 车 换 买 提 手", begins=True),
    say("car", r"<WE>(?:开的是|开|换了?|买了?|提了?|入手了?)(?:一|这|那)?辆(?P<value>(?:(?!的是|了|过)[\u4e00-\u9fff]){0,4}小米(?!.{0,8}(?:自行车|单车|电动|电瓶|滑板|平衡|童车|摩托|玩具|模型))[\u4e00-\u9fffA-Za-z0-9 ]{0,8}?)<END>", "辆", begins=True),
    say("car", r"<WE>(?:把)?(?:那辆|我的|家里的|老|旧)*车(?:已经)?(?:卖掉?|报废|处理掉?|送人|转让)了", "车", act=SlotAct.ENDS),
    say("car", r"<WE>卖(?:掉)?了(?:我的|那辆|家里的)?车", "卖", act=SlotAct.ENDS),
    say("car", r"(?:<I>|我们?家)没(?:有)?车<END>", "没", act=SlotAct.ENDS),
    say("phone", rf"<WE>(?:换了|用的(?:还)?是|用|换成了?|买了|改用)(?:[一那这]?[部台个])?(?P<value>(?!{_NO_PHONE})(?:[\u4e00-\u9fff]{{0,2}})(?:苹果|华为|小米|红米|荣耀|诺基亚|三星|一加|魅族|真我|iPhone|Pixel)[\u4e00-\u9fffA-Za-z0-9 ]{{0,8}}?)(?:<END>|(?<=手机)(?=[和跟与及、看听玩打拍刷追]))", "换 用 买", begins=True),
    say("phone", r"(?:旧|老)?手机(?:寿终正寝|坏了|丢了)?[，,]?(?:我)?换了?(?:一?[部台个])?(?:成)?(?P<value>苹果|华为|小米|红米|荣耀|诺基亚|三星|一加|魅族|iPhone[\w ]{0,8}|Pixel[\w ]{0,6})<END>", "换", begins=True),
    say("possession", r"(?:我们?家|家里)没(?:有)?(?P<value>电视机?|空调|冰箱|洗衣机|电脑|钢琴|自行车|摩托车|电动车|打印机|微波炉|烤箱|洗碗机|电梯)<END>", "没", act=SlotAct.ENDS),
    say("possession", r"<I>有(?:一|两|三|几)(?:台|辆|部|架|把|套|块|艘)(?P<value>[\u4e00-\u9fffA-Za-z0-9]{1,8}?)<END>", "有"),
    say("", r"<I>?(?:把)?<OWNED><GIVING>(?:卖掉?|转让|送人|送走|处理掉?|报废|捐掉?)了<END>", "卖 转 送 处 报 捐", act=SlotAct.ENDS, among="owned"),
    say("", rf"<I>?(?:把)?<OWNED><GIVING>(?:送|给|转|让|捐|过继|留|交|寄养|托付|转让|赠送|捐献)(?:给|到)?了?<TAKER>(?:家)?(?:去|来)?(?:领养|收养|养|领走|带走|抱走|接走)?(?:了|啦)<END>{_FOR_GOOD}", "送 给 转 让 捐 过 留 交 寄 托 赠", act=SlotAct.ENDS, among="owned"),
    say("", rf"<I>?(?:把)?<OWNED><GIVING>(?:被|让)(?:<TAKER>)?(?:领养|收养|领走|带走|抱走|接走|要走)(?:走|去?养)?(?:了|啦)<END>{_FOR_GOOD}", "被 让", act=SlotAct.ENDS, among="owned"),
    say("", rf"(?:我们?家的?|我的)?(?P<value>(?![我你他她它谁这那都])(?:(?!搬|现在|如今|以后)[\u4e00-\u9fff]){{1,4}}?)(?:现在|如今|以后)?<GIVING>(?:归|跟着?|住在?|养在)<TAKER>(?:家里?|那[儿里边]?)?(?:养|住|过|管)?(?:了|啦)<END>{_FOR_GOOD}", "归 跟 住 养", act=SlotAct.ENDS, among="pet"),
    say("", rf"<I>?(?:给)?{_CALLED_PET}{_AGO}(?:找到?|有)了?(?:个|一个)?新(?:主人|家)(?:了|啦)<END>", "找 有", act=SlotAct.ENDS, among="pet"),
)  # fmt: skip

_TASTES: Final = (
    say("likes", r"<I>(?:喜欢|爱|热爱|偏爱|迷上了?|痴迷|爱上了?|喜欢上了?)(?!上|情|人|心)<THINGS><END>", "欢 爱 迷 痴", many=True),
    say("likes", r"<I>(?:最)?(?:喜欢的|爱的|爱吃的|爱喝的|爱看的|爱听的)[\u4e00-\u9fff]{0,4}是<THINGS><END>", "是", many=True),
    say("dislikes", r"<I>(?:不喜欢|讨厌|不爱|不太喜欢|不怎么喜欢|受不了|最烦|最怕)<THINGS><END>", "不 厌 受 烦 怕", many=True),
    say("likes", r"<I>(?:不再|再也不|早就不|已经不)(?:喜欢|爱)<THINGS>(?:了)?<END>", "不", act=SlotAct.ENDS, many=True),
    say("likes", r"<I>(?:不)(?:喜欢|爱)(?P<value>[\u4e00-\u9fffA-Za-z0-9]{1,10}?)了<END>", "不", act=SlotAct.ENDS),
    say("allergy", r"<I>对(?P<value>(?!什么|任何|上班|工作|周一|你)(?:(?!不|没)[\u4e00-\u9fff、和A-Za-z]){1,10}?)(?:严重|有点|会|也|都)*过敏(?!了?吗)", "敏", many=True),
    say("allergy", r"^(?P<value>(?!不|没|对|会|我|他|她|容易|有点|皮肤|孩子|儿子|女儿|老婆|老公|严重|突然|季节性|食物|药物)(?:(?!对|都|也|是)[\u4e00-\u9fff]){2,5})过敏[，,。！!]", "敏"),
    say("allergy", r"我(?P<value>(?!是|有|会|不|没|容易|皮肤|季节性|食物|药物|严重|[老妈爸姐妹哥弟儿女孩朋同奶爷家])(?:(?!对|不|没|都|也)[\u4e00-\u9fff]){2,4})过敏<END>", "敏"),
    say("allergy", r"<I>(?:一吃|一碰|吃了?|碰了?|闻到|一闻)(?P<value>[\u4e00-\u9fff]{1,6}?)就(?:过敏|起疹子|起红疹|浑身痒|喘)", "就"),
    say("allergy", r"(?:^|我)(?P<value>(?!不|没|我|他|她|[这那]|[老妈爸姐妹哥弟儿女孩朋同奶爷家]|.妈|.爸|[太很]?[辣烫冰冷热凉硬酸甜咸油]的)[\u4e00-\u9fff]{1,5}?)(?:我|是|真的?)?(?:一[口点丁]儿?|半[口点])?(?:都|也|可)?(?:碰不[得了]|吃不[得了]|沾不[得了]|不能[碰吃沾])[，,、 ]?(?:一?[碰吃沾](?:了|就)?|不然|否则)?(?:嗓子|喉咙|嘴唇?|脸|舌头|眼睛|浑身|全身|身上)(?:会|就|要|得|立马|马上|全|一下子)*(?:肿|起疹|起疙瘩|痒|过敏)", "肿 疹 疙 痒 敏"),
    say("allergy", r"<I>(?:已经)?(?:不再|不)对(?P<value>[\u4e00-\u9fff]{1,8}?)过敏", "不", act=SlotAct.ENDS),
    say("allergy", r"<I>对(?P<value>[\u4e00-\u9fff]{1,8}?)(?:已经)?不(?:再)?过敏", "不", act=SlotAct.ENDS),
    say("allergy", rf"{_TELLS_MY_ALLERGY}(?:{_NOT_BECAUSE}{_REACTION}(?:过敏)?|不对{_REACTED_TO}过敏|对{_REACTED_TO}(?:其实|并)?不过敏){_BUT}是?对?(?P<value>{_REACTION})(?:过敏)?<END>", "敏", many=True),
    say("allergy", rf"{_TELLS_MY_ALLERGY}{_NOT_BECAUSE}(?P<value>{_REACTED_TO})过敏(?=[。！!]|$|{_BUT}(?:只|单纯|纯粹)?[是对])", "敏", act=SlotAct.ENDS, many=True),
    say("allergy", rf"{_TELLS_MY_ALLERGY}{_NOT_BECAUSE}(?P<value>{_REACTION}){_BUT}是对?{_REACTED_TO}过敏<END>", "敏", act=SlotAct.ENDS, many=True),
    say("allergy", rf"{_TELLS_MY_ALLERGY}是对(?P<value>{_REACTED_TO})过敏<END>", "敏", many=True),
    say("allergy", rf"{_TELLS_MY_ALLERGY}是?对{_REACTED_TO}过敏[，,、 ]+(?:而|并)?不是对?(?P<value>{_REACTION})(?:过敏)?<END>", "敏", act=SlotAct.ENDS, many=True),
    say("allergy", rf"{_I_REACT_TO}不是{_REACTED_TO}{_BUT}是(?P<value>{_REACTED_TO})<END>", "敏", many=True),
    say("allergy", rf"{_I_REACT_TO}不是(?P<value>{_REACTED_TO}){_BUT}是{_REACTED_TO}<END>", "敏", act=SlotAct.ENDS, many=True),
    say("allergy", rf"{_I_REACT_TO}是(?P<value>{_REACTED_TO})[，,、 ]+(?:而|并)?不是{_REACTED_TO}<END>", "敏", many=True),
    say("allergy", rf"{_I_REACT_TO}是{_REACTED_TO}[，,、 ]+(?:而|并)?不是(?P<value>{_REACTED_TO})<END>", "敏", act=SlotAct.ENDS, many=True),
    say("allergy", rf"(?:(?:医生|大夫)[^，,。！!我你您他她它]{{0,8}}?)?(?:其实|原来)*(?:过敏的)?{_NOT_BECAUSE}(?P<wrong>{_REACTION})(?:过敏)?{_BUT}是对?(?P<value>{_REACTION})(?:过敏)?<END>", "敏", act=SlotAct.CORRECTS, headless=True),
    say("allergy", rf"(?:(?:医生|大夫)[^，,。！!我你您他她它]{{0,8}}?)?(?:其实|原来|应该)*(?:过敏的)?是对?(?P<value>{_REACTION})(?:过敏)?[，,、 ]+(?:而|并)?不是对?(?P<wrong>{_REACTION})(?:过敏)?<END>", "敏", act=SlotAct.CORRECTS, headless=True),
    say("allergy", r"(?:我的?)?(?P<value>[\u4e00-\u9fff]{1,6}?)过敏(?:已经)?(?:好|没|消失)了", "好 没 消", act=SlotAct.ENDS),
    say("allergy", r"(?:(?:医生|大夫|专家|检查结果|化验单|报告|复查)(?:都|也)?(?:说|显示|确认|告诉我))?我?<VERY>不(?:再|会)*过敏了<END>", "敏", act=SlotAct.ENDS, elsewhere=_ALLERGENS, headless=True),
    say("allergy", rf"(?:之前|原来|当初|上次|以前|我)*(?:说|查出来?|测出来?)?(?:我)?对?(?P<value>{_ALLERGENS})过敏(?:检测|测试|检查|结果)?(?:其实|原来|竟然|居然|就|都)*(?:是|属于)?(?:误诊|假阳性|虚惊一场|搞错了|弄错了|测错了)", "误 假 虚 错", act=SlotAct.ENDS),
    say("", r"<WE>(?:恢复(?:了)?正常(?:饮食|吃饭)|(?:可以|能|又)*正常(?:吃饭|饮食))了<END>", "正", act=SlotAct.ENDS, among="kept_from", headless=True),
    say("diet", r"<I>(?:是个?|算是?|吃|信|只吃|改吃|开始吃|坚持|在吃)(?P<value>全素|纯素|[鱼海]鲜?素(?:食?主义者|食?者|食)?|素食主义者|素食者|素食|素|清真|蛋奶素|生酮|低碳|无糖|无麸质|乳糖不耐受?)(?:的|餐|饮食)?(?:了)?<END>", "是 算 吃 信 坚", begins=True),
    say("diet", r"<I>(?:吃)(?P<value>全素|纯素|素)(?=<PASSED>了)", "吃"),
    say("diet", r"<I>(?P<value>全素|纯素|素食)(?:了)?<END>", "素", begins=True),
    say("diet", r"<I>(?P<value>乳糖不耐受?|麸质不耐受?)", "耐"),
    say("diet", r"<I>(?:不再|早就不|已经不|不)(?:吃|是)(?:个)?(?P<value>全素|纯素|[鱼海]鲜?素(?:食?主义者|食?者|食)?|素食主义者|素食者|素食|素|清真)(?:了)?<END>", "不", act=SlotAct.ENDS),
    say("diet", r"<I>(?:又)?(?:开始)?(?:吃肉|吃荤|开荤|沾荤)了", "荤 肉", act=SlotAct.ENDS),
    say("", r"<I>(?:又|重新|恢复)(?:开始)?(?:吃|喝)(?:上|起)?(?P<value>鱼|肉|海鲜|鸡肉|牛肉|猪肉|羊肉|鸡蛋|蛋|牛奶|奶|奶酪)了<END>", "又 新 复", act=SlotAct.ENDS, among="kept_from"),
    say("avoids", r"<I>(?:不|从不|从来不|不能|不敢|再也不|戒了?|已经戒了?|不再|很少)(?:吃|喝|碰|沾)?<FOODS>(?:了)?<END>", "不 戒 少", many=True, begins=True),
    say("avoids", r"<I>(?:吃|喝|碰)不[了得](?:一点儿?)?<FOODS><END>", "不", many=True),
    say("avoids", r"<FOODS>(?:我)(?:是)?(?:一点儿?也?)?(?:碰不得|吃不了|吃不得|喝不了|喝不得|不能[吃喝碰沾]|一口都不能[吃喝碰])<END>", "不", many=True),
    say("avoids", r"<I>(?:得|要|需要|必须)?忌(?:口)?<FOODS><END>", "忌", many=True),
    say("avoids", r"<I>(?:得|要|需要|在)?忌口[，,：:]?(?:我)?(?:不能|不可以|不|别)(?:吃|喝|碰|沾)<FOODS><END>", "忌", many=True),
    say("avoids", r"(?:医生|大夫)(?:不让我?|(?:说我?|让我|叫我|要求我|嘱咐我)(?:不(?:能|可以|要|许|准|该)|别|忌|戒|少))(?:再)?(?:吃|喝|碰|沾)?<FOODS><END>", "医 大", many=True),
    say("avoids", r"(?:我)?<FOODS>(?:我)?一(?:吃|喝|碰)就(?:拉肚子|难受|不舒服|吐|胃疼|胃痛|肚子疼|肚子痛|长痘)", "就"),
    say("avoids", r"<I>(?:一(?:吃|喝|碰)|(?:吃|喝)了?)<FOODS>就(?:拉肚子|难受|不舒服|吐|胃疼|胃痛|肚子疼|肚子痛|长痘)", "就"),
    say("avoids", r"<WE>(?:戒|戒掉|戒了)(?P<value>烟|酒|糖|咖啡|奶茶|辣|肉)(?:了|啦|<END>)", "戒", begins=True),
    say("avoids", r"<I>不(?:抽|吸)(?P<value>烟)(?:了)?<END>", "不"),
    say("avoids", r"<WE>(?:这辈子|一辈子)?(?:没|从没|从来没|从不)(?:有)?(?:抽|吸)过?(?P<value>烟)", "抽 吸"),
    say("avoids", r"^(?:我)?戒(?P<value>烟|酒|糖)第?[一二三四五六七八九十两\d]{1,3}(?:年|个月|天)", "戒"),
    say("avoids", r"<WE>(?:当天|已经)?(?:就)?把(?P<value>烟|酒)(?:给)?(?:戒|掐|断)了", "把", begins=True),
    say("avoids", r"<WE>(?:[\u4e00-\u9fff]{0,4})(?:又|重新)(?:开始)?(?:抽|吸)(?:上|起)?(?:烟)?(?:来)?了", "抽 吸", act=SlotAct.ENDS, says="烟", begins=True),
    say("avoids", r"<WE>(?:又)?(?:复吸|烟又捡起来)了", "吸 烟", act=SlotAct.ENDS, says="烟", begins=True),
    say("avoids", r"<WE>(?:[\u4e00-\u9fff]{0,4})(?:又|重新)(?:开始)?喝(?:上|起)(?:酒)?(?:来)?了", "喝", act=SlotAct.ENDS, says="酒", begins=True),
    say("avoids", r"<I>滴酒不沾", "沾", says="酒"),
    say("avoids", r"<I>(?:又(?:开始)?|重新开始|开始|重新|恢复)(?:吃|喝|抽)(?:上|起)?(?P<value>(?![上起了来])[\u4e00-\u9fff]{1,4}?)了<END>", "又 始 新 复", act=SlotAct.ENDS, begins=True),
    say("health", r"<I>(?:有|得了|患有|患了|确诊了?|查出了?|犯了?|被诊断为|是)(?:[一二三]级|轻度|中度|重度|先天性|遗传性|点儿?|很严重的|严重的|老)*<CONDITION>", "有 得 患 确 查 犯 诊 是"),
    say("health", r"^<CONDITION>(?:好(?:几|些|多)?年了?|[一二三四五六七八九十\d]{1,3}年了?|又犯了)", "年 犯"),
    say("health", r"<WE>(?P<value>怀孕[一二三四五六七八九十\d]{0,2}(?:个月|周)?)(?:了)?[，,。！!]", "孕", begins=True),
    say("health", r"<I>(?:又)?(?P<value>近视|散光|色盲|色弱|贫血|失眠|左耳失聪|右耳失聪|失聪|失明)(?:[一二三四五六七八九十百\d]{1,4}度)?(?:了)?<END>", "近 散 色 贫 失 左 右"),
    say("health", r"<I>(?:没有?|没得过|不是|不再有)<CONDITION>(?:了)?<END>", "没 不", act=SlotAct.ENDS),
    say("health", r"(?:我的?)<CONDITION>(?:已经)?(?:痊愈|治好|好|根治|没)了", "好 愈 治 没", act=SlotAct.ENDS),
    say("medication", r"<I>(?:每天|天天|在|长期)?(?:吃|服|服用)(?P<value>[\u4e00-\u9fff]{1,4}(?:胍|片|平|沙坦|洛尔|他汀|胶囊|胰岛素)|优甲乐|二甲双胍|胰岛素|阿司匹林|布洛芬|降压药|降糖药|中药)<END>", "吃 服"),
    say("native_language", r"我的?母语是<LANGUAGE>", "母"),
    say("language", r"<I>(?:会|能)(?:说|讲|一点|点)*(?:一?点儿?|流利的?)?<LANGUAGES>", "会 能", many=True),
    say("language", r"<I>(?:说|讲)(?:的是)?<LANGUAGES><END>", "说 讲", many=True),
    say("language", r"^会(?:一?点|说|讲)+<LANGUAGES><END>", "会", many=True),
    say("language", r"^(?:我)?从小(?:说|讲)?<LANGUAGES>(?:混着说|长大)", "小", many=True),
    say("learning", r"<I>(?:在|开始|正在|报班)学(?:习)?(?!新|一|外|这|那)<LANGUAGES>(?!言)", "学", many=True, begins=True),
    say("language", r"<I>(?:不会|一句)(?:说|讲)?<LANGUAGES>(?:都不会)?<END>", "不 一", act=SlotAct.ENDS, many=True),
    say("language", r"(?:我的?)?<LANGUAGE>(?:全|都|早)*(?:忘光|忘|还给老师|还给了老师)了", "忘 还", act=SlotAct.ENDS),
)  # fmt: skip

_RIGHT: Final = (
    r"(?P<value>(?![^，,。]{0,12}过敏)(?!我|你|他|她|这|那|因为|说|想|不|是)[\u4e00-\u9fffA-Za-z0-9.@]{1,10}?)"
)
_MISTAKEN: Final = r"(?P<wrong>(?![^，,。]{0,12}过敏)(?!我|你|他|她|这样|那样|因为|说|想|很|太|吗|的|这|那)[\u4e00-\u9fffA-Za-z0-9.@]{1,10}?)"
_SECOND_THOUGHT: Final = rf"(?:(?:{SECOND_THOUGHT}|错了)[，,。：:！!… ]*+){{1,4}}(?:应该)?(?:是|改成)? ?"
_RIGHTING: Final = (
    say("", rf"{_SECOND_THOUGHT}<NUMBER><END>", "对 不 等 错 误 正 歉 思", act=SlotAct.CORRECTS),
    say("", rf"{_SECOND_THOUGHT}<MAIL><END>", "@", act=SlotAct.CORRECTS),
    say("", rf"{_SECOND_THOUGHT}<KNOWN><END>", "对 不 等 错 误 正 歉 思", act=SlotAct.CORRECTS),
    say("", rf"{_SECOND_THOUGHT}(?P<value>\d{{1,3}})岁?<END>", "对 不 等 错 误 正 歉 思", act=SlotAct.CORRECTS),
    say("", r"(?:我的?)?(?:名字|姓名)(?:不对|写错了|打错了|说错了|搞错了)[，,：:]?(?:应该)?(?:是|写作|写成|叫)(?P<value>[\u4e00-\u9fff]{2,4})(?=[，,。！! ]|$)(?![，,](?:不是|而不是|并非))", "错 对", act=SlotAct.SPELLS),
    say("", r"(?:不对|写错了|打错了|更正|说错了)[，,：:]?(?:应该)?(?:是|叫)(?P<value>[\u4e00-\u9fff]{2,4})(?=[，,][^，,。]{1,6}(?:字旁|字头|字底|旁的|头的|字))", "对 错 正", act=SlotAct.SPELLS),
    say("", rf"(?:(?:不对|不是|说错了|打错了|写错了|口误|更正|等等|抱歉|记错了|搞错了|错了|哦不|弄错了|手滑)[，,。：:！! ]*){{0,2}}(?:我)?(?:应该是|应该|其实是|是|住在|住|叫)(?:在)?{_RIGHT}[，,、 ]?(?:不是|而不是|并非)(?:在)?{_MISTAKEN}<END>", "不 非", act=SlotAct.CORRECTS),
    say("", rf"(?:不是|并不是|不叫|不在){_MISTAKEN}[，,、 ]?(?:而)?(?:是|叫|在){_RIGHT}<END>", "不", act=SlotAct.CORRECTS),
    say("", rf"{_RIGHT}[，,、 ](?:不是|而不是){_MISTAKEN}<END>", "不", act=SlotAct.CORRECTS),
    say("", rf"(?:刚才)?(?:我)?(?:说错了|打错了|写错了|口误|更正|记错了|搞错了|弄错了|手滑了?)[，,。：: ]*(?:我)?(?:应该是|其实是|是){_RIGHT}<END>", "错 误 正 滑", act=SlotAct.CORRECTS),
)  # fmt: skip


class Chinese:
    """The Chinese patterns that `slots` tries, where it tries them, and the words that rule a sentence out."""

    FRAMED: Final = re.compile(
        r"想象|梦见|梦到|做梦|梦里|上辈子|下辈子|假装|开玩笑|说着玩|小说|剧里|书里|歌里|游戏里|电影里|主角|台词|呵呵|是是是|得了吧|作文|原话"
    )
    """Dreamt, made up or quoted, wherever in the sentence: nothing is stated."""
    TAKEN_BACK: Final = re.compile(rf"(?:{SECOND_THOUGHT})[，,。：:！!… ]*$")
    """Takes back what was said right before."""
    UNSAID: Final = re.compile(
        r"如果|要是|假如|假设|倘若|万一|希望|但愿|恨不得|他说|她说|(?<!医生)(?<!大夫)说我|问我|觉得我|以为|要不要|是不是|好像|没准|说不定|也许|可能|兴许|八成|比方说|怀疑"
        r"|改天|哪天|等我|等哪|打算|计划|准备|想要|恨|宁可|羡慕"
    )
    """Supposed, wished for, planned or reported, up to the end of the clause: that clause states nothing."""
    AHEAD: Final = re.compile(
        r"下个?(?:月|周|礼拜|星期|学期|季度)|下半年|明[天年晚早儿]|后[天年](?!起)|将要?|即将|快要|马上要|就要|正要|要(?:搬|去|辞|结|换|入职|离|退)|会(?:搬|去|辞|结|换|离|退)|过(?:几天|两天|阵子|段时间)"
        r"|年后|节后|毕业后|以后要|到时候|下次"
    )
    """What is yet to come, which no verb's form tells: a plan, and no fact until it has come."""
    NOTHING: Final = re.compile(
        r"什么|谁|一下|哪里|哪儿|这里|那里|这儿|家|家里|人|一个人?|一起|你|他|她|它|这样|那样|名字|小名|你们|他们|自己|东西|这个|那个|过"
    )
    LOOSE_END: Final = re.compile(r"(?:了|啦|呢|啊|吧|哦|的|住|去)+$")
    """What is said after a value and is none of it."""
    TABLE: Final = PatternTable((*_LIFE, *_PEOPLE, *_TASTES, *_RIGHTING))

    _GAPS: Final = re.compile(
        r"[，,：:、；;！!。～~… ]+|[了是](?=我)|(?:而且|但是|不过|所以|因为|然后|其实|反正|另外|对了)"
    )

    @classmethod
    def is_framed(cls, lower: str) -> bool:
        """Whether a sentence is dreamt, made up or quoted."""
        return cls.FRAMED.search(lower) is not None

    @classmethod
    def is_ahead(cls, low: str, match: re.Match[str], clause: str) -> bool:
        """Whether a statement is of what is yet to come, as its clause tells, or a word anywhere before it."""
        return cls.AHEAD.search(low, 0, match.end()) is not None or cls.AHEAD.search(clause) is not None

    _LEAD: Final = re.compile(
        r"(?:[\u4e00-\u9fff\d]{1,8}?(?:起|以后|之后|后|以来|那天|开始|的时候)|昨[天晚]|今[天早晚]|前天|上周|上个?月|上礼拜|上星期|去年|今年|前年|最近|现在|目前|如今|刚才|早上|(?:昨晚|昨天|今天|最近|刚刚?|才)*(?:发现|得知|查出来?|确认))(?=我)"
    )
    """What tells when, before the one who speaks is named."""

    ASIDE: Final = re.compile(
        r"(?:唉|哎呀?|嗨|哈+|嗯+|哦+|噢|呃|啊|好吧|对了|话说|其实|坦白说?|坦白讲|说实话|老实说|不瞒你说|没忍住|没办法|告诉你|跟你说"
        r"|好消息|坏消息|更新一下|汇报一下|报告)[啊呀吧]?[，,：:！!。~～…\s]+"
    )
    """An interjection before a sentence whose speaker is not named."""

    @staticmethod
    def words(lower: str) -> set[str]:
        """Split a sentence into what cues are looked for among: its characters."""
        return set(lower)

    @classmethod
    def starts(cls, lower: str) -> list[int]:
        """Find where a clause of a sentence may begin."""
        lead = cls._LEAD.match(lower)
        return [0, *(gap.end() for gap in cls._GAPS.finditer(lower)), *([lead.end()] if lead else [])]
