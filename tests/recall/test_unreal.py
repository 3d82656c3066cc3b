# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""What is only supposed, planned, nearly so, dreamt or said by others is told from what is so, and another person from its speaker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import process_time

import pytest

from mnemic import Memory
from mnemic.recall.unreal import is_unreal
from mnemic.recall.whom_it_is_about import about_another, of_somebody_of_mine

CPU_SECONDS = 5.0
"""Far more than four texts take; as the square of their length they would take minutes."""

UNREAL = """
If I ever move to Lisbon I'll learn to surf.
Were I to quit, I'd open a bakery.
Maybe one day I'll have a goat farm.
Had I studied law, I'd be rich by now.
I sometimes picture myself in a cabin in Norway.
I wish I had a dog called Biscuit.
Should I get the job at Bosch, we'd move to Stuttgart.
What if I just sold everything and lived in a van?
Perhaps I'll become a nurse after all.
Imagine me as a vegetarian.
Knowing me, I'd end up in Iceland with a husky.
Let's say I marry Tom.
I was thinking of moving to Leeds.
We're considering a flat in Bristol.
Next spring I'm moving to Ghent.
I've got half a mind to join the navy.
I'm tempted to buy a Tesla.
I'm about to sign a contract with Shell.
We looked at a house in Bath.
I have an interview at Siemens on Monday.
I'm saving up for a Volvo.
I'm trying to become a paramedic.
I almost moved to Dublin last year.
I was this close to taking the job at Apple.
I came within an inch of buying a Harley.
I had wanted to be a pilot.
I turned down the job at Meta.
I could have been a lawyer.
I was supposed to start at Nokia in May.
I backed out of the deal on the house in Kent.
In my dream I was a surgeon.
Last night in my sleep I was married to a pirate.
In the novel I'm writing I live in Prague.
My character is a vegan vampire from Boston.
In the play I'm a widow from Naples.
For the role-play I work at a bank in Zurich.
In my head I already live in Malaga.
I told everyone as a joke that I'm allergic to Mondays.
I joked that I'd become a Buddhist.
I pretended to be a doctor at the party.
I lied and said I live in Chelsea.
Everyone says I'd make a great teacher.
The form says I live in Slough, which is wrong.
LinkedIn still claims I work at Kodak.
My horoscope says I'll marry a dentist.
People assume I'm Spanish.
A recruiter tried to talk me into joining Amazon.
Rumour has it I'm moving to Glasgow.
要是我住在大理就好了。
假如我当了医生，现在该多累。
要是能养只猫就好了。
万一我搬去成都，你别吃惊。
也许我该去当老师。
下辈子我要当个画家。
恨不得明天就辞职去西藏。
我巴不得住在学校旁边。
等我有钱了，买辆保时捷。
幻想过自己是个飞行员。
改天我也养条狗。
我打算搬去厦门。
下个月我要去上海工作。
我想学日语。
我投了华为的简历。
我们在看苏州的房子。
打算过年后辞职。
快要搬去武汉了。
我们正商量着去昆明定居。
本打算今年考研。
差一点就跟小王结婚了。
我原本要去阿里的，结果没成。
当初想当警察来着。
本来说好去青岛的，黄了。
险些答应了去新加坡的工作。
我曾经想过移民加拿大。
去成都的事泡汤了。
梦见自己成了外科医生。
我写的小说里我住在重庆。
我演的角色是个单身律师。
剧本杀里我是个住在上海的医生。
话剧里我是个寡妇。
开玩笑说我要出家了。
愚人节快乐，我没辞职。
逗你玩呢，我没结婚。
我吹牛说自己在谷歌上班。
我撒谎说我对花生过敏。
我妈老说我该回老家。
听说我要被调去广州。
算命的说我会嫁到国外。
领导问我愿不愿意去深圳。
网上说我已经离婚了，胡扯。
我爸希望我当会计。
我姐劝我别住北京了。
Let's pretend I own a vineyard near Siena.
Assuming the loan is approved, we'd be living in Lyon.
We've put in an offer on a cottage in Devon.
I signed up to be trained as a midwife next autumn.
I have a viewing for a flat in Basel tomorrow.
Thinking about swapping my Golf for a bike.
I withdrew my application at Lego.
I missed out on the post at Oxford.
In the end I didn't take the Audi.
I'm playing a nun called Agnes in the school play.
In my short story I'm an orphan from Minsk.
I tease Mum that I'm marrying a goat.
I like to say that I live at the office.
The letter is addressed to me as a resident of York, a mix-up.
My coach reckons I could go pro.
如果能重来，我一定学建筑。
假设我搬去海口，你来看我吗？
指不定哪天我就去当和尚了。
我们交了定金看中无锡一套房，还没签。
我在等字节的offer。
在排队领养一只猫。
我撤回了京东的申请。
眼看就要签约了，对方反悔了。
我写了篇小说，“我”在敦煌修壁画。
年会小品里我演一个离婚的厨子。
呵呵，我住皇宫呢。
我姑姑非要我回县城。
小李咬定我对猫过敏。
有人传我要去南京分公司。
奶奶一直当我吃素。
"""

