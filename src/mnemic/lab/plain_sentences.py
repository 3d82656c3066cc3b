# ruff: noqa: E501 - tables of templates
"""The plainest sentences there are, made of templates: "I work at Siemens.", "Where does my sister live?".

Sentences by hand are seldom plain, and who learns from them alone takes "I work at Siemens as a tester" for somebody
else's affair. Each template tells what a sentence does (`currency.ACTS`), whom it is about (`currency.SUBJECTS`) and
which matter (`currency.MATTERS`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

FILLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "city": ("Paris", "Bern", "Toronto", "Leeds", "Madrid", "Osaka", "Graz", "Boston", "Nairobi", "Lyon", "Porto", "Dublin"),
    "org": ("Siemens", "Bosch", "the post office", "Google", "a bank", "St Mary's Hospital", "Lidl", "the city library",
            "KPMG", "a small startup", "Airbus", "the university"),
    "job": ("a nurse", "a teacher", "an accountant", "a tester", "a software engineer", "a plumber", "a lawyer",
            "a bus driver", "a chef", "a dentist", "an architect", "a sales manager"),
    "kin": ("my sister", "my brother", "my mother", "my father", "my wife", "my husband", "my boss", "my neighbour",
            "my best friend", "my daughter", "my son", "my cousin"),
    "name": ("Anna", "Tom", "Priya", "Bob", "Maria", "Ken", "Sofia", "Omar", "Lena", "Victor", "Grace", "Ivan"),
    "food": ("nuts", "shellfish", "milk", "eggs", "peanuts", "strawberries", "gluten", "soy", "pollen", "penicillin"),
    "diet": ("vegetarian", "vegan", "gluten-free", "pescatarian", "halal", "kosher"),
    "thing": ("a blue Golf", "a bike", "an iPhone", "a Tesla", "a ThinkPad", "a piano", "a small boat", "a motorbike",
              "a camper van", "an old Volvo", "a Kindle", "a drone"),
    "pet": ("a dog called Rex", "a cat named Mimi", "two rabbits", "a parrot", "a goldfish", "a beagle", "three hens"),
    "liked": ("tea", "jazz", "football", "blue", "chess", "Thai food", "horror films", "hiking", "dark chocolate",
              "black coffee", "tennis", "Agatha Christie"),
    "language": ("French", "Spanish", "Mandarin", "German", "Arabic", "Polish", "Hindi", "Portuguese"),
    "subject": ("physics", "law", "medicine", "economics", "history", "computer science", "biology", "nursing"),
    "school": ("TU Berlin", "Oxford", "the open university", "Yale", "a local college", "ETH Zurich"),
    "illness": ("diabetes", "asthma", "a bad back", "migraines", "high blood pressure", "hay fever", "a broken wrist"),
    "number": ("0171 5550199", "555-0134", "07700 900461", "+49 30 1234567", "212 555 0187"),
    "mail": ("ada@example.org", "tom.k@example.com", "jo77@example.net", "lee@example.org"),
    "street": ("12 Mill Lane", "Hauptstrasse 5", "221 Baker Street", "9 Rue Cler", "40 Elm Road"),
    "day": ("3 May", "Monday", "12 October", "next Friday", "the 21st", "Tuesday at nine", "1 January", "Thursday"),
    "hour": ("six", "7:30", "half past eight", "nine", "quarter to seven"),
    "trip": ("visit Japan", "run a marathon", "learn the guitar", "repaint the kitchen", "write a book", "go to Rome"),
    "full": ("Ada Miller", "Jon", "Maria Lopez", "Samantha", "Lee Wong", "Alexander"),
}  # fmt: skip

CHINESE_FILLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "city": ("北京", "上海", "杭州", "成都", "深圳", "西安", "厦门", "东京", "南京", "武汉", "青岛", "巴黎"),
    "org": ("华为", "腾讯", "一家银行", "邮局", "第一医院", "小米", "市图书馆", "一家创业公司", "学校", "比亚迪"),
    "job": ("护士", "老师", "会计", "程序员", "律师", "司机", "厨师", "医生", "建筑师", "销售", "测试工程师"),
    "kin": ("我姐姐", "我弟弟", "我妈", "我爸", "我老婆", "我老公", "我老板", "我邻居", "我朋友", "我女儿", "我儿子", "我表哥"),
    "name": ("小红", "王伟", "李娜", "老张", "阿明", "陈静", "刘洋", "小周", "丽丽", "大勇"),
    "food": ("花生", "海鲜", "牛奶", "鸡蛋", "草莓", "花粉", "芒果", "青霉素", "大豆"),
    "diet": ("素", "全素", "清真餐", "低糖餐", "无麸质的东西"),
    "thing": ("一辆蓝色的大众", "一辆自行车", "一部苹果手机", "一辆特斯拉", "一台笔记本", "一架钢琴", "一辆电动车", "一台相机"),
    "pet": ("一只叫旺财的狗", "一只猫叫咪咪", "两只兔子", "一只鹦鹉", "一缸金鱼", "一只柯基"),
    "liked": ("喝茶", "爵士乐", "足球", "蓝色", "下棋", "川菜", "恐怖片", "爬山", "黑巧克力", "美式咖啡", "打羽毛球", "金庸的书"),
    "language": ("法语", "西班牙语", "英语", "德语", "日语", "粤语", "韩语", "俄语"),
    "subject": ("物理", "法律", "医学", "经济", "历史", "计算机", "生物", "护理"),
    "school": ("清华", "复旦", "浙大", "一所夜校", "武汉大学", "电大"),
    "illness": ("糖尿病", "哮喘", "腰疼的毛病", "偏头痛", "高血压", "鼻炎", "胃病"),
    "number": ("13800138000", "010-5550199", "18612345678", "021-6666 7777"),
    "mail": ("ada@example.org", "wang77@example.com", "li@example.net"),
    "street": ("人民路12号", "中山路5号3单元", "建国门外大街1号", "解放路88号"),
    "day": ("五月三号", "星期一", "十月十二号", "下周五", "二十一号", "周二九点", "元旦", "星期四"),
    "hour": ("六点", "七点半", "八点", "九点", "六点一刻"),
    "trip": ("去日本玩", "跑马拉松", "学吉他", "刷厨房的墙", "写本书", "去罗马"),
    "full": ("王小明", "李思雨", "张伟", "陈晓", "赵一鸣"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlainMatter:
    """What is said of one matter: predicates by what they do, for "I" and for somebody else.

    Attributes:
        own: Predicates behind "I", and whole sentences that begin with a capital.
        of: The same behind somebody else; `{their}` is his, her or their name's.
    """

    attribute: str
    own: Mapping[str, Sequence[str]]
    of: Mapping[str, Sequence[str]]


ENGLISH: Final = (
    PlainMatter(
        "residence",
        {
            "state": ("live in {city}", "am from {city} and still live there", "live at {street}", "have a flat in {city}",
                      "am based in {city}", "rent a room in {city}", "My home is in {city}", "My address is {street}",
                      "The city I live in is {city}", "live in {city} with {kin}"),
            "change": ("moved to {city}", "just moved from {city} to {city}", "am living in {city} now", "have moved back to {city}",
                       "My new address is {street}", "relocated to {city} last month", "bought a house in {city}"),
            "end": ("moved out of {city}", "left {city} for good", "no longer live in {city}", "gave up my flat in {city}"),
            "negate": ("don't live in {city}", "have never lived in {city}", "am not based in {city}"),
            "wish": ("want to live in {city}", "would love to move to {city}", "dream of a house in {city}"),
            "suppose": ("might move to {city} one day", "If I lived in {city}, I would walk more", "Maybe I will move to {city}"),
            "correct": ("live in {city}, not in {city}", "Sorry, I meant {city}: that is where I live"),
            "ask": ("Where do I live?", "Which city do I live in?", "What is my address?", "Do I live in {city}?",
                    "Where is my home?", "Where do I live now?", "Where did I live before?"),
        },
        {
            "state": ("lives in {city}", "is from {city} and still lives there", "has a flat in {city}", "is based in {city}"),
            "change": ("moved to {city}", "lives in {city} now", "relocated to {city} last month"),
            "end": ("moved out of {city}", "no longer lives in {city}"),
            "negate": ("doesn't live in {city}", "has never lived in {city}"),
            "wish": ("wants to live in {city}", "would love to move to {city}"),
            "suppose": ("might move to {city} one day",),
            "ask": ("Where does {who} live?", "Which city does {who} live in?", "Does {who} live in {city}?"),
        },
    ),
    PlainMatter(
        "work",
        {
            "state": ("work at {org}", "work at {org} as {job}", "work as {job}", "am {job}", "am {job} at {org}", "work for {org}",
                      "am working at {org}", "have a job at {org}", "My job is at {org}", "My employer is {org}",
                      "am employed by {org}", "earn my living as {job}", "run a small shop in {city}", "My job title is {job}"),
            "change": ("started at {org} on Monday", "got a new job at {org}", "work at {org} now", "quit {org} and started at {org}",
                       "switched from {org} to {org}", "was promoted, I am {job} now", "changed jobs, it's {org} now"),
            "end": ("quit my job at {org}", "no longer work at {org}", "was laid off by {org}", "retired from {org}", "left {org}"),
            "negate": ("don't work at {org}", "have never worked for {org}", "am not {job}"),
            "wish": ("want to work at {org}", "would love to be {job}", "hope to get a job at {org}"),
            "suppose": ("might apply at {org}", "If I worked at {org}, I would earn more", "Maybe I will become {job}"),
            "correct": ("work at {org}, not at {org}", "Actually I am {job}, not {job}"),
            "ask": ("Where do I work?", "What do I do for a living?", "Who is my employer?", "What is my job?", "Do I still work at {org}?",
                    "Where do I work now?", "Where did I work before?", "Which company do I work for?"),
        },
        {
            "state": ("works at {org}", "works as {job}", "is {job}", "is {job} at {org}", "works for {org}", "has a job at {org}",
                      "works at {org} as {job}"),
            "change": ("started at {org} on Monday", "got a new job at {org}", "works at {org} now"),
            "end": ("quit at {org}", "no longer works at {org}", "was laid off by {org}", "retired from {org}"),
            "negate": ("doesn't work at {org}", "is not {job}"),
            "wish": ("wants to work at {org}", "would love to be {job}"),
            "suppose": ("might apply at {org}",),
            "ask": ("Where does {who} work?", "What does {who} do for a living?", "Is {who} {job}?"),
        },
    ),
    PlainMatter(
        "relation",
        {
            "state": ("am married to {name}", "am single", "have a girlfriend, {name}", "have a boyfriend called {name}", "am divorced",
                      "have two children", "have one brother", "am engaged to {name}", "live with {name}, my partner",
                      "My partner is {name}", "have been with {name} for six years"),
            "change": ("got married to {name}", "am dating {name} now", "got engaged to {name}", "became a father", "and {name} are together now"),
            "end": ("broke up with {name}", "and {name} split up", "am no longer with {name}", "and {name} got divorced"),
            "negate": ("am not married", "don't have children", "have no siblings", "am not with {name}"),
            "wish": ("want to get married", "would love to have children"),
            "suppose": ("might propose to {name}", "If I were married, I would move"),
            "ask": ("Am I married?", "Who is my partner?", "Do I have children?", "Who am I married to?", "Am I still with {name}?"),
        },
        {
            "state": ("is married to {name}", "is single", "has two children", "has a boyfriend called {name}", "is divorced"),
            "change": ("got married to {name}", "is dating {name} now", "got engaged"),
            "end": ("broke up with {name}", "and {name} split up"),
            "negate": ("is not married", "has no children"),
            "wish": ("wants to get married",),
            "ask": ("Is {who} married?", "Who is {who} married to?", "Does {who} have children?"),
        },
    ),
    PlainMatter(
        "diet",
        {
            "state": ("am {diet}", "eat {diet}", "eat meat", "don't eat meat", "only eat fish on Fridays", "follow a {diet} diet",
                      "drink two coffees a day", "have porridge for breakfast", "My diet is {diet}"),
            "change": ("am {diet} now", "went {diet} in May", "started to eat meat again", "switched to oat milk"),
            "end": ("stopped being {diet}", "am no longer {diet}", "gave up coffee", "quit sugar"),
            "negate": ("am not {diet}", "don't drink alcohol", "never eat breakfast"),
            "wish": ("want to eat less meat", "would like to go {diet}"),
            "suppose": ("might go {diet} one day", "Maybe I will try to be {diet}"),
            "ask": ("Am I {diet}?", "What do I eat?", "Do I eat meat?", "Do I drink coffee?", "What is my diet?"),
        },
        {
            "state": ("is {diet}", "eats meat", "doesn't eat meat", "drinks a lot of coffee"),
            "change": ("is {diet} now", "went {diet} in May"),
            "end": ("is no longer {diet}", "gave up coffee"),
            "negate": ("is not {diet}", "doesn't drink alcohol"),
            "ask": ("Is {who} {diet}?", "What does {who} eat?", "Does {who} eat meat?"),
        },
    ),
    PlainMatter(
        "allergy",
        {
            "state": ("am allergic to {food}", "have an allergy to {food}", "have a {food} allergy", "can't have {food}, it makes me ill",
                      "My allergy is {food}", "am also allergic to {food}", "react badly to {food}"),
            "change": ("developed an allergy to {food}", "am allergic to {food} now"),
            "end": ("am no longer allergic to {food}", "outgrew my allergy to {food}"),
            "negate": ("am not allergic to {food}", "have no allergies"),
            "ask": ("What am I allergic to?", "Am I allergic to {food}?", "Which allergies do I have?", "Do I have any allergies?"),
        },
        {
            "state": ("is allergic to {food}", "has a {food} allergy", "can't have {food}"),
            "end": ("is no longer allergic to {food}",),
            "negate": ("is not allergic to {food}", "has no allergies"),
            "ask": ("What is {who} allergic to?", "Is {who} allergic to {food}?"),
        },
    ),
    PlainMatter(
        "possession",
        {
            "state": ("have {thing}", "own {thing}", "drive {thing}", "have {pet}", "My car is {thing}", "use {thing}", "keep {pet}",
                      "My phone is {thing}", "have {pet} at home", "still have {thing}"),
            "change": ("bought {thing}", "got {pet}", "have a new phone, {thing}", "adopted {pet}", "traded it in for {thing}", "drive {thing} now"),
            "end": ("sold {thing}", "no longer have {thing}", "lost {thing}", "gave away {thing}", "My dog died"),
            "negate": ("don't have {thing}", "have no pets", "don't own {thing}"),
            "wish": ("want {thing}", "would love to have {pet}"),
            "suppose": ("might buy {thing}", "If I had {thing}, I would travel more"),
            "ask": ("What car do I drive?", "Do I have a pet?", "What is my dog called?", "Do I own {thing}?", "Which phone do I have?",
                    "What pets do I have?", "Do I still have {thing}?"),
        },
        {
            "state": ("has {thing}", "drives {thing}", "has {pet}", "owns {thing}"),
            "change": ("bought {thing}", "got {pet}"),
            "end": ("sold {thing}", "no longer has {thing}"),
            "negate": ("doesn't have {thing}", "has no pets"),
            "wish": ("wants {thing}",),
            "ask": ("What car does {who} drive?", "Does {who} have a pet?", "Does {who} own {thing}?"),
        },
    ),
    PlainMatter(
        "contact",
        {
            "state": ("My phone number is {number}", "My email is {mail}", "My number is {number}", "can be reached at {number}",
                      "You can write to me at {mail}", "My work email is {mail}"),
            "change": ("My new number is {number}", "My email changed to {mail}", "have a new phone number, {number}"),
            "end": ("don't use {mail} any more", "My old number {number} is dead"),
            "correct": ("My number ends in 7, not 9", "The email is {mail}, not {mail}"),
            "ask": ("What is my phone number?", "What is my email?", "How can I be reached?", "What's my number?"),
        },
        {
            "state": ("can be reached at {number}", "has the number {number}", "has the email {mail}"),
            "change": ("has a new number, {number}",),
            "ask": ("What is {who}'s phone number?", "What is the email of {who}?"),
        },
    ),
    PlainMatter(
        "preference",
        {
            "state": ("like {liked}", "love {liked}", "prefer {liked}", "My favourite is {liked}", "enjoy {liked}", "am into {liked}",
                      "My favourite thing is {liked}", "am a fan of {liked}", "My hobby is {liked}", "hate {liked}"),
            "change": ("prefer {liked} now", "got into {liked} lately", "My favourite is {liked} these days"),
            "end": ("don't like {liked} any more", "am over {liked}", "stopped liking {liked}"),
            "negate": ("don't like {liked}", "never liked {liked}"),
            "ask": ("What do I like?", "What is my favourite colour?", "Do I like {liked}?", "What are my hobbies?", "What do I prefer?"),
        },
        {
            "state": ("likes {liked}", "loves {liked}", "prefers {liked}", "is a fan of {liked}", "hates {liked}"),
            "change": ("prefers {liked} now",),
            "end": ("doesn't like {liked} any more",),
            "negate": ("doesn't like {liked}",),
            "ask": ("What does {who} like?", "Does {who} like {liked}?"),
        },
    ),
    PlainMatter(
        "plan",
        {
            "state": ("am going to {trip} in June", "plan to {trip}", "will {trip} next year", "have a flight to {city} on {day}",
                      "am travelling to {city} on {day}"),
            "change": ("moved the trip to {day}", "am going to {city} instead", "changed my plan, now I will {trip}"),
            "end": ("cancelled my trip to {city}", "gave up the plan to {trip}"),
            "negate": ("won't {trip} this year", "am not going to {city}"),
            "wish": ("want to {trip}", "would love to {trip} one day", "hope to {trip}"),
            "suppose": ("might {trip}", "Maybe I will {trip} one day", "If I have time, I will {trip}"),
            "ask": ("What are my plans?", "Where am I going on {day}?", "When do I fly to {city}?", "Am I going to {trip}?"),
        },
        {
            "state": ("is going to {trip} in June", "plans to {trip}", "is flying to {city} on {day}"),
            "end": ("cancelled the trip to {city}",),
            "wish": ("wants to {trip}",),
            "ask": ("What are the plans of {who}?", "When does {who} fly to {city}?"),
        },
    ),
    PlainMatter(
        "name",
        {
            "state": ("My name is {full}", "am {full}", "am called {full}", "My surname is {full}", "My nickname is {full}", "go by {full}"),
            "change": ("My name is {full} now, I married", "go by {full} these days"),
            "correct": ("My name is {full}, not {full}", "It's spelt {full}"),
            "ask": ("What is my name?", "What am I called?", "Who am I?", "What's my surname?"),
        },
        {
            "state": ("is called {full}", "goes by {full}"),
            "ask": ("What is {who} called?", "What is the name of {who}?"),
        },
    ),
    PlainMatter(
        "study",
        {
            "state": ("study {subject} at {school}", "am a student of {subject}", "go to {school}", "am doing a degree in {subject}",
                      "My major is {subject}", "am taking a course in {subject}", "have a degree in {subject}"),
            "change": ("switched from {subject} to {subject}", "started {subject} at {school}", "My major is {subject} now"),
            "end": ("dropped out of {school}", "graduated from {school}", "no longer study {subject}", "finished my degree in {subject}"),
            "negate": ("don't study {subject}", "never went to {school}"),
            "wish": ("want to study {subject}",),
            "suppose": ("might study {subject}",),
            "ask": ("What do I study?", "Where do I study?", "What is my major?", "Which university do I go to?"),
        },
        {
            "state": ("studies {subject} at {school}", "goes to {school}", "is a student of {subject}"),
            "change": ("switched to {subject}",),
            "end": ("dropped out of {school}", "graduated from {school}"),
            "ask": ("What does {who} study?", "Where does {who} study?"),
        },
    ),
    PlainMatter(
        "health",
        {
            "state": ("have {illness}", "suffer from {illness}", "take a pill for {illness} every morning", "am 1.80 m tall",
                      "My blood type is 0 positive", "weigh 70 kilos", "wear glasses"),
            "change": ("was diagnosed with {illness}", "take a new medicine for {illness}"),
            "end": ("got over {illness}", "stopped taking pills for {illness}", "quit smoking"),
            "negate": ("don't have {illness}", "don't smoke"),
            "ask": ("Do I have {illness}?", "What is my blood type?", "How tall am I?", "Which medicine do I take?", "Do I smoke?"),
        },
        {
            "state": ("has {illness}", "suffers from {illness}", "takes a pill for {illness}"),
            "change": ("was diagnosed with {illness}",),
            "end": ("got over {illness}", "quit smoking"),
            "ask": ("Does {who} have {illness}?", "What illness does {who} have?"),
        },
    ),
    PlainMatter(
        "language",
        {
            "state": ("speak {language}", "speak {language} and {language}", "am learning {language}", "My native language is {language}",
                      "understand some {language}", "am fluent in {language}"),
            "change": ("started learning {language}", "switched from {language} to {language}"),
            "end": ("gave up {language}", "stopped learning {language}"),
            "negate": ("don't speak {language}",),
            "wish": ("want to learn {language}",),
            "ask": ("Which languages do I speak?", "Do I speak {language}?", "What am I learning?", "What is my native language?"),
        },
        {
            "state": ("speaks {language}", "is learning {language}", "is fluent in {language}"),
            "negate": ("doesn't speak {language}",),
            "ask": ("Which languages does {who} speak?", "Does {who} speak {language}?"),
        },
    ),
    PlainMatter(
        "schedule",
        {
            "state": ("get up at {hour}", "have the dentist on {day}", "go to the gym on {day}", "start work at {hour}", "have a meeting on {day}",
                      "My birthday is {day}", "My appointment is on {day}", "go to bed at {hour}", "have choir on {day}"),
            "change": ("get up at {hour} now", "My appointment moved to {day}", "moved the gym to {day}"),
            "end": ("cancelled the dentist", "no longer go to the gym on {day}"),
            "ask": ("When do I get up?", "When is my birthday?", "When is my dentist appointment?", "When do I go to the gym?",
                    "What do I have on {day}?"),
        },
        {
            "state": ("gets up at {hour}", "has the dentist on {day}", "was born on {day}", "starts work at {hour}"),
            "change": ("gets up at {hour} now",),
            "ask": ("When does {who} get up?", "When is {who}'s birthday?"),
        },
    ),
)  # fmt: skip

CHINESE: Final = (
    PlainMatter(
        "residence",
        {
            "state": ("住在{city}", "家在{city}", "住{street}", "在{city}租了房", "我的地址是{street}", "和{kin}一起住在{city}", "现在住在{city}", "人在{city}"),
            "change": ("搬到{city}了", "从{city}搬到了{city}", "搬家了,现在住{street}", "回{city}住了", "在{city}买了房,搬过去了", "我的新地址是{street}"),
            "end": ("从{city}搬走了", "不住在{city}了", "离开{city}了", "退了{city}的房子"),
            "negate": ("不住在{city}", "没住过{city}"),
            "wish": ("想搬去{city}", "好想住在{city}"),
            "suppose": ("可能会搬去{city}", "要是我住在{city}就好了", "说不定哪天就搬去{city}"),
            "correct": ("住的是{city},不是{city}", "说错了,我住在{city}"),
            "ask": ("我住在哪里?", "我家在哪个城市?", "我的地址是什么?", "我住在{city}吗?", "我现在住哪儿?", "我以前住哪儿?", "我住哪"),
        },
        {
            "state": ("住在{city}", "家在{city}", "在{city}租了房"),
            "change": ("搬到{city}了", "现在住{city}了"),
            "end": ("从{city}搬走了", "不住在{city}了"),
            "negate": ("不住在{city}",),
            "wish": ("想搬去{city}",),
            "suppose": ("可能会搬去{city}",),
            "ask": ("{who}住在哪里?", "{who}家在哪个城市?", "{who}住在{city}吗?"),
        },
    ),
    PlainMatter(
        "work",
        {
            "state": ("在{org}上班", "在{org}工作", "是{job}", "在{org}当{job}", "做{job}的", "的工作是{job}", "现在在{org}上班", "在{city}开了家小店", "我的职业是{job}"),
            "change": ("换工作了,现在在{org}", "从{org}跳槽到{org}", "下周一去{org}上班", "刚入职{org}", "升职了,现在是{job}", "现在改做{job}了"),
            "end": ("从{org}辞职了", "不在{org}干了", "被{org}裁了", "退休了", "离开{org}了"),
            "negate": ("不在{org}上班", "不是{job}", "没在{org}干过"),
            "wish": ("想去{org}上班", "希望当{job}"),
            "suppose": ("可能去{org}面试", "要是我在{org}上班就好了"),
            "correct": ("是在{org}上班,不是{org}", "说错了,我是{job}"),
            "ask": ("我在哪里上班?", "我是做什么工作的?", "我在哪家公司?", "我还在{org}上班吗?", "我现在在哪工作?", "我以前在哪上班?", "我的职业是什么?"),
        },
        {
            "state": ("在{org}上班", "在{org}工作", "是{job}", "在{org}当{job}"),
            "change": ("换工作了,现在在{org}", "刚入职{org}"),
            "end": ("从{org}辞职了", "不在{org}干了", "退休了"),
            "negate": ("不在{org}上班", "不是{job}"),
            "wish": ("想去{org}上班",),
            "ask": ("{who}在哪里上班?", "{who}是做什么的?", "{who}是{job}吗?"),
        },
    ),
    PlainMatter(
        "relation",
        {
            "state": ("跟{name}结婚了", "单身", "有女朋友,叫{name}", "有男朋友,叫{name}", "离异", "有两个孩子", "有一个哥哥", "跟{name}在一起六年了", "我对象是{name}"),
            "change": ("跟{name}领证了", "跟{name}在一起了", "订婚了", "当爸爸了"),
            "end": ("跟{name}分手了", "跟{name}离婚了", "不跟{name}在一起了"),
            "negate": ("没结婚", "没有孩子", "没有兄弟姐妹", "没对象"),
            "wish": ("想结婚", "想要个孩子"),
            "suppose": ("可能会跟{name}求婚",),
            "ask": ("我结婚了吗?", "我对象是谁?", "我有孩子吗?", "我还跟{name}在一起吗?", "我老婆是谁?"),
        },
        {
            "state": ("跟{name}结婚了", "单身", "有两个孩子", "有男朋友"),
            "change": ("跟{name}领证了", "订婚了"),
            "end": ("跟{name}分手了", "离婚了"),
            "negate": ("没结婚", "没有孩子"),
            "ask": ("{who}结婚了吗?", "{who}有孩子吗?", "{who}的对象是谁?"),
        },
    ),
    PlainMatter(
        "diet",
        {
            "state": ("吃{diet}", "不吃肉", "吃肉", "每天喝两杯咖啡", "早饭吃粥", "平时吃得清淡", "不吃辣"),
            "change": ("现在吃{diet}了", "改吃{diet}了", "又开始吃肉了", "改喝豆浆了"),
            "end": ("不吃{diet}了", "戒咖啡了", "戒糖了"),
            "negate": ("不吃{diet}", "不喝酒", "从来不吃早饭"),
            "wish": ("想少吃点肉", "想试试吃{diet}"),
            "suppose": ("可能以后吃{diet}",),
            "ask": ("我吃肉吗?", "我平时吃什么?", "我喝咖啡吗?", "我吃{diet}吗?", "我有什么忌口?"),
        },
        {
            "state": ("吃{diet}", "不吃肉", "很爱喝咖啡"),
            "change": ("现在吃{diet}了",),
            "end": ("戒咖啡了", "不吃{diet}了"),
            "negate": ("不喝酒",),
            "ask": ("{who}吃肉吗?", "{who}平时吃什么?"),
        },
    ),
    PlainMatter(
        "allergy",
        {
            "state": ("对{food}过敏", "也对{food}过敏", "吃{food}会过敏", "碰不得{food},一碰就起疹子", "有{food}过敏"),
            "change": ("查出来对{food}过敏", "现在对{food}过敏了"),
            "end": ("对{food}不过敏了", "{food}过敏好了"),
            "negate": ("对{food}不过敏", "没有过敏"),
            "ask": ("我对什么过敏?", "我对{food}过敏吗?", "我有哪些过敏?", "我有没有过敏?"),
        },
        {
            "state": ("对{food}过敏", "吃{food}会过敏"),
            "end": ("对{food}不过敏了",),
            "negate": ("对{food}不过敏",),
            "ask": ("{who}对什么过敏?", "{who}对{food}过敏吗?"),
        },
    ),
    PlainMatter(
        "possession",
        {
            "state": ("有{thing}", "开{thing}", "养了{pet}", "我的车是{thing}", "用的是{thing}", "家里有{pet}", "我的手机是{thing}"),
            "change": ("买了{thing}", "刚养了{pet}", "换了{thing}", "新买了{thing}", "领养了{pet}", "现在开{thing}"),
            "end": ("把{thing}卖了", "没有{thing}了", "丢了{thing}", "把{pet}送人了", "我的狗死了"),
            "negate": ("没有{thing}", "不养宠物", "没车"),
            "wish": ("想买{thing}", "想养{pet}"),
            "suppose": ("可能会买{thing}", "要是有{thing}就好了"),
            "ask": ("我开什么车?", "我养宠物吗?", "我的狗叫什么?", "我有{thing}吗?", "我用什么手机?", "我养了什么?", "我还有{thing}吗?"),
        },
        {
            "state": ("有{thing}", "开{thing}", "养了{pet}"),
            "change": ("买了{thing}", "养了{pet}"),
            "end": ("把{thing}卖了",),
            "negate": ("没有{thing}", "不养宠物"),
            "wish": ("想买{thing}",),
            "ask": ("{who}开什么车?", "{who}养宠物吗?", "{who}有{thing}吗?"),
        },
    ),
    PlainMatter(
        "contact",
        {
            "state": ("我的电话是{number}", "我的邮箱是{mail}", "我手机号{number}", "我的微信是{mail}", "可以打{number}找我"),
            "change": ("我换号了,新号是{number}", "我的邮箱改成{mail}了", "我的新电话是{number}"),
            "end": ("不用{mail}这个邮箱了", "我原来的号{number}停了"),
            "correct": ("我的号尾数是7不是9", "邮箱是{mail},不是{mail}"),
            "ask": ("我的电话是多少?", "我的邮箱是什么?", "怎么联系我?", "我手机号多少"),
        },
        {
            "state": ("的电话是{number}", "的邮箱是{mail}", "手机号{number}"),
            "change": ("换号了,新号是{number}",),
            "ask": ("{who}的电话是多少?", "{who}的邮箱是什么?"),
        },
    ),
    PlainMatter(
        "preference",
        {
            "state": ("喜欢{liked}", "爱{liked}", "最喜欢{liked}", "更喜欢{liked}", "我的爱好是{liked}", "是{liked}迷", "讨厌{liked}", "特别喜欢{liked}"),
            "change": ("现在更喜欢{liked}了", "最近迷上{liked}了", "现在最爱{liked}"),
            "end": ("不喜欢{liked}了", "对{liked}没兴趣了"),
            "negate": ("不喜欢{liked}", "从来不喜欢{liked}"),
            "ask": ("我喜欢什么?", "我最喜欢什么颜色?", "我喜欢{liked}吗?", "我有什么爱好?", "我爱喝什么?"),
        },
        {
            "state": ("喜欢{liked}", "最爱{liked}", "讨厌{liked}"),
            "change": ("现在更喜欢{liked}了",),
            "end": ("不喜欢{liked}了",),
            "negate": ("不喜欢{liked}",),
            "ask": ("{who}喜欢什么?", "{who}喜欢{liked}吗?"),
        },
    ),
    PlainMatter(
        "plan",
        {
            "state": ("打算六月{trip}", "计划{trip}", "明年要{trip}", "{day}飞{city}", "{day}去{city}出差"),
            "change": ("把行程改到{day}了", "改去{city}了", "计划变了,要{trip}"),
            "end": ("取消了去{city}的行程", "不打算{trip}了"),
            "negate": ("今年不{trip}", "不去{city}"),
            "wish": ("想{trip}", "希望有一天能{trip}", "好想{trip}"),
            "suppose": ("可能会{trip}", "要是有时间就{trip}", "说不定哪天{trip}"),
            "ask": ("我有什么计划?", "我{day}去哪儿?", "我什么时候飞{city}?", "我要{trip}吗?"),
        },
        {
            "state": ("打算{trip}", "{day}飞{city}"),
            "end": ("取消了去{city}的行程",),
            "wish": ("想{trip}",),
            "ask": ("{who}有什么计划?", "{who}什么时候飞{city}?"),
        },
    ),
    PlainMatter(
        "name",
        {
            "state": ("叫{full}", "我的名字是{full}", "是{full}", "姓王", "小名叫{full}", "大家都叫我{full}"),
            "change": ("改名了,现在叫{full}",),
            "correct": ("叫{full},不是{full}", "名字写错了,是{full}"),
            "ask": ("我叫什么?", "我的名字是什么?", "我是谁?", "我姓什么?"),
        },
        {
            "state": ("叫{full}", "的名字是{full}"),
            "ask": ("{who}叫什么?", "{who}的名字是什么?"),
        },
    ),
    PlainMatter(
        "study",
        {
            "state": ("在{school}读{subject}", "是学{subject}的", "在{school}上学", "的专业是{subject}", "在上{subject}课", "我的专业是{subject}"),
            "change": ("转到{subject}专业了", "开始在{school}读{subject}", "现在改学{subject}了"),
            "end": ("从{school}退学了", "从{school}毕业了", "不学{subject}了"),
            "negate": ("不是学{subject}的", "没上过{school}"),
            "wish": ("想学{subject}",),
            "suppose": ("可能去读{subject}",),
            "ask": ("我学什么专业?", "我在哪里读书?", "我的专业是什么?", "我在哪个学校?"),
        },
        {
            "state": ("在{school}读{subject}", "是学{subject}的", "在{school}上学"),
            "end": ("从{school}毕业了",),
            "ask": ("{who}学什么专业?", "{who}在哪里读书?"),
        },
    ),
    PlainMatter(
        "health",
        {
            "state": ("有{illness}", "一直有{illness}", "每天早上吃药治{illness}", "身高一米八", "我的血型是O型", "体重七十公斤", "戴眼镜"),
            "change": ("查出{illness}", "换了治{illness}的药"),
            "end": ("{illness}好了", "停药了", "戒烟了"),
            "negate": ("没有{illness}", "不抽烟"),
            "ask": ("我有{illness}吗?", "我是什么血型?", "我多高?", "我吃什么药?", "我抽烟吗?"),
        },
        {
            "state": ("有{illness}", "每天吃药治{illness}"),
            "change": ("查出{illness}",),
            "end": ("{illness}好了", "戒烟了"),
            "ask": ("{who}有{illness}吗?", "{who}得了什么病?"),
        },
    ),
    PlainMatter(
        "language",
        {
            "state": ("会说{language}", "会{language}和{language}", "在学{language}", "我的母语是{language}", "懂一点{language}", "{language}很流利"),
            "change": ("开始学{language}了", "改学{language}了"),
            "end": ("不学{language}了",),
            "negate": ("不会{language}",),
            "wish": ("想学{language}",),
            "ask": ("我会说哪些语言?", "我会{language}吗?", "我在学什么语言?", "我的母语是什么?"),
        },
        {
            "state": ("会说{language}", "在学{language}"),
            "negate": ("不会{language}",),
            "ask": ("{who}会说哪些语言?", "{who}会{language}吗?"),
        },
    ),
    PlainMatter(
        "schedule",
        {
            "state": ("每天{hour}起床", "{day}看牙", "{day}去健身房", "{hour}上班", "{day}开会", "我的生日是{day}", "我的预约在{day}", "{hour}睡觉"),
            "change": ("现在{hour}起床了", "我的预约改到{day}了", "健身改到{day}了"),
            "end": ("取消了看牙", "{day}不去健身房了"),
            "ask": ("我几点起床?", "我生日是哪天?", "我什么时候看牙?", "我哪天去健身房?", "我{day}有什么事?"),
        },
        {
            "state": ("每天{hour}起床", "{day}看牙", "的生日是{day}", "{hour}上班"),
            "change": ("现在{hour}起床了",),
            "ask": ("{who}几点起床?", "{who}生日是哪天?"),
        },
    ),
)  # fmt: skip

_AROUND: Final = (
    *("{s}.", "{s}.", "{s}.", "{s}", "{l}", "By the way, {m}.", "{s}, by the way.", "hey, {m}", "{s} these days."),
    *("Just so you know, {m}.", "{s}, in case you need it.", "{s}!"),
)
_AROUND_CHINESE: Final = (
    *("{s}。", "{s}。", "{s}", "对了,{s}。", "跟你说一声,{s}", "{s}哦", "{s}呢。", "{s}啦", "那个,{s}"),
)


def plain_sentences(seed: int = 0, times: int = 2) -> Iterator[dict[str, str]]:
    """Every template so many times, with other fillings each time, as labelled rows of the sentences' fixtures."""
    chance = random.Random(seed)  # noqa: S311 - which filling stands where
    for lang, matters in (("en", ENGLISH), ("zh", CHINESE)):
        for matter in matters:
            for about, predicates in (("speaker", matter.own), ("other", matter.of)):
                for act, templates in predicates.items():
                    for template in templates:
                        for _ in range(times):
                            text = _written(lang, template, act, about, chance)
                            yield {
                                "lang": lang,
                                "text": text,
                                "act": act,
                                "about": about,
                                "attribute": matter.attribute,
                            }


