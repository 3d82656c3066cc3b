# ruff: noqa: E501 - a word list cut in pieces is read wrongly
"""Sorts of words by which a wish about an assistant's answers is told from other talk, in English and Chinese.

A model that has seen few sentences learns more of a sort ("bothered": exhausting, annoys, 受不了) than of its words.
"""

from __future__ import annotations

from typing import Final

ENGLISH: Final = {
    "PLEASED": "like likes love loves prefer prefers preference enjoy appreciate adore welcome happier happy rather sooner favour favor help helps helpful suit suits works best better easier useful comfortable grateful obliged glad fond nice lovely fine ok okay plenty enough clearest clearer ideal mercy kind assist comfort fan partial thrive wonders goes suffices sane trust beats beat grand",
    "BOTHERED": "hate hates loathe dislike detest annoys annoy annoying irritates irritating exhausting exhaust exhausts tiresome tiring cringe grates grate jar jars stand abide lose loses lost overwhelm overwhelms overwhelming confuse confuses confused confusing baffle baffles distract distracts distracting wasted waste useless pointless noise mad nuts crazy nerves sick tired allergic hard harder difficult struggle unreadable tedious boring bore bores zone headache dizzy patronising patronizing insulting creepy fake clutter despise resent worse annoyed drown drowning switch glaze nauseous worst meaningless wall walls",
    "EVER": "always never ever whenever every each any anything everything generally normally usually default defaults general throughout anytime everywhere forever permanently constantly consistently onwards henceforth all by-default",
    "ONCE": "this these today tonight tomorrow yesterday here once tonight's today's morning afternoon evening week weekend monday tuesday wednesday thursday friday saturday sunday attached following",
    "OTHERS": "mother mum mom mama mummy dad father papa brother sister son daughter husband wife uncle aunt granny grandma grandpa grandmother grandfather cousin boss manager teacher coach doctor client clients colleague colleagues neighbour neighbor friend friends kid kids children child twins pupils students patient patients customers customer staff team intern school company office police judge court landlord vicar nephew niece girlfriend boyfriend roommate flatmate partner professor priest council government union nurse barber waiter driver cat dog baby someone somebody everybody everyone people they mrs mr",
    "SHORT": "short shorter brief briefly briefer concise concisely succinct terse quick quickly compact tight snappy crisp condensed summarised tldr gist nutshell point",
    "LONG": "long longer lengthy wordy verbose essay essays ramble rambling novel detail details detailed elaborate depth thorough exhaustive drawn-out waffle",
    "SIMPLE": "simple simpler simply plain plainly easy basic layman layman's normal everyday straightforward",
    "TONE": "honest honestly blunt bluntly direct directly frank frankly straight gentle gently polite politely formal formally informal casual friendly serious warm cold cheerful harsh strict brutal tactful sarcastic funny humour humor jokes joke joking teased",
    "READING": "eyes eyesight blind deaf dyslexic dyslexia adhd colourblind glasses screen reader vision migraine migraines attention focus phone tiny",
    "PAST": "was were did had went came saw told asked got took left gave made kept said thought felt knew found wrote",
    "LEVEL": "beginner novice expert newbie assume know knows knowledge experience degree qualified",
}
"""Words of each sort."""
SHORTENED: Final = {
    "dont": "don't",
    "ur": "your",
    "u": "you",
    "pls": "please",
    "plz": "please",
    "idc": "i don't care",
    "thats": "that's",
    "im": "i'm",
    "ill": "i'll",
    "arent": "aren't",
    "shes": "she's",
    "r": "are",
    "w": "with",
    "cant": "can't",
    "doesnt": "doesn't",
    "wont": "won't",
}
"""What people write in chats, and what it stands for."""
CHINESE: Final = {
    "GOOD": "喜欢|更爱|爱看|爱听|希望|宁愿|宁可|倾向|习惯|比较好|最好|更好|舒服|轻松|方便|清楚|安心|有帮助|受用|好懂|容易理解|就行|就好|就够|即可|足够|没问题|没关系|无妨|不介意|香|可以",
    "BAD": "讨厌|最烦|烦|受不了|头疼|头晕|吃力|费劲|看不懂|听不懂|看不清|看不进|听不进|跟不上|记不住|没概念|不习惯|听不惯|看不惯|别扭|尴尬|难受|不爱|不喜欢|反感|过敏|恶心|看不下|混乱|糊涂|没耐心|PTSD|晕|闹心|白眼|没用|不懂|不太懂|不会|难懂|累|怕",
    "EVER": "每次|每回|每个|每条|每天|以后|今后|往后|之后|都|一律|统一|总是|永远|始终|一直|凡是|凡|只要|一旦|但凡|任何|所有|默认|平时|平日|的时候|的话|从不|绝对|千万|务必|老是|动不动",
    "ONCE": "这次|这回|这封|这篇|这段|这题|这个|这条|今天|今晚|明天|昨天|刚才|刚刚|现在|第[一二三四五几]|那段|下周|上次|等会|一会",
    "OTHERS": "他|她|他们|老板|领导|经理|主管|客户|客人|甲方|同事|老师|导师|教练|医生|大夫|护士|儿子|女儿|闺女|孩子|孙子|孙女|妈|爸|爷爷|奶奶|阿姨|阿嬷|叔|老公|老婆|先生|太太|媳妇|老伴|室友|同学|同桌|朋友|公司|单位|学校|部门|厂里|规定|通知|邻居|隔壁|老王|师傅|律师|家父|弟|妹|哥|姐|群主|博主",
    "LEN": "短|长|简短|简洁|精简|精炼|啰嗦|罗嗦|字数|一句话|两句|三句|句话|太多|重点|结论|要点|废话|长篇|大段|一大堆|省流|字以内|铺垫|发散|展开|详细",
    "LANG": "中文|英文|英语|简体|繁体|普通话|国语|方言|粤语|广东话|台语|日文|文言|白话|洋文|双语|拼音|注音|缩写|术语|专业|名词|黑话|行话|用语|流行语|网络",
    "SHAPE": "表情|颜文字|emoji|列表|分点|列点|表格|标题|加粗|markdown|格式|感叹号|惊叹号|标点|段落|步骤|一步|例子|举例|比喻|图|来源|出处|链接|引用|数据|代码|注释",
    "TONE": "客气|客套|正式|随意|直接|委婉|毒舌|幽默|玩笑|笑话|温柔|鸡汤|说教|道理|夸|赞|安慰|哄|鼓励|道歉|抱歉|谢|骂|语气|口吻|敬语|端着|正经|煽情|官腔|套话|吐槽|劝",
    "UNIT": "公里|英里|公斤|斤|克|摄氏|华氏|平方|坪|人民币|台币|港币|美元|欧元|时区|北京时间|小时制|公历|农历|阴历|民国|单位|换算|含税|报价|价格|价钱|日期|时间|年份",
    "FOOD": "素|辣|盐|糖|肉|酒|花生|海鲜|乳糖|菜谱|餐厅|推荐|减脂|低碳|忌口",
    "SAYZH": "回|答|说|讲|写|告诉|解释|推荐|列|附|标|翻译|提|聊|问|给我|教|念",
    "YOUZH": "你|您",
    "MEZH": "我",
    "DO": "请|麻烦|劳烦|烦请|劳驾|拜托|恳请|务必|记得|记住|记着|帮我",
    "DONT": "别|不要|不用|不必|不需要|少|甭|免|唔|不准|不许|砍|省|跳过|避开",
    "PAST": "了$|过$|昨|刚|已经|前天|去年|那时",
    "ASKS": "吗|什么|怎么|哪|谁|多少|几",
}
"""A pattern for each sort."""