PLAIN = """
I live in Lisbon.
We moved to Ghent in March.
I'm a nurse at St Mary's.
I gave up meat in January.
I've been with Bosch for two years.
My dog is called Biscuit.
I'm allergic to penicillin, my doctor says.
My sister and I share a flat in Leeds.
I'm married to Tom.
I drive a Volvo.
My number is 0163 555 2081.
I quit my job last week.
Our new place is in Bristol.
I speak Korean with my gran.
I study law at Leeds.
My boss at Acme is called Rita and I like working there.
As of today I work for Siemens.
I had always wanted a dog and now I have one.
I thought about it for years and finally moved to Porto.
My wife and I bought a house in Kent.
I've gone vegan, as my brother did.
I moved because my sister said so.
We settled in Cork after all.
I'm off coffee these days.
Mum, Dad and I live in Hull.
It finally happened: I'm a qualified vet.
I said yes, so I start at Nokia: I'm employed there as of today.
I take metformin twice a day.
I told my boss I quit, and I did.
I no longer own a car.
我住在成都。
我们三月搬到了苏州。
我是护士。
我一月份戒了烟。
我在华为干了两年了。
我的狗叫豆豆。
医生说我对青霉素过敏。
我和我姐合租在杭州。
我嫁给了小王。
我开比亚迪。
我上周辞职了。
我们新家在武汉。
我跟奶奶说上海话。
我在武大学法律。
从今天起我在西门子上班。
想了好几年，终于搬到大理了。
我和老婆在郑州买了房。
我跟我哥一样开始吃素了。
听我妈的，我搬回老家了。
我妈让我考公务员，我考上了。
我最近不喝咖啡。
爸妈和我住在沈阳。
我每天吃二甲双胍。
我没有车了。
我已经跟小李分手了。
我考上研究生了，在南京。
我换手机了，现在用华为。
I've moved into a flat in Delft with my cousin.
After years of wanting one, I bought a boat.
I took the job at Philips.
The offer was accepted: we live in Devon since May.
My friend and I run a bakery in Bath.
I adopted a puppy called Noodle.
Honestly, I love my new job at the tax office.
My coach and I live in the same street in York.
I became a midwife in June.
We named our son Ruben.
My aunt taught me to cook, so I work as a chef.
I'm the only one at work without an iPhone, I use a Pixel.
My boss promoted me to team lead.
The doctor put me on statins.
Since the divorce I live alone in Hull.
I left Hull for good, Bath is where I live.
I dream of the sea, so I moved to Brighton last year.
We tried for years and now have twins.
My landlord is kind, I rent a room from him in Delft.
我和表妹合租在无锡。
盼了好几年，终于买了船。
医生说我有糖尿病。
我接了字节的offer，已经入职了。
我和朋友在大理开了家面馆。
我领养了一只猫，叫小米。
我真喜欢现在的工作。
六月我当上助产士了。
我给儿子取名叫安安。
姑姑教我做饭，我现在是厨师。
老板升我做了组长。
医生让我吃他汀。
离婚后我一个人住在无锡。
我离开拉萨了，现在住在成都。
我爱大海，去年搬到了青岛。
我们现在有一对双胞胎。
房东人很好，我租了他在宁波的一间房。
我用的是小米手机。
公司搬了，我在新区上班。
我妈和我都住在县城。
"""

