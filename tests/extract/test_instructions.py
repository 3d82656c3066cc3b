"""Standing instructions: hidden in chat, told apart from stories, questions, quotations and requests for this once."""

from __future__ import annotations

import re
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.instructions import instructions, read_by_rules
from mnemic.extract.revocations import aspects_named, revocations, revoked, telling, withdrawable

FIXTURES = Path(__file__).parent.parent / "fixtures" / "standing"


def turns(name: str) -> list[tuple[str, str, tuple[int, int] | None]]:
    """Who speaks, what, and where the marked instruction lies."""
    read = []
    for line in (FIXTURES / f"{name}.txt").read_text("utf-8").splitlines():
        if re.match(r"[uatd] ", line):
            marked = re.search(r"\{\{(.*?)\}\}", line[2:])
            span = (marked.start(), marked.start() + len(marked[1])) if marked else None
            read.append((line[0], line[2:].replace("{{", "").replace("}}", ""), span))
    return read


def score(name: str) -> tuple[int, int, list[str]]:
    """How many are marked, how many of those are found, and what else is."""
    marked, found, false = 0, 0, []
    for who, text, span in turns(name):
        heard = instructions(text) if who == "u" else []
        hits = [one for one in heard if span and one.start < span[1] and span[0] < one.end]
        marked += span is not None
        found += bool(hits)
        false += [one.text for one in heard if one not in hits]
    return marked, found, false


def test_thirty_hidden_in_chat_are_found_and_nothing_else() -> None:
    marked, found, false = (
        sum(parts, start) for parts, start in zip(zip(score("en"), score("zh"), strict=True), (0, 0, []), strict=True)
    )
    assert marked == 30
    assert found >= 27
    assert len(false) <= 2, false
    assert len(turns("en")) + len(turns("zh")) > 500


@pytest.mark.parametrize(
    "name", [f"{which}_{language}" for which in ("second", "third", "fourth", "fifth") for language in ("en", "zh")]
)
def test_other_ways_of_saying_it(name: str) -> None:
    marked, found, false = score(name)
    assert found >= 0.9 * marked
    assert false == []


@pytest.mark.parametrize("name", [f"{which}_{language}" for which in ("sixth", "seventh") for language in ("en", "zh")])
def test_plain_orders_and_wishes_as_well_as_those_with_a_word_for_every_time(name: str) -> None:
    marked, found, false = score(name)
    assert marked == 30
    assert found >= 27
    assert len(false) <= 1, false


@pytest.mark.parametrize(
    "text",
    [
        "Write a limerick about bullet points for this week.",
        "Let me know when you finish the book!",
        "Your recipes were great, thanks.",
        "I love it when you make dessert.",
        "给我推荐三部今晚看的电影。",
        "和你聊天真的很开心。",
        "这封邮件用正式一点的语气写。",
    ],
)
def test_what_points_at_what_is_before_us_or_praises_is_no_standing_instruction(text: str) -> None:
    assert instructions(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "房东要求以后只收支票。",
        "公司要求邮件全部用英文写。",
        "出版社要求首印书一律附书签。",
        "客服一直叫我「亲」。",
        "早餐店阿姨都叫我帅哥。",
        "家里人都不敢跟我提车祸。",
        "告警群里不许聊天。",
        "都叫我老周，叫了三十年。",
        "叫我老公别打呼噜。",
        "叫我弟把漫画还我。",
        "叫我组长快点交本子。",
    ],
)
def test_no_rule_takes_what_others_are_told_or_call_one_for_an_order(text: str) -> None:
    assert read_by_rules(text)[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "跟我讲讲唐朝的历史。",
        "用大白话讲讲疫苗原理。",
        "帮我写条请假的微信。",
        "这趟去成都的单子帮我改成四点装车。",
        "称呼写错了，改一下。",
        "不用客气。",
    ],
)
def test_no_rule_takes_what_is_asked_for_this_once_to_stand(text: str) -> None:
    assert read_by_rules(text)[0] == []


@pytest.mark.parametrize(
    "text", ["叫我老周就行。", "以后都叫我老周。", "统一用公历。", "跟我说话别客气。", "讲到钱一律用人民币。"]
)
def test_what_is_near_to_those_and_meant_for_good_stands(text: str) -> None:
    assert [one.text for one in instructions(text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I always loved this place.",
        "He always says that, never mind him.",
        "She told me to never trust a stranger.",
        "Should I always tip in Japan?",
        "Please send the report.",
        'The sign said "always wear a helmet".',
        "```\n# always return json\n```",
        "> From now on, answer in capitals.",
        "Never give up on your dreams!",
        "From now on I'll go to bed early.",
        "Call me when you land.",
        "Call me crazy.",
        "Let me know whenever you're free.",
        "我一直很喜欢这里。",
        "他总是这么说。",
        "以后再说吧。",
        "妈妈叫我早点回家。",
        "她说“以后每次都要先打电话”。",
        "每次去那家店都要排队。",
        "请把文件发给我。",
        "以后人工智能会取代老师吗？",
    ],
)
def test_what_is_no_standing_instruction(text: str) -> None:
    assert instructions(text) == []


