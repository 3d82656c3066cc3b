"""What small memories are made of, in English and Chinese: matters, ways to point at a person, names, and noise.

The question in other words shares no word with the statement that answers it (a test holds this), nor does the one of
two steps, which points at a person by what another statement says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """One thing that is true of a person, and the ways to ask for it.

    Attributes:
        of, mine: The statement of somebody (`{p}`) and of oneself, with its value (`{v}`).
        plainly: The question of oneself in the statement's own words.
        otherwise: The same in other words.
        who_else: The same of somebody pointed at (`{who}`).
        values: As many as there are people in a memory.
        words: Values in one word each, and `word_asked`, a question for such a value.
    """

    of: str
    mine: str
    plainly: str
    otherwise: str
    who_else: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    word_asked: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """How a person is pointed at: the statement (`{p}`, `{v}`), the words for it in a question, and values."""

    of: str
    who: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Everything of one language. `noise` stands around a question (`{q}`)."""

    matters: tuple[Matter, ...]
    pointers: tuple[Pointer, ...]
    names: tuple[str, ...]
    noise: tuple[str, ...]


ENGLISH: Final = Phrases(
    matters=(
        Matter(
            of="{p} works at {v}.",
            mine="I work at {v}.",
            plainly="Where do I work?",
            otherwise="Who employs me?",
            who_else="Which firm employs {who}?",
            values=("Lindgren's", "the tram depot", "the planetarium", "a print shop", "the seed library",
                    "the ferry line", "Corvin Textiles", "the old brewery"),
            words=("nurse", "plumber", "beekeeper"),
            word_asked="Which profession was it?",
        ),
        Matter(
            of="{p} lives in {v}.",
            mine="I live in {v}.",
            plainly="Where do I live?",
            otherwise="Which town is my home?",
            who_else="Which town is home to {who}?",
            values=("Leuven", "Turku", "Coimbra", "Graz", "Aarhus", "Girona", "Lublin", "Cork"),
            words=("Toronto", "Lisbon", "Kyoto"),
            word_asked="Which city was it?",
        ),
        Matter(
            of="{p}'s pet is {v}.",
            mine="My pet is {v}.",
            plainly="What is my pet?",
            otherwise="Which animal waits at the door for me?",
            who_else="Which animal waits at the door for {who}?",
            values=("a tortoise", "a grey parrot", "a whippet", "a tabby", "a ferret", "a gecko", "a hen", "a donkey"),
            words=("parrot", "hamster", "poodle"),
            word_asked="Which animal was it?",
        ),
        Matter(
            of="{p} is allergic to {v}.",
            mine="I am allergic to {v}.",
            plainly="What am I allergic to?",
            otherwise="Which food makes me ill?",
            who_else="Which food makes {who} ill?",
            values=("hazelnuts", "shellfish", "celery", "sesame", "kiwi", "mustard", "lupin", "eggs"),
            words=("lasagne", "porridge", "goulash"),
            word_asked="Which dish was it?",
        ),
        Matter(
            of="{p} plays the {v}.",
            mine="I play the {v}.",
            plainly="What do I play?",
            otherwise="On what do I make music?",
            who_else="On what does {who} make music?",
            values=("cello", "oboe", "banjo", "harp", "bassoon", "mandolin", "trombone", "zither"),
            words=("violin", "trumpet", "accordion"),
            word_asked="Which instrument was it?",
        ),
        Matter(
            of="{p} was born on {v}.",
            mine="I was born on {v}.",
            plainly="When was I born?",
            otherwise="Which date is my birthday?",
            who_else="Which date is the birthday of {who}?",
            values=("4 May", "19 October", "2 February", "27 July", "11 March", "30 November", "8 June", "15 August"),
            words=("Tuesday", "Friday", "Sunday"),
            word_asked="Which weekday was it?",
        ),
        Matter(
            of="{p} drives {v}.",
            mine="I drive {v}.",
            plainly="What do I drive?",
            otherwise="Which car is mine?",
            who_else="Which car belongs to {who}?",
            values=("a Skoda", "a red pickup", "an old Volvo", "a Fiat", "a yellow Beetle", "a Dacia", "a hearse",
                    "a Saab"),
            words=("tractor", "bicycle", "scooter"),
            word_asked="Which vehicle was it?",
        ),
        Matter(
            of="{p} speaks {v}.",
            mine="I speak {v}.",
            plainly="What do I speak?",
            otherwise="Which foreign language do I know?",
            who_else="Which foreign language does {who} know?",
            values=("Welsh", "Tamil", "Basque", "Danish", "Swahili", "Maltese", "Farsi", "Latvian"),
            words=("Portuguese", "Finnish", "Arabic"),
            word_asked="Which language was it?",
        ),
        Matter(
            of="{p} collects {v}.",
            mine="I collect {v}.",
            plainly="What do I collect?",
            otherwise="Which hobby fills my shelves?",
            who_else="Which hobby fills the shelves of {who}?",
            values=("stamps", "old maps", "beer mats", "thimbles", "fossils", "tin toys", "records", "postcards"),
            words=("chess", "knitting", "falconry"),
            word_asked="Which hobby was it?",
        ),
        Matter(
            of="{p} drinks {v}.",
            mine="I drink {v}.",
            plainly="What do I drink?",
            otherwise="Which beverage should be ordered for me?",
            who_else="Which beverage should be ordered for {who}?",
            values=("oolong", "black coffee", "rooibos", "stout", "buttermilk", "cider", "espresso", "tonic"),
            words=("turquoise", "crimson", "beige"),
            word_asked="Which colour was it?",
        ),
    ),
    pointers=(
        Pointer("{p}'s phone number is {v}.", "the person whose number is {v}",
                ("138 0021 4477", "0171 555 9934", "020 7946 0958", "555 0143")),
        Pointer("{p} is our {v}.", "our {v}", ("landlady", "dentist", "accountant", "choirmaster")),
        Pointer("{p} sits in room {v}.", "whoever sits in room {v}", ("4.17", "B12", "308", "2.05")),
    ),
    names=("Priya", "Tomasz", "Ingrid", "Malik", "Yuki", "Rosa", "Dmitri", "Aoife", "Kwame", "Leila", "Bram",
           "Sunniva"),
    noise=(
        "hmm, wait, what I really want to ask is: {q}",
        "ok so, never mind the weather, sorry, one more thing. {q} Thanks a lot!",
        "um, let me think how to put it... {q} I can't remember for the life of me.",
        "Good morning! Before I forget again, could you please tell me something? {q}",
        "no no, scrap that, too many tabs open here lol. {q}",
    ),
)  # fmt: skip