def _written(lang: str, template: str, act: str, about: str, chance: random.Random) -> str:
    who = _somebody(lang, chance)
    if act == "ask":
        return _filled(lang, template.replace("{who}", who), chance)
    whole = template.startswith(("我", "可以")) or template[0].isupper()
    subject = ("I" if lang == "en" else "我") if about == "speaker" else who
    between = " " if lang == "en" else ""
    said = _filled(lang, template if whole else f"{subject}{between}{template}", chance)
    said = said[0].upper() + said[1:]
    if lang == "zh":
        return chance.choice(_AROUND_CHINESE).format(s=said)
    said = _contracted(said, chance)
    begins_small = said if said.startswith(("I ", "I'")) or about == "other" else said[0].lower() + said[1:]
    return chance.choice(_AROUND).format(s=said, m=begins_small, l=said.lower())


def _contracted(said: str, chance: random.Random) -> str:
    return said.replace("I am ", "I'm ", 1) if chance.random() < 0.6 else said


def _somebody(lang: str, chance: random.Random) -> str:
    fillings = FILLINGS if lang == "en" else CHINESE_FILLINGS
    kin, name = chance.choice(fillings["kin"]), chance.choice(fillings["name"])
    both = f"{kin} {name}" if lang == "en" else f"{kin}{name}"
    return chance.choice((kin, name, both))


def _filled(lang: str, template: str, chance: random.Random) -> str:
    fillings = FILLINGS if lang == "en" else CHINESE_FILLINGS
    for name, values in fillings.items():
        while f"{{{name}}}" in template:
            template = template.replace(f"{{{name}}}", chance.choice(values), 1)
    return template
