"""What people state about themselves, and what they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.clock import micros, moment
from mnemic.core.timex import parse_said
from mnemic.extract.chinese import bare_place
from mnemic.extract.patterns import SlotAct
from mnemic.extract.phrasing import phrased, shown_value
from mnemic.extract.slots import birthday, slots

SAID = micros(parse_said("2024-05-20T12:00:00+00:00", zone=None)[0])


def stated(text: str) -> list[tuple[str, str | int]]:
    return [(found.slot, found.value) for found in slots(text, "user", SAID) if found.act is SlotAct.STATES]


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("My name is Ada Lovelace.", "name", "Ada Lovelace"),
        ("Hi, I'm Rosa and I need help.", "name", "Rosa"),
        ("I'm 34 years old.", "age", 34),
        ("My birthday is May 8, 1990.", "birthday", "1990-05-08"),
        ("I live in Porto, Portugal.", "city", "Porto, Portugal"),
        ("I'm originally from Brazil.", "origin", "Brazil"),
        ("I work at Siemens Energy as an analyst.", "employer", "Siemens Energy"),
        ("I'm a software engineer.", "job", "software engineer"),
        ("I study physics at Leiden University.", "school", "Leiden University"),
        ("My sister Anna is visiting.", "sister", "Anna"),
        ("My husband's name is Tom.", "partner", "Tom"),
        ("Our sister Noor visits in May.", "sister", "Noor"),
        ("Noor is our younger sister.", "sister", "Noor"),
        ("Our brother's name is Tom.", "brother", "Tom"),
        ("Our neighbour is Ruth.", "neighbour", "Ruth"),
        ("We had tea with our aunt, Ada.", "aunt", "Ada"),
        ("我们的妹妹小诺五月来看我们。", "sister", "小诺"),
        ("小诺是我们的妹妹。", "sister", "小诺"),
        ("我们妹妹是小诺。", "sister", "小诺"),
        ("我弟弟张伟明天出差。", "brother", "张伟"),
        ("我们家的女儿阿宁上小学了。", "daughter", "阿宁"),
        ("My dog Max is ill.", "pet", "Max (dog)"),
        ("We adopted a black cat named Luna.", "pet", "Luna (cat)"),
        ("My favourite colour is green.", "favourite colour", "green"),
        ("I love spicy food!", "likes", "spicy food"),
        ("I can't stand mushrooms.", "dislikes", "mushrooms"),
        ("I'm allergic to peanuts.", "allergy", "peanuts"),
        ("I'm vegetarian, by the way.", "diet", "vegetarian"),
        ("I speak French and German.", "language", "German"),
        ("My native language is Polish.", "native_language", "Polish"),
        ("My email is ada@example.org.", "e-mail", "ada@example.org"),
        ("你好，我叫张曼婷。", "name", "张曼婷"),
        ("我今年二十八岁。", "age", 28),
        ("我的生日是5月8日。", "birthday", "--05-08"),
        ("我住在成都。", "city", "成都"),
        ("我是四川人。", "origin", "四川"),
        ("我在招商银行工作。", "employer", "招商银行"),
        ("我是一名小学老师。", "job", "小学老师"),
        ("我毕业于浙江大学。", "school", "浙江大学"),
        ("我妹妹叫小雨。", "sister", "小雨"),
        ("我家养了一只猫叫团子。", "pet", "团子 (猫)"),
        ("我很喜欢川菜。", "likes", "川菜"),
        ("我不喜欢下雨。", "dislikes", "下雨"),
        ("我对花生过敏。", "allergy", "花生"),
        ("我坚果过敏，核桃最厉害。", "allergy", "坚果"),
        ("I'm thirty-four.", "age", 34),
        ("My partner's called Sam, we met at a wall.", "partner", "Sam"),
        ("老公叫陈磊，在医院上夜班。", "partner", "陈磊"),
        ("我搬去和田住了。", "city", "和田"),
        ("我会说粤语和英语。", "language", "英语"),
        ("我的邮箱是lin@example.cn。", "e-mail", "lin@example.cn"),
    ],
)
def test_what_is_stated(text: str, slot: str, value: str | int) -> None:
    assert (slot, value) in stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "I used to live in Rome.",
        "If I lived in Rome I'd be happy.",
        "My sister thinks I live in Rome.",
        "Our sister company Globex is hiring.",
        "我妹妹小时候很胖。",
        "我们老师小声说话。",
        "Do I live in Rome?",
        'She wrote "I live in Rome".',
        "I love it!",
        "I like how you did that.",
        "I'm 100% sure.",
        "I wish I spoke French.",
        "I'm 500.",
        "如果我住在成都就好了。",
        "我以前住在成都。",
        "我喜欢你。",
        "我叫他明天来。",
        "我们住在成都吗？",
    ],
)
def test_what_is_not_stated(text: str) -> None:
    assert stated(text) == []


def test_a_move_is_dated_by_its_sentence() -> None:
    (found,) = slots("I moved to Braga in March.", "user", SAID)
    assert found.single
    assert found.since is not None
    assert moment(found.since.start).isoformat() == "2024-03-01T00:00:00+00:00"
    (coming,) = slots("I moved to Braga, and in July I start work.", "user", SAID)
    assert coming.since is None


def test_a_list_of_equals_is_taken_apart_and_a_shared_word_is_not() -> None:
    assert stated("I like painting, chess and long walks.") == [
        ("likes", "painting"),
        ("likes", "chess"),
        ("likes", "long walks"),
    ]
    assert stated("I like action and comedy movies.") == [("likes", "action and comedy movies")]
    assert stated("我喜欢徒步、打篮球和攀岩。") == [("likes", "徒步"), ("likes", "打篮球"), ("likes", "攀岩")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("May 8th", "--05-08"),
        ("the 3rd of March 1985", "1985-03-03"),
        ("1990年5月8日", "1990-05-08"),
        ("五月八号", "--05-08"),
        ("1990", "1990"),
        ("Smarch 8", None),
        ("May 40", None),
        ("1二月3日", None),
        ("3月1二日", None),
    ],
)
def test_birthdays_have_one_form(text: str, value: str | None) -> None:
    assert birthday(text) == value


@given(st.text(max_size=200))
def test_any_text_is_read_and_every_fact_can_be_phrased(text: str) -> None:
    for found in slots(text, "Ada", SAID):
        assert text[found.start : found.end] == found.text
        told = phrased(found.slot, str(found.value), found.subject, found.text, ended=found.act is SlotAct.ENDS)
        assert shown_value(str(found.value), found.text) in told


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("turns out I've got a nickel allergy, earrings did it", "nickel"),
        ("cant have shellfish, throat closes up", "shellfish"),
        ("I can't eat walnuts or my lips swell up", "walnuts"),
        ("no peanuts for me, they bring up hives", "peanuts"),
        ("can't touch kiwi, I come out in a rash", "kiwi"),
        ("I can't eat jackfruit, my lips swell up", "jackfruit"),
        ("can't go near cats, my eyes puff up", "cats"),
        ("I can't have coconut, my throat closes up", "coconut"),
        ("I can't have tree nuts, I carry an epipen", "tree nuts"),
        ("虾蟹一口都碰不得，嗓子会肿", "虾蟹"),
        ("腰果吃不得，浑身起疹", "腰果"),
        ("我芒果吃不得，一吃嘴就肿", "芒果"),
    ],
)
def test_what_makes_somebody_swell_or_is_called_so_is_an_allergy(text: str, value: str) -> None:
    assert ("allergy", value) in stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "can't have another meeting, my head hurts",
        "she can't have shellfish, her throat closes up",
        "cant have that, the whole crowd swells up at six",
        "我妈花生碰不得，嗓子会肿",
        "这门碰不得，会响",
        "I can't have visitors or I end up in hospital.",
        "I don't do mornings, my eyes puff.",
        "I don't eat late, I end up in hospital otherwise.",
        "I can't have lodgers, my eyes itch.",
        "I never eat quickly, my throat closes up.",
        "no visitors for me or my eyes puff",
        "辣的吃不得，嗓子发紧",
        "烫的吃不得，嘴会肿",
        "Her doctor says I'm allergic to dogs",
        "My dog's doctor says I'm allergic to dogs",
        "The kids' doctor says I'm allergic to dogs",
        "Ugh, their new allergist said I'm allergic to dogs",
        "Tom’s doctor told me I'm allergic to dogs",
    ],
)
def test_what_only_looks_like_an_allergy_is_none(text: str) -> None:
    assert "allergy" not in dict(stated(text))


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("im allergic to nuts", "allergy", "nuts"),
        ("I am allergic to nuts after all", "allergy", "nuts"),
        ("ugh the doctor says I am allergic to penicillin after all", "allergy", "penicillin"),
        ("My allergist confirmed that I'm allergic to nuts", "allergy", "nuts"),
        ("so my new doctor says I'm allergic to nuts", "allergy", "nuts"),
        ("Today the hospital confirmed I'm allergic to nuts", "allergy", "nuts"),
        ("doctor says I'm allergic to nuts", "allergy", "nuts"),
        ("had the test, doc says I'm allergic to nuts", "allergy", "nuts"),
        ("ive moved to Leeds", "city", "leeds"),
        ("i dont eat meat", "avoids", "meat"),
        ("i cant have shellfish, throat closes up", "avoids", "shellfish"),
        ("Im vegan now", "diet", "vegan"),
        ("also penicillin gives me a rash so thats another allergy to note", "allergy", "penicillin"),
    ],
)
def test_apostrophes_that_chats_leave_out_are_heard(text: str, slot: str, value: str) -> None:
    assert (slot, value) in [(name, str(said).lower()) for name, said in stated(text)]


@pytest.mark.parametrize("text", ["the IM says hello", "we saw the ill dog", "its shellfish day"])
def test_words_that_only_look_like_them_state_nothing(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("I live in Leeds, I'm happy here.", "Leeds"),
        ("I live in Leeds, I used to live in Bristol.", "Leeds"),
        ("We moved to Leeds, My mum cried.", "Leeds"),
        ("I live in Leeds, Yorkshire.", "Leeds, Yorkshire"),
    ],
)
def test_a_home_ends_where_another_clause_begins(text: str, city: str) -> None:
    assert ("city", city) in stated(text)


@pytest.mark.parametrize(
    ("text", "names"), [("I had a cat called Minka.", []), ("I've had a cat called Minka.", ["Minka (cat)"])]
)
def test_a_pet_that_somebody_had_is_none_that_they_have(text: str, names: list[str]) -> None:
    assert [value for slot, value in stated(text) if slot == "pet"] == names


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("I work for Marks & Spencer in the food hall", "employer", "Marks & Spencer"),
        ("I work at a bookshop called Deller & Sons in Totnes", "employer", "a bookshop called Deller & Sons"),
        ("I work in a bookshop called Deller and Sons", "employer", "a bookshop called Deller and Sons"),
        ("I work at a tiny family run bike repair shop", "employer", "a tiny family run bike repair shop"),
        ("I'm working at St Mary's hospice on weekends", "employer", "St Mary's hospice"),
        ("I work at Anna's dad's garage", "employer", ""),
        ("my boss is called Mr van den Berg", "boss", "Mr van den Berg"),
        ("my email is jo.bloggs@example.org now", "e-mail", "jo.bloggs@example.org"),
        ("I'm allergic to cats sadly", "allergy", "cats"),
        ("I live in South Korea now", "city", "South Korea"),
        ("I moved to Leeds Monday", "city", "Leeds"),
        ("I moved to Google in May", "city", ""),
        ("I'm from Trinidad and Tobago", "origin", "Trinidad and Tobago"),
        ("我从沈阳搬到天津来了", "city", "天津"),
        ("上个月我搬到佛山来上班了", "city", "佛山"),
        ("我们一家搬去珠海生活了", "city", "珠海"),
        ("我搬来快一年了", "city", ""),
        ("我跳槽到字节跳动做运营", "employer", "字节跳动"),
        ("我升职当经理了", "job", "经理"),
        ("我当了十年老师", "job", "老师"),
        ("我是医院的护士", "job", "护士"),
        ("我养了只仓鼠", "pet", "仓鼠"),
        ("我养了对鹦鹉", "pet", "鹦鹉"),
        ("I work in a bank and Peter works in a shop", "employer", "a bank"),
        ("I work in a bakery and Tom is a teacher", "employer", "a bakery"),
        ("I work at the library and Mum helps out", "employer", "the library"),
        ("I work in a shop called Lock and Peter works nights", "employer", "a shop called Lock"),
        ("I work at a firm called Deller and Sons Ltd in Totnes", "employer", "a firm called Deller and Sons Ltd"),
        ("我在北京当代美术馆工作", "employer", "北京当代美术馆"),
        ("我在上海干细胞公司工作", "employer", "上海干细胞公司"),
        ("我在武汉干部学院工作", "employer", "武汉干部学院"),
        ("我在武汉干部学院当老师", "employer", "武汉干部学院"),
        ("我是一年级老师", "job", "一年级老师"),
        ("我是二年级班主任", "job", "二年级班主任"),
        ("我住在宁夏回族自治区", "city", "宁夏回族自治区"),
        ("I work at the Bed and Breakfast on the corner", "employer", "the Bed and Breakfast"),
        ("我在小米做科技", "employer", "小米"),
    ],
)
def test_a_value_is_neither_cut_nor_runs_on(text: str, slot: str, value: str) -> None:
    assert {str(found.value) for found in slots(text, "user", SAID) if found.slot == slot} == ({value} - {""})


@pytest.mark.parametrize(
    ("words", "place"),
    [
        *((name, name) for name in ("昌平回龙观", "广西来宾", "回龙观", "中山纪念堂", "北京古玩城", "北京未来科技城")),
        *((name, name) for name in ("多伦多", "和田", "多哈", "那不勒斯", "不丹", "别府", "两江新区", "几内亚")),
        *(("一趟泰国", "泰国"), ("趟泰国", "泰国"), ("回北京", "北京"), ("天津来", "天津"), ("北京玩", "北京")),
        *(("那边", ""), ("几个地方", ""), ("别的地方", ""), ("两天", ""), ("和朋友", "")),
    ],
)
def test_a_place_is_parted_from_what_stands_around_it_and_not_cut(words: str, place: str) -> None:
    assert bare_place(words) == place


@pytest.mark.parametrize(
    "text",
    [
        *("我爸是司机", "我弟弟是程序员", "我姐姐是高中生", "我老婆是江西人", "我女儿是老师", "我女朋友是左撇子"),
        "我生日是农历八月十五",
    ],
)
def test_what_somebody_is_is_not_their_name_nor_a_day_by_the_moon_one_of_the_calendar(text: str) -> None:
    assert slots(text, "user", SAID) == []