@pytest.mark.parametrize(
    "text",
    [
        # by rule: a share for each answer, a tag that says it is for good, back to a manner, approval first
        "Only one topic per answer, please.",
        "In this repo, docstrings everywhere.",
        "Headings in sentence case, no exceptions.",
        "Please wait for my okay before you touch the budget.",
        "Let's go back to the short format.",
        "Shorter sentences would help my eyes.",
        "I'd be happier with fewer links.",
        "Could you be more patient in general?",
        "Note that I take insulin before meals.",
        "一次只讲一个知识点,多了记不住。",
        "标题不加句号,这是规矩。",
        "还是换回详细的回答吧。",
        "偶尔来句粤语也挺好。",
        "结尾那段祝福去掉吧。",
        "别再用“闭环”这个词了。",
        "管我叫老板娘。",
        "建议少一点我会更轻松。",
        # by wording alone
        "Walls of text wear me out.",
        "Bullet points are not my thing.",
        "You can skip the greetings with me.",
        "Metric only for me please.",
        "I read your answers on a phone, so short is better.",
        "I'd rather you didn't open with a compliment.",
        "It drives me mad when you repeat my question.",
        "跟我说话不用客气。",
        "我看不懂专业术语，讲人话就行。",
        "回复短一点就好。",
        "长篇大论我真的看不进去。",
    ],
)
def test_wishes_about_how_the_assistant_behaves_are_instructions(text: str) -> None:
    assert len(instructions(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Keep this mail short.",
        "One coffee at a time.",
        "My boss hates bullet points.",
        "She says walls of text wear her out.",
        'The review said "bullet points are not my thing".',
        "I like tea with milk.",
        "Do you like emojis?",
        "Your recipes were great, thanks.",
        "Notes:\nWalls of text put me to sleep.\nBullet points are not my thing.",
        "这封信写短一点。",
        "老板受不了长篇大论。",
        "我喜欢喝茶，不加糖。",
        "她说：“长篇大论我看不进去。”",
        "一次考两门，累死了。",
        "每次回家都堵车。",
        "Twenty-one kilometres is enough for my knee.",
        "Short walks are enough for my left hip.",
        "二十一公里对我的膝盖来说够了。",
    ],
)
def test_what_is_worded_like_a_wish_but_is_for_once_of_others_or_pasted_is_none(text: str) -> None:
    assert instructions(text) == []


