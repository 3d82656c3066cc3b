"""A number answers only where the kind of number that is asked for is named beside it, or shows in its form."""

from __future__ import annotations

import pytest

from mnemic.recall.number_kinds import lacks_number_asked

PHONE = "我的手机号是13812345678"
CASES = """
我的身份证号是多少？ | 身份证是510104199001011234
我的身份证号码 | 510104199001011234，证件的
我的车牌号是多少？ | 车上了牌，川A12345
我的银行卡号是多少？ | 工资卡尾号6789
银行卡号多少来着 | 招行那张是6225881234
我的QQ号是多少？ | qq 12345678，加我
我的微信号是什么 | 加我微信：abc123
我的房间号是多少？ | 酒店住808
门牌号是多少 | 3栋2单元501
我的航班号是多少？ | CA1234，早上八点起飞
快递单号是多少 | 顺丰SF12345
我的工号是多少 | 新工牌下来了，10086
我的会员号是多少？ | 会员卡8888
电表号是多少 | 家里电表 778899
"""
OTHERS = """
我的手机号是多少？
我的电话号码是多少
房东的号码是多少？
我的号码是多少？
我的生日是几号？
我住几号楼？
地铁坐几号线
紧急联系人号码是多少？
我的外号是什么？
我相机的型号是什么
我穿多大号？
我妈的手机号多少
"""


@pytest.mark.parametrize("row", CASES.split("\n")[1:-1])
def test_a_number_of_another_kind_is_none(row: str) -> None:
    question, told = row.split(" | ")
    assert lacks_number_asked(question, PHONE)
    assert not lacks_number_asked(question, told)


@pytest.mark.parametrize("question", OTHERS.split("\n")[1:-1])
def test_a_question_for_no_such_number_is_left_alone(question: str) -> None:
    assert not lacks_number_asked(question, "换号了，现在是13812345678")
