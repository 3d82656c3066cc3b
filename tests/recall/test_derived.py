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