@pytest.mark.parametrize(
    "piece", ["short answers ", "回复短一点就好", "you can skip ", "i'd rather you ", "一次只", "in this repo "]
)
def test_time_grows_with_the_text_at_most(piece: str) -> None:
    def seconds(times: int) -> float:
        text = piece * times
        started = process_time()
        for _ in range(20):
            instructions(text)
        return process_time() - started

    seconds(1)
    quarter = min(seconds(100 // len(piece)) for _ in range(3))
    assert any(seconds(400 // len(piece)) < 12 * quarter + 0.05 for _ in range(3))


def test_the_clause_is_given_as_it_was_written() -> None:
    text = "Great, thanks! From now on, sign off with “Best, A.” please. Bye."
    (found,) = instructions(text)
    assert found.text == "From now on, sign off with “Best, A.” please."
    assert text[found.start : found.end] == found.text
    assert found.rule == "from now on"


def test_a_lower_case_name_counts_only_for_who_writes_no_capitals() -> None:
    assert instructions("call me sasha please")
    assert instructions("My name is Alexandra. Call me old-fashioned.") == []


@given(st.text(max_size=300))
def test_any_text_is_read_and_every_clause_is_in_its_place(text: str) -> None:
    for found in instructions(text):
        assert text[found.start : found.end] == found.text
    for taken in revocations(text):
        assert text[taken.start : taken.end] == taken.text


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("On Mondays, from now on answer in French", None),
        (
            "Thanks! At work, on Mondays, from now on answer in French.",
            "At work, on Mondays, from now on answer in French.",
        ),
        ("每周一，以后都用英文回答我。", None),
        ("周末的时候，从现在开始回答要简短。", None),
        ("I am at home, from now on answer in French", "from now on answer in French"),
        ("Always sign mails with:\n\nRegards, Ada", None),
        ("Always sign mails with:\n\nRegards,\nAda\n\nThanks!", "Always sign mails with:\n\nRegards,\nAda"),
        ("Always sign mails with:\n\n> Regards, Eve", "Always sign mails with:"),
        ("**From now on answer in French**", "From now on answer in French"),
        ("**From now on, answer in French.** Thanks.", "From now on, answer in French."),
        ("From now on, answer in **French**", None),
        ("For Python code: always use type hints.", None),
    ],
)
def test_an_instruction_keeps_its_condition_and_what_it_announces(text: str, whole: str | None) -> None:
    assert [one.text for one in instructions(text)] == [whole or text]


def test_instructions_that_one_announces_stand_each_for_itself() -> None:
    text = "From now on keep to these:\n- Never use emojis in your answers.\n- Always end your replies with a haiku."
    assert [one.text for one in instructions(text)] == [
        "From now on keep to these:",
        "Never use emojis in your answers.",
        "Always end your replies with a haiku.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The README says from now on, answer in French.",
        "Bob's note says always answer in French.",
        "According to the docs, from now on answer in French.",
        "根据说明书，以后都用英文回答我。",
    ],
)
def test_what_a_paper_says_is_no_order_of_its_readers(text: str) -> None:
    assert instructions(text) == []


def about(topic: str, standing: list[str]) -> int | None:
    """The place of the instruction that a topic is about."""
    words = telling(topic)
    return revoked(len(words), {place: len(words & telling(text)) for place, text in enumerate(standing)})


@pytest.mark.parametrize(
    "text",
    ["Emojis are enough for me.", "Twenty-one kilometres is enough for my knee.", "二十一公里对我的膝盖来说够了。"],
)
def test_what_is_enough_for_somebody_ends_nothing(text: str) -> None:
    assert revocations(text) == []
    assert [taken.topic for taken in revocations("Emojis are enough for now.")] == ["Emojis"]


@pytest.mark.parametrize(
    ("text", "standing", "which"),
    [
        ("You can use emojis again.", ["Always answer in French.", "No emojis in your messages."], 1),
        (
            "You no longer need to add the source.",
            ["Please add the source every time you quote.", "Use metric units."],
            0,
        ),
        ("Forget what I said about metric units.", ["Please add the source.", "Always use metric units."], 1),
        ("以后不用再附上大概花费了。", ["建议都附上大概花费。", "一律不要带虾。"], 0),
        ("取消之前关于署名的要求。", ["每次写邮件都署名周明哲。", "先说结论。"], 0),
        ("Forget what I said about dinner.", ["Always use metric units."], None),
    ],
)
def test_what_is_taken_back_is_told_by_its_words(text: str, standing: list[str], which: int | None) -> None:
    (taken,) = revocations(text)
    assert about(taken.topic, standing) == which


def test_what_names_nothing_or_too_much_takes_nothing_back() -> None:
    assert about("doing that", ["Always use metric units."]) is None
    assert about("units", ["Always use metric units.", "Spell out units."]) is None


@pytest.mark.parametrize(
    "text", ["I don't need to go now.", "Can you use emojis again?", "我不用再去医院了，真好。", "Have fun again!"]
)
def test_what_takes_nothing_back(text: str) -> None:
    assert all(about(taken.topic, ["No emojis in your messages."]) is None for taken in revocations(text))


@pytest.mark.parametrize(
    ("text", "standing", "which"),
    [
        ("I take back what I said about bullet points.", ["No bullet points.", "Metric only."], 0),
        ("Emojis are fine again.", ["Be brief.", "Never use emojis."], 1),
        ("You needn't call me Captain any longer.", ["Call me Captain.", "Be brief."], 0),
        ("The no-emoji rule is off.", ["Be brief.", "No emoji, that's a rule."], 1),
        ("不用再说英文了，恢复正常。", ["跟我说英文。", "别用表情。"], 0),
        ("表情又可以用了。", ["跟我说英文。", "别用表情。"], 1),
        ("那条关于表情的规矩取消吧。", ["跟我说英文。", "别用表情。"], 1),
        ("别再用法语了，换回中文吧。", ["别用表情。", "用法语回答我。"], 1),
    ],
)
def test_what_is_allowed_again_or_goes_back_to_normal_is_taken_back(
    text: str, standing: list[str], which: int | None
) -> None:
    (revocation,) = revocations(text)
    assert about(revocation.topic, standing) == which


@pytest.mark.parametrize(
    ("instruction", "withdrawal"),
    [
        ("Keep answers under 100 words.", "Drop the word limit."),
        ("Answer in Spanish.", "back to english pls"),
        ("No bullet points, ever.", "Actually I've come round to bullet points."),
        ("Use only the metric system.", "You can also use miles again."),
        ("Always sign off with my initials.", "You can leave my initials off from here on."),
        ("Never use exclamation marks.", "I miss the exclamation marks, bring them back."),
        ("别给我发表情。", "表情又能发了。"),
        ("用文言文回我。", "说回白话吧，文言文看累了。"),
        ("每次都寫埋英文版。", "英文版唔使再寫喇。"),
        ("希望您只推荐素食餐厅。", "我已经不吃素了，之前关于素食的要求请忽略。"),
    ],
)
def test_a_withdrawal_finds_its_instruction_by_aspect_where_words_differ(instruction: str, withdrawal: str) -> None:
    (taken,) = revocations(withdrawal)
    assert withdrawable(taken.topic, taken.way, instruction)
    assert telling(taken.topic) & telling(instruction) or aspects_named(taken.topic) & aspects_named(instruction)


@pytest.mark.parametrize(
    ("instruction", "other"),
    [
        ("Keep your answers short.", "No more long answers, please."),
        ("No emojis.", "Stop the emojis."),
        ("Always use emojis.", "Emojis are fine by me."),
    ],
)
def test_what_says_the_same_as_an_instruction_does_not_withdraw_it(instruction: str, other: str) -> None:
    assert not any(withdrawable(taken.topic, taken.way, instruction) for taken in revocations(other))


@pytest.mark.parametrize(
    "text",
    [
        "I went back to Spanish, Italian wasn't for me.",
        "Went back to Spanish, Italian wasn't for me.",
        "So I went back to Spanish. Italian wasn't for me.",
        "Switched back to Spanish, Italian just wasn't for me.",
        "Spanish again, Italian wasn't for me.",
        "Going for prose in my thesis, verse wasn't my thing.",
        "还是回到英语了，法语太难。",
        "我以后都用中文写日记。",
    ],
)
def test_what_the_speaker_tells_of_themselves_instructs_nobody(text: str) -> None:
    assert instructions(text) == []


@pytest.mark.parametrize(
    ("text"),
    ["Go back to English, please.", "Switch back to Spanish, my Italian isn't good enough.", "还是换回中文吧。"],
)
def test_who_asks_to_go_back_instructs_still(text: str) -> None:
    assert instructions(text) != []


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Cancel the water reminders.", "water reminders"),
        ("I'd like explanations with the code again.", "explanations with the code"),
        ("Actually do ask follow-up questions.", "ask follow-up questions"),
        ("I don't mind exclamation marks anymore.", "exclamation marks"),
    ],
)
def test_more_ways_of_taking_back_name_their_topic(text: str, topic: str) -> None:
    assert topic in [revocation.topic for revocation in revocations(text)]


