"""Take facts out of an episode, and tell which names mean one thing, which facts say the same or exclude each other.

Zep's judgements (arXiv:2501.13956, section 2.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mnemic.core.json_schema import many, shape, whole
from mnemic.models.chat.base import Size
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import EntityMatching, Episode, FactMatch, FactMatching, Triple
from mnemic.strategies.rules.fact_matching import fact_matches, may_exclude
from mnemic.strategies.rules.stated_relations import stated_relations
from mnemic.strategies.showing import block, in_line, numbered, spoken_by
from mnemic.strategies.tasks.answers import places, reasoned
from mnemic.strategies.tasks.extracting import EXTRACT_TRIPLES, shown_passages


def _shown_episode(given: Episode) -> str:
    """Lay out passages, and above them without handles what was said before: nothing is to be taken out of that."""
    if not given.passages or not given.before:
        return shown_passages(given.passages)
    before = block("Said before", (in_line(spoken_by(passage)) for passage in given.before))
    return f"{before}\n\n{shown_passages(given.passages)}"


def _answered_triples(given: Episode, answer: Any) -> tuple[Triple, ...]:
    return EXTRACT_TRIPLES.sound(given.passages, answer)


def _by_rule(given: Episode) -> tuple[Triple, ...]:
    return stated_relations(given.passages)


EXTRACT_FACTS: Final = JudgeTask(
    id=EXTRACT_TRIPLES.id,
    schema=EXTRACT_TRIPLES.schema,
    show=_shown_episode,
    sound=_answered_triples,
    rules=_by_rule,
    limit=EXTRACT_TRIPLES.limit,
)
"""Who or what is related to whom or what in an episode; by rule, slots of the speakers' profiles too."""


def _shown_names(given: EntityMatching) -> str:
    """Lay out both, each under handles of its own; "" where one is missing."""
    if not given.names or not given.known:
        return ""
    names = numbered(f"{name}: {fact}" for name, fact in given.names)
    return f"{block('Known things', numbered(given.known))}\n\n{block('Names', names)}"


def _meant(given: EntityMatching, answer: Any) -> tuple[int | None, ...]:
    matched: dict[int, int | None] = {}
    for match in answer["matches"]:
        (name,) = places([match["name"]], len(given.names))
        if name in matched:
            raise Unfit(f"name [{match['name']}] is matched twice")
        matched[name] = places([match["same_as"]], len(given.known))[0] if match["same_as"] else None
    return tuple(matched.get(name) for name in range(len(given.names)))


def _nobody(given: EntityMatching) -> tuple[int | None, ...]:
    """Match nothing: what is certain was matched before, and rules know no more."""
    return (None,) * len(given.names)


MATCH_ENTITIES: Final = JudgeTask(
    id="match_entities",
    schema=reasoned(matches=many(shape({"name": whole(low=1), "same_as": whole("0 for none", low=0)}), maxItems=64)),
    show=_shown_names,
    sound=_meant,
    rules=_nobody,
    size=Size.SMALL,
)
"""The place of the known thing that each name means, or None; a name that is not mentioned means none."""


def _shown_facts(given: FactMatching) -> str:
    """Lay out known and new facts under handles that go on; "" where nothing known may be the same."""
    if not given.new or not given.old:
        return ""
    old = numbered(fact.fact for fact in given.old)
    new = numbered((fact.fact for fact in given.new), len(given.old) + 1)
    return f"{block('Known facts', old)}\n\n{block('New facts', new)}"


def _matches(given: FactMatching, answer: Any) -> tuple[FactMatch, ...]:
    """Read one match for each new fact, in their order; of what is contradicted, what can be."""
    every, first = (*given.old, *given.new), len(given.old)
    matched: dict[int, FactMatch] = {}
    for match in answer["matches"]:
        (new,) = places([match["new"]], len(given.new), first + 1)
        same, over = (places(match[name], len(every)) for name in ("same_as", "contradicts"))
        if new in matched or first + new in (*same, *over) or set(same) & set(over):
            raise Unfit(f"fact [{match['new']}] is matched twice, with itself, or as the same and as a contradiction")
        over = tuple(place for place in over if may_exclude(every[place], given.new[new]))
        matched[new] = FactMatch(same=same, over=over)
    missing = [place for place in range(len(given.new)) if place not in matched]
    if missing:
        raise Unfit(f"fact [{first + 1 + missing[0]}] is not matched")
    return tuple(_with_those_before(place, matched, first) for place in range(len(given.new)))


def _with_those_before(new: int, matched: Mapping[int, FactMatch], first: int) -> FactMatch:
    """Match a fact with those before it alone; what one of them says of it counts the other way round."""
    earlier = range(new)
    same = [place for place in matched[new].same if place < first + new]
    same += [first + place for place in earlier if first + new in matched[place].same]
    over = [place for place in matched[new].over if place < first + new]
    over += [first + place for place in earlier if first + new in matched[place].over]
    return FactMatch(
        same=tuple(dict.fromkeys(same)), over=tuple(place for place in dict.fromkeys(over) if place not in same)
    )


_HANDLES: Final = many(whole(low=1), maxItems=16)

MATCH_FACTS: Final = JudgeTask(
    id="match_facts",
    schema=reasoned(
        matches=many(shape({"new": whole(low=1), "same_as": _HANDLES, "contradicts": _HANDLES}), maxItems=64)
    ),
    show=_shown_facts,
    sound=_matches,
    rules=fact_matches,
    limit=2048,
    size=Size.SMALL,
)
"""What each new fact says again, and what cannot be true at the same time."""
