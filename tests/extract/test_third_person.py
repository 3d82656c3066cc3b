"""What is said of somebody is read as they would say it themselves."""

from __future__ import annotations

import pytest

from mnemic.extract.third_person import as_said_by


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Maya lives in Oslo.", "I live in Oslo."),
        ("maya's brother is Jonas.", "my brother is Jonas."),
        ("Maya is allergic to nuts.", "I am allergic to nuts."),
        ("Maya’s allergic to nuts.", "I am allergic to nuts."),
        ("Maya always drinks tea.", "I always drink tea."),
        ("Maya sometimes really misses Rome.", "I sometimes really miss Rome."),
        ("Maya never lies.", "I never lie."),
        ("Maya studies law.", "I study law."),
        ("Maya's moved to Bath.", "I have moved to Bath."),
        ("Maya has just moved to Bath.", "I have just moved to Bath."),
        ("Maya finally moved to Bath.", "I finally moved to Bath."),
        ("Maya doesn't eat meat.", "I don't eat meat."),
        ("Maya's red car broke.", "my red car broke."),
        ("Mayan temples are old.", "Mayan temples are old."),
        ("小明住在北京。", "我住在北京。"),
        ("小明的女朋友叫李娜。", "我的女朋友叫李娜。"),
        ("小明和小红住在北京。", "小明和小红住在北京。"),
        ("小明妈妈住在广州。", "小明妈妈住在广州。"),
        ("Ben lives in Rome.", "Ben lives in Rome."),
    ],
)
def test_a_statement_about_somebody_is_put_in_their_mouth(text: str, own: str) -> None:
    assert as_said_by(text, ("Maya", "小明")) == own


def test_without_a_name_a_statement_stays_as_it_is() -> None:
    assert as_said_by("Maya lives in Oslo.", ()) == "Maya lives in Oslo."