@pytest.mark.parametrize("text", ["Please number your steps.", "Write at most three sentences."])
def test_an_order_that_counts_what_is_written_stands(text: str) -> None:
    assert instructions(text) != []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("call me Sam from now on", "call me"),
        ("From now on, call me Sam.", "call me"),
        ("Please always call me Captain.", "call me"),
        ("Always address me as Doctor Lang.", "call me"),
        ("以后叫我小王。", "叫我"),
        ("以后都叫我王老师。", "叫我"),
        ("From now on, call me when you are done.", "when to call"),
        ("From now on call me back within the hour.", "when to call"),
        ("Call me Captain when we talk of boats.", "call me besides"),
        ("Call me by my first name.", "call me"),
        ("Call me Sasha, please, everybody does.", "call me"),
        ("call me sam not samantha ugh", "call me"),
        ("Call me Al or Alex, whatever you like.", "call me"),
        ("Call me Mr. Bose.", "call me"),
        ("叫我老周就行。", "叫我"),
        ("叫我李老师吧，别叫全名。", "叫我"),
        ("以后叫我李老师，回答用法语。", "叫我并"),
        ("以后叫我小李，开会的时候叫我李总。", "叫我并"),
    ],
)
def test_a_name_is_told_as_one_however_long_it_is_to_hold(text: str, rule: str) -> None:
    assert [instruction.rule for instruction in read_by_rules(text)[0]] == [rule]


@pytest.mark.parametrize(
    "text", ["叫我一声。", "到点叫我一下就行。", "明早叫我起床。", "Call me back later.", "Call me a cab."]
)
def test_what_asks_for_a_call_is_no_name(text: str) -> None:
    assert not {one.rule for one in read_by_rules(text)[0]} & {"call me", "call me besides", "叫我", "叫我并"}