CHINESE: Final = Phrases(
    matters=(
        Matter(
            of="{p}在{v}上班。",
            mine="我在{v}上班。",
            plainly="我在哪里上班？",
            otherwise="谁给我发工资？",
            who_else="哪家单位给{who}发工资？",
            values=("海港局", "植物园", "印刷厂", "渡轮站", "天文馆", "码头仓库", "锦云绸庄", "老酒坊"),
            words=("护士", "木匠", "司机"),
            word_asked="是哪种职业来着？",
        ),
        Matter(
            of="{p}住{v}。",
            mine="我住{v}。",
            plainly="我住哪里？",
            otherwise="我家位于哪座城市？",
            who_else="{who}家位于哪座城市？",
            values=("泉州", "敦煌", "烟台", "柳河", "大理", "喀什", "温岭", "漠河"),
            words=("杭州", "西安", "昆明"),
            word_asked="是哪座城市来着？",
        ),
        Matter(
            of="{p}养了{v}。",
            mine="我养了{v}。",
            plainly="我养了什么？",
            otherwise="我的宠物是哪种动物？",
            who_else="{who}的宠物是哪种动物？",
            values=("乌龟", "鹦鹉", "柴犬", "橘猫", "仓鼠", "壁虎", "芦花鸡", "毛驴"),
            words=("兔子", "金鱼", "孔雀"),
            word_asked="是哪种动物来着？",
        ),
        Matter(
            of="{p}对{v}过敏。",
            mine="我对{v}过敏。",
            plainly="我对什么过敏？",
            otherwise="我吃哪样食物会难受？",
            who_else="{who}吃哪样食物会难受？",
            values=("榛子", "虾蟹", "芹菜", "芝麻", "猕猴桃", "芥末", "花生", "鸡蛋"),
            words=("馄饨", "烧麦", "凉皮"),
            word_asked="是哪道吃食来着？",
        ),
        Matter(
            of="{p}会弹{v}。",
            mine="我会弹{v}。",
            plainly="我会弹什么？",
            otherwise="我的乐器是哪种？",
            who_else="{who}的乐器是哪种？",
            values=("古筝", "吉他", "钢琴", "琵琶", "扬琴", "月琴", "箜篌", "三弦"),
            words=("二胡", "唢呐", "长笛"),
            word_asked="是哪种乐器来着？",
        ),
        Matter(
            of="{p}{v}出世。",
            mine="我{v}出世。",
            plainly="我哪天出世？",
            otherwise="什么时候该给我买蛋糕？",
            who_else="什么时候该给{who}买蛋糕？",
            values=("五月四日", "十月九日", "二月二日", "七月七日", "三月一日", "冬月三十", "六月八日", "八月十五"),
            words=("周二", "周五", "周日"),
            word_asked="是星期几来着？",
        ),
        Matter(
            of="{p}开{v}。",
            mine="我开{v}。",
            plainly="我开什么？",
            otherwise="我名下的车是哪款？",
            who_else="{who}名下的车是哪款？",
            values=("红色皮卡", "二手吉普", "黑桑塔纳", "白捷达", "小面包", "银色宝来", "三轮摩托", "蓝甲壳虫"),
            words=("拖拉机", "电动车", "滑板"),
            word_asked="是哪样交通工具来着？",
        ),
        Matter(
            of="{p}讲{v}。",
            mine="我讲{v}。",
            plainly="我讲什么？",
            otherwise="我掌握了哪门外文？",
            who_else="{who}掌握了哪门外文？",
            values=("葡萄牙语", "泰语", "丹麦语", "波斯语", "马耳他语", "捷克语", "越南语", "芬兰语"),
            words=("法语", "德语", "俄语"),
            word_asked="是哪门外文来着？",
        ),
        Matter(
            of="{p}收集{v}。",
            mine="我收集{v}。",
            plainly="我收集什么？",
            otherwise="我的爱好是哪样？",
            who_else="{who}的爱好是哪样？",
            values=("邮票", "旧地图", "火柴盒", "顶针", "化石", "铁皮玩具", "唱片", "明信片"),
            words=("围棋", "书法", "垂钓"),
            word_asked="是哪样爱好来着？",
        ),
        Matter(
            of="{p}只喝{v}。",
            mine="我只喝{v}。",
            plainly="我只喝什么？",
            otherwise="给我点哪样饮品？",
            who_else="给{who}点哪样饮品？",
            values=("乌龙茶", "黑咖啡", "酸梅汤", "黄酒", "豆浆", "苹果醋", "普洱", "苏打水"),
            words=("青绿", "绛紫", "米白"),
            word_asked="是什么颜色来着？",
        ),
    ),
    pointers=(
        Pointer("{p}的电话是{v}。", "电话为{v}的人", ("13800214477", "17155599340", "13679460958", "15555501430")),
        Pointer("{p}是咱们的{v}。", "咱们的{v}", ("房东", "郎中", "管家", "乐团指挥")),
        Pointer("{p}坐{v}室。", "坐{v}室的人", ("417", "B12", "308", "205")),
    ),
    names=("陆遥", "贺敏", "季舒", "邵峰", "霍丹", "栾静", "俞航", "葛青", "祁悦", "卫冬", "尹川", "裘安"),
    noise=(
        "嗯，等等，我其实想问的是：{q}",
        "那个，算了不提天气了，还有一件事，{q}谢谢啦！",
        "呃，让我想想怎么说……{q}死活记不起了。",
        "早！趁我没忘，劳驾告诉我一声，{q}",
        "不对不对，刚才那句作废，脑子乱。{q}",
    ),
)  # fmt: skip

PHRASES: Final[Mapping[str, Phrases]] = {"en": ENGLISH, "zh": CHINESE}
