"""What is told to be over leaves the profile: an allergy, a pet, a diet, an address; look-alikes leave it as it was."""

from __future__ import annotations

import pytest
from profile_days import said


@pytest.mark.parametrize(
    ("fact", "end"),
    [
        ("I'm allergic to shellfish", "turns out the shellfish test was a false positive"),
        ("I'm allergic to peanuts", "My doctor says I'm no longer allergic to peanuts."),
        ("I'm allergic to peanuts", "Good news: the allergist confirmed I'm not allergic any more."),
        ("I'm allergic to peanuts", "I'm no longer allergic!"),
        ("I'm allergic to peanuts", "No longer allergic to peanuts!"),
        ("I'm allergic to peanuts", "The peanut allergy is gone."),
        ("I'm allergic to mango", "Tried mango again, and nothing happened. I'm not allergic any more."),
        ("我对花生过敏", "医生说我已经不过敏了"),
        ("我对花生过敏", "花生过敏好了"),
        ("我对芒果过敏", "芒果又试了一次，居然没事，医生说已经不过敏了"),
        ("我对花生过敏", "花生过敏其实是误诊"),
        ("My dog Biscuit is lovely", "Biscuit ran off last night and never came back"),
        ("My cat is called Waffle", "Waffle died"),
        ("My parrot is called Kiwi.", "Kiwi flew away and hasn't come back."),
        ("I have a parrot.", "The parrot flew away."),
        ("我养了一只鹦鹉", "鹦鹉飞走了"),
        ("我家养了一只狗叫豆豆", "豆豆走丢了"),
        ("我家养了一只狗叫豆豆", "豆豆上周跑出去，再也没回来"),
        ("I'm gluten free", "eating normally again"),
        ("I'm gluten free", "I'm eating normally again, bread is back"),
        ("I'm gluten-free.", "Bread is back on the menu!"),
        ("I'm gluten-free.", "I eat bread again."),
        ("I'm dairy free.", "Cheese is back on the table."),
        ("I'm vegetarian.", "I've been eating meat since July."),
        ("I'm vegetarian.", "Been eating meat since July."),
        ("I'm vegetarian.", "I've been eating chicken for two months now."),
        ("I'm veggie.", "We've been eating red meat lately."),
        ("I'm vegan.", "I've been eating cheese again."),
        ("I don't eat meat.", "I've been eating meat since July."),
        ("我吃素。", "我又开始吃鱼了。"),
        ("我吃素。", "我又吃肉了。"),
        ("我吃纯素。", "我又喝牛奶了。"),
        ("我只吃无麸质饮食", "恢复正常饮食了"),
        ("我在吃生酮饮食", "我现在恢复正常饮食了"),
    ],
)  # fmt: skip
def test_what_is_over_is_no_longer_so(fact: str, end: str) -> None:
    assert said(fact)
    assert said(fact, end) == set()


