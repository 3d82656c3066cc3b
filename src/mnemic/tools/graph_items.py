"""A knowledge graph kept as ordinary items: how entities, observations and relations are written, and read back.

An entity is an ENTITY item "name (type)" with the slots `title`, `entity` and `entity_type`; what was observed of it is
a FACT item each with the slots `title` and `entity`; a relation is a FACT item that says it in words, with the slots
`entity`, `relation` and `to`. `mnemic import` writes the file of the reference memory server the same way. So recall
finds all of it, and `history`, `undo` and `erase` work on it; facts without these slots are no part of the graph.

What a slot says counts, not the words around it. An observation is the item's text; a blank one, which no item can be,
is quoted in the text and kept as it is in the slot `observation`. Of entities that share a name, as only one call can
create them, the second and later carry their number in the slot `node`, and so do their observations.

An observation longer than an item may be is refused by the tools; an import keeps it as a document in chunks, which
recall finds and the graph does not show.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemic.core.items import Channel, Kind, Slot
from mnemic.core.queries import Filter
from mnemic.verbs.statements import Statement

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version

WHERE: Final = Filter(kinds=(Kind.ENTITY, Kind.FACT))
"""Among these items is all of the graph."""

Name = tuple[str, int]
"""What tells an entity from all others: its name, and its number among those of that name, from 1."""


class Observation(NamedTuple):
    """Something observed of an entity."""

    id: ItemId
    text: str


@dataclass(slots=True)
class GraphEntity:
    """An entity, and what was observed of it in the order it was written.

    Attributes:
        ids: The items that say it: more than one where it was imported, or brought back, beside itself.
    """

    name: str
    node: int
    type: str
    ids: list[ItemId]
    observations: list[Observation] = field(default_factory=list)


class GraphRelation(NamedTuple):
    """A directed, named tie between two names, whether or not there are entities of these names."""

    id: ItemId
    src: str
    dst: str
    type: str

    @property
    def triple(self) -> tuple[str, str, str]:
        """What it says."""
        return self.src, self.dst, self.type


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations, each in the order they were first written."""

    entities: Sequence[GraphEntity] = ()
    relations: Sequence[GraphRelation] = ()


def graph_of(versions: Iterable[Version], names: Container[str] | None = None) -> Graph:
    """The graph that some items make; what is no part of it, or was observed of no entity that stands, is left out.

    Args:
        names: Only entities of these names, and relations that touch one of them.
    """
    entities: list[GraphEntity] = []
    relations: list[GraphRelation] = []
    nodes: dict[Name, list[GraphEntity]] = {}
    observed: dict[Name, list[Observation]] = {}
    for version in versions:
        item = version.item
        slots = item.slots
        name = slots.get("entity")
        if not isinstance(name, str):
            continue
        if "relation" in slots:
            end = _text(slots.get("to"))
            if names is None or name in names or end in names:
                relations.append(GraphRelation(item.id, name, end, _text(slots["relation"])))
        elif names is None or name in names:
            node = name, _node(slots)
            if item.kind is Kind.FACT:
                observed.setdefault(node, []).append(Observation(item.id, _observed(item)))
            else:
                _take_in(GraphEntity(*node, _text(slots.get("entity_type")), [item.id]), nodes, entities)
    for node, of_that_name in nodes.items():
        of_that_name[0].observations = observed.get(node, [])
    return Graph(entities, relations)


def entity_statement(name: str, type: str, node: int) -> Statement:
    """What is written for a new entity."""
    text = f"{name} ({type})" if type else name
    slots: dict[str, Slot] = {**_about(name, node), **({"entity_type": type} if type else {})}
    return _statement(text if text.strip() else quoted(name), slots, Kind.ENTITY)


def observation_statement(name: str, node: int, text: str) -> Statement:
    """What is written for something newly observed of an entity."""
    about = _about(name, node)
    if text.strip():
        return _statement(text, about)
    return _statement(quoted(text), {**about, "observation": text})


def relation_statement(src: str, dst: str, type: str) -> Statement:
    """What is written for a new relation."""
    text = f"{src} {type.replace('_', ' ')} {dst}"
    slots: dict[str, Slot] = {"entity": src, "relation": type, "to": dst}
    return _statement(text if text.strip() else " ".join(map(quoted, (src, type, dst))), slots)


def quoted(text: str) -> str:
    """A text in JSON's quotes: how what is blank is shown."""
    return json.dumps(text, ensure_ascii=False)


def _statement(text: str, slots: Mapping[str, Slot], kind: Kind = Kind.FACT) -> Statement:
    return Statement(text=text, kind=kind, slots=slots, channel=Channel.MODEL)


def _about(name: str, node: int) -> dict[str, Slot]:
    about: dict[str, Slot] = {"title": name, "entity": name} if name.strip() else {"entity": name}
    return {**about, "node": node} if node > 1 else about


def _take_in(entity: GraphEntity, nodes: dict[Name, list[GraphEntity]], entities: list[GraphEntity]) -> None:
    """Take an entity in, unless it says what one before it says."""
    known = nodes.setdefault((entity.name, entity.node), [])
    same = next((other for other in known if other.type == entity.type), None)
    if same is not None:
        same.ids += entity.ids
        return
    known.append(entity)
    entities.append(entity)


def _observed(item: Item) -> str:
    """The text, or the blank that it shows in quotes; once it is corrected it counts as it is."""
    if "observation" not in item.slots:
        return item.text
    blank = _text(item.slots["observation"])
    return blank if item.text == quoted(blank) else item.text


def _node(slots: Mapping[str, Slot]) -> int:
    node = slots.get("node", 1)
    return node if isinstance(node, int) else 1


def _text(slot: Slot) -> str:
    """A slot as text; an empty one is left out where it is written."""
    return slot if isinstance(slot, str) else "" if slot is None else str(slot)
