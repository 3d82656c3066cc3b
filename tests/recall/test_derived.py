"""What a person, a model or a strategy derived is found by recall, by its own words, and tied to its evidence."""

from __future__ import annotations

import pytest

from mnemic import Kind, Memory


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PROFILE])
@pytest.mark.parametrize("by", [None, "model", "digest"])
def test_a_derived_fact_is_recalled_once_and_names_its_evidence(kind: Kind, by: str | None) -> None:
    slots = {} if by is None else {"by": by}
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        said = me.observe("No prawns for me, ever since that night in the clinic.").id
        me.observe("The bus was late again.")
        fact = me.write("Ada has a shellfish allergy.", kind=kind, source=(said,), slots=slots).id
        found = [hit for hit in me.recall("Who has a shellfish allergy?") if hit.id == fact]
        assert len(found) == 1
        assert f"rests on {said}" in found[0].reasons


@pytest.mark.parametrize(
    ("said", "question", "says"),
    [
        ("I live in Lisbon.", "Which city do I live in?", "The user lives in Lisbon."),
        ("我现在住在上海。", "我住在哪座城市？", "用户住在上海。"),
    ],
)
def test_a_recall_does_not_doubt_what_the_profile_states(said: str, question: str, says: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="user")
        me.observe(said)
        me.observe("The bus was late again.")
        memory.flush()
        notes = me.recall(question).notes
        assert f"the profile says: {says}" in notes
        assert not any(note.startswith("probably not in memory") for note in notes)
        assert me.recall("Who drives the bus to the lighthouse?").notes[-1].startswith("probably not in memory")