@pytest.mark.parametrize(
    ("fact", "end"),
    [
        ("I'm allergic to peanuts", "Turns out the shellfish test was a false positive."),
        ("I'm allergic to peanuts", "Tried mango again, nothing happened, I'm not allergic any more."),
        ("I'm allergic to peanuts", "Tried durian again, nothing happened, I'm not allergic any more."),
        ("I'm allergic to peanuts", "My son is no longer allergic."),
        ("I'm allergic to peanuts", "My son saw the doctor. No longer allergic to peanuts!"),
        ("I'm allergic to peanuts", "I'm not allergic, I just don't like cats."),
        ("I'm allergic to peanuts", "The COVID test was a false positive."),
        ("I'm allergic to peanuts", "My doctor hopes I'm no longer allergic."),
        ("我对花生过敏", "芒果又试了一次，医生说已经不过敏了"),
        ("我对花生过敏", "我儿子去复查，医生说已经不过敏了"),
        ("我对花生过敏", "医生说我会不会不过敏了？"),
        ("我对花生过敏", "要是不过敏了就好了"),
        ("My dog Biscuit is lovely", "Biscuit ran off last night but came back"),
        ("My dog Biscuit is lovely", "Biscuit ran away and we found him at the neighbours"),
        ("My dog Biscuit is lovely", "Rex ran off and never came back."),
        ("My dog Biscuit is lovely", "The parrot flew away."),
        ("我家养了一只狗叫豆豆", "鹦鹉飞走了"),
        ("我家养了一只狗叫豆豆", "豆豆走丢了，幸好又找到了"),
        ("I'm vegan", "I had the flu, eating normally again"),
        ("I'm vegetarian.", "I've been eating cheese since July."),
        ("I'm vegetarian.", "I haven't been eating meat since July."),
        ("I'm vegetarian.", "I've been eating no meat since July."),
        ("I'm vegetarian.", "I've been eating fake meat since July."),
        ("I'm vegetarian.", "I've been eating meat substitutes since July."),
        ("I'm vegetarian.", "My sister has been eating meat since July."),
        ("I'm vegetarian.", "My sister came over. Been eating meat since July."),
        ("I'm vegetarian.", "Have I been eating meat since July?"),
        ("I'm vegetarian.", 'He said: "I\'ve been eating meat since July."'),
        ("I'm pescatarian.", "I've been eating fish since July."),
        ("我吃鱼素。", "我又吃鱼了。"),
        ("我吃素。", "我妹妹又吃鱼了。"),
        ("我吃素。", "猫又吃鱼了。"),
        ("I'm keto.", "I've been eating meat since July."),
        ("I'm allergic to fish.", "I've been eating meat since July."),
        ("I don't eat fish.", "I've been eating meat since July."),
        ("I'm gluten free", "Rex was ill but is eating normally again."),
        ("I'm gluten free", "Cheese is back on the menu."),
        ("I'm gluten free", "The bread is back in the oven."),
    ],
)
def test_what_only_looks_like_an_end_leaves_what_is_so(fact: str, end: str) -> None:
    assert said(fact) <= said(fact, end)


def test_of_several_allergies_the_one_that_the_message_names_is_over() -> None:
    assert said("我对芒果过敏。", "我对花生过敏。", "芒果又试了一次，居然没事，医生说已经不过敏了") == {
        ("allergy", "花生")
    }
    two = {("allergy", "eggs"), ("allergy", "peanuts")}
    assert said("I'm allergic to peanuts and eggs.", "I'm no longer allergic.") == two
    assert said("I'm allergic to peanuts.", "I'm allergic to eggs.", "I had an egg. I'm no longer allergic.") == {
        ("allergy", "peanuts")
    }


@pytest.mark.parametrize(
    ("fact", "newer", "value"),
    [
        ("my email is a@b.com", "new email is c@d.com", "c@d.com"),
        ("my email is a@b.com", "Changed my email, it's c@d.com now.", "c@d.com"),
        ("我的邮箱是a@b.com", "换邮箱了，新的是c@d.com", "c@d.com"),
        ("我的邮箱是a@b.com", "邮箱换了，现在用c@d.com", "c@d.com"),
        ("我的邮箱是a@b.com", "邮箱换成c@d.com，旧的别发了。", "c@d.com"),
        ("my number is 555-0101", "new number is 555-0199", "555-0199"),
        ("my number is 555-0101", "changed my number, it's 555-0199 now", "555-0199"),
        ("我的手机号是13800001111", "换号了，新的是13900002222", "13900002222"),
    ],
)
def test_a_new_address_takes_the_place_of_the_old_one(fact: str, newer: str, value: str) -> None:
    assert [known for _, known in said(fact, newer)] == [value]


@pytest.mark.parametrize(
    "other",
    [
        "My sister switched phones. New number is 555-0199.",
        "The school's new number is 555-0199.",
        "我妹换号了，新的是13900002222",
    ],
)
def test_somebody_elses_new_number_is_not_the_speakers(other: str) -> None:
    assert said("my number is 555-0101", other) == {("phone_number", "555-0101")}