OF_OTHERS = """
My boss lives in Dubai.
My ex is a vegan now.
My namesake at work is allergic to nuts.
My colleague Priya got a job at Bosch.
A friend of mine lives in Kyoto.
Our neighbours have three dogs.
My flatmate gave up smoking.
Someone with my name lives two doors down and is a dentist.
Half my class is allergic to peanuts.
Jo from accounts has moved to Perth.
Ada's girlfriend lives in Turin.
My twin works for the council.
我室友搬去苏州了。
同名的那个王丽在腾讯上班。
我前任现在吃素。
我闺蜜嫁到了法国。
隔壁老李换了辆比亚迪。
她哥哥在西门子工作。
我有个朋友住在京都。
我婆婆信佛吃素。
我同桌戒烟了。
小美的男朋友是牙医。
我们班一半人对海鲜过敏。
我徒弟去年结婚了。
The couple next door adopted a beagle.
Two of my colleagues are vegans.
Another Noor, the one in sales, lives in Ghent.
The guy who shares my name is a plumber.
One of the twins became a pilot.
对面那对夫妻养了只柴犬。
我们组两个人吃素。
销售部那个也叫王芳的住在宁波。
我前夫在厦门买了房。
班主任搬到新区了。
"""
ASKED = "Where do I live?"


@pytest.mark.parametrize("text", UNREAL.strip().splitlines())
def test_what_is_not_so_is_told(text: str) -> None:
    assert is_unreal(text)


@pytest.mark.parametrize("text", PLAIN.strip().splitlines())
def test_what_is_plainly_so_of_its_speaker_stays_so(text: str) -> None:
    assert not is_unreal(text)
    assert not about_another(text, frozenset(), ASKED)


@pytest.mark.parametrize("text", OF_OTHERS.strip().splitlines())
def test_what_is_of_somebody_else_is_told(text: str) -> None:
    assert about_another(text, frozenset(), ASKED) or of_somebody_of_mine(text)


@pytest.mark.parametrize(
    ("so", "supposed", "question", "value"),
    [
        ("I live in Leeds.", "I almost moved to Dublin last year.", ASKED, "Leeds"),
        ("I work at Siemens.", "I turned down the job at Meta.", "Where do I work?", "Siemens"),
        ("My partner is Tom.", "I nearly married a man called Serge.", "Who is my partner?", "Tom"),
        ("我住在成都。", "我差点就搬去大连了。", "我住在哪里？", "成都"),
        ("我在华为工作。", "猎头劝我去字节工作。", "我在哪里工作？", "华为"),
        ("我对青霉素过敏。", "我撒谎说我对花生过敏。", "我对什么过敏？", "青霉素"),
    ],
)
def test_what_is_supposed_yields_to_what_is_so(so: str, supposed: str, question: str, value: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        at = datetime(2025, 1, 6, tzinfo=UTC)
        for n, text in enumerate((so, supposed)):
            me.observe(text, said=at + timedelta(days=30 * n))
        memory.flush()
        assert me.ask(question).short == value


def test_a_very_long_sentence_is_looked_through_once() -> None:
    started = process_time()
    for again in ("they said they thought ", "my mum wants ", "i don't know if ", "我妈说我要"):
        is_unreal(again * (200_000 // len(again)))
    assert process_time() - started < CPU_SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "I work on stage lighting.",
        "I said no to drugs and live in Leeds.",
        "I refused to leave Bath.",
        "My nightmare commute: I live in York.",
        "我的系统管理员工作在北京。",
        "我的角色是经理。",
    ],
)
def test_words_of_plays_and_refusals_alone_make_nothing_unreal(text: str) -> None:
    assert not is_unreal(text)


@pytest.mark.parametrize(
    "text", ["Living in the north.", "Work from the office, live in Leeds.", "Our family lives in Leeds."]
)
def test_who_leaves_out_the_i_or_counts_themselves_in_is_not_somebody_else(text: str) -> None:
    assert not about_another(text, frozenset(), "Where do I live?")
