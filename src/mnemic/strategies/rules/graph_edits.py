"""Draft a graph as items: entities, facts, and the links between entities, facts and episodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import ENDED, Item, Kind
from mnemic.strategies.base import Bond, Derivation, Edits, Revision
from mnemic.strategies.rules.edge_history import EdgePlace, GraphEdge, edge_stated
from mnemic.strategies.rules.name_likeness import plain_name

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot
    from mnemic.strategies.base import Ref
    from mnemic.strategies.knowledge import Triple

ABOUT: Final = "about"
STATED_IN: Final = "stated_in"
"""The links from an entity to its facts, and from a fact to its episodes."""
SAME_AS: Final = "same_as"
"""The slot of another name of an entity: the entity's own, as names are compared."""

_WITNESSES: Final = 4
"""Turns that an entity cites: as one of them is erased, it is made again of the others."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """What a name means: its item, the name by which that goes, and the items that say so, unless the turn does."""

    ref: Ref
    name: str
    cited: tuple[ItemId, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphFact:
    """A fact of a turn between two entities; its edge has no item yet.

    Attributes:
        worded_by: The items that it has its words from, where the turn says the same in others.
    """

    turn: Item
    edge: GraphEdge
    ends: tuple[NamedEntity, ...]
    worded_by: tuple[ItemId, ...] = ()

    @property
    def key(self) -> str:
        """What its item's key ends in: the turn, and a digest of what that states."""
        triple = self.edge.triple
        return f"{self.turn.id}:{digest((triple.subject, triple.predicate, triple.object, triple.fact))}"


def graph_fact(turn: Item, triple: Triple, ends: tuple[NamedEntity, NamedEntity]) -> GraphFact:
    """Make the fact that a turn states of two entities."""
    relation = " ".join(triple.predicate.casefold().split())
    named = replace(triple, subject=ends[0].name, predicate=relation, object=ends[1].name)
    return GraphFact(turn, edge_stated(named, -1, turn), ends)


def digest(parts: Iterable[str]) -> str:
    """Digest some texts: a short name that is the same for the same."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def graph_tag(**parts: str) -> str:
    """Make the tag by which facts or entities of these parts are looked up, by index however many there are."""
    return digest(f"{name}={part}" for name, part in sorted(parts.items()))


def _graph_tags(subject: str, relation: str, thing: str) -> tuple[str, ...]:
    """Tag a fact by what it is looked up by: its ends, both and each, and its subject with the relation."""
    ends = {"subject": subject}, {"object": thing}
    parts = *ends, ends[0] | ends[1], ends[0] | {"relation": relation}
    return tuple(graph_tag(**part) for part in parts)


def lookup_tags_of(item: Item) -> tuple[str, ...]:
    """Make the tags by which a fact or an entity is looked up, of the slots that say its parts."""
    if item.kind is Kind.ENTITY:
        return (graph_tag(name=str(item.slots.get("name"))),)
    if item.kind is not Kind.FACT:
        return ()
    subject, relation, thing = (str(item.slots.get(name)) for name in ("subject", "relation", "object"))
    return _graph_tags(subject, relation, thing)


def members_of(community: Item) -> set[str]:
    """The names of the entities of a community."""
    members = community.slots["members"]
    return set(map(str, members)) if isinstance(members, list) else set()


@dataclass(slots=True)
class GraphEdits:
    """Collects the edits of one run of the strategy of this name.

    Attributes:
        shown: What facts and names were extracted from, and beside.
    """

    by: str
    shown: tuple[ItemId, ...] = ()
    _write: list[Derivation] = field(default_factory=list)
    _tie: list[Bond] = field(default_factory=list)
    _cite: dict[ItemId, tuple[ItemId, ...]] = field(default_factory=dict)

    def edits(self) -> Edits:
        revise = tuple(Revision(id=id, source=source) for id, source in self._cite.items())
        return Edits(write=tuple(self._write), revise=revise, tie=tuple(dict.fromkeys(self._tie)))

    def new_entity(self, name: str, turn: Item, facts: Iterable[Item] = ()) -> NamedEntity:
        """Write an entity, and tie it to the facts that name it already: it may have been erased."""
        entity = NamedEntity(self._put_name(name, turn, {}, (turn.id,)), name)
        self._tie += [Bond(src=entity.ref, dst=fact.id, type=ABOUT, source=()) for fact in facts]
        return entity

    def other_name(self, name: str, turn: Item, entity: Item) -> NamedEntity:
        """Write another name of an entity; that and what is stated by it rest on the entity as well.

        By its own name it was found only by its words if somebody has changed its tags: it has no other name then.
        """
        if plain_name(name) == plain_name(entity.text):
            return self.known_entity(name, turn, entity)
        self._put_name(name, turn, {SAME_AS: plain_name(entity.text)}, (turn.id, entity.id))
        return NamedEntity(entity.id, entity.text, (entity.id,))

    def known_entity(self, name: str, turn: Item, entity: Item) -> NamedEntity:
        """Take up an entity; it cites the turn if few others name it."""
        if plain_name(name) != plain_name(entity.text):
            return NamedEntity(entity.id, entity.text, (entity.id,))
        if len(entity.source) < _WITNESSES and turn.id not in entity.source:
            self._cite[entity.id] = (turn.id,)
        return NamedEntity(entity.id, entity.text)

    def say_again(self, edge: GraphEdge, fact: GraphFact) -> None:
        """Have a fact rest on one more turn: provenance is all that a duplicate adds."""
        if isinstance(edge.ref, int):
            written = self._write[edge.ref]
            self._write[edge.ref] = replace(written, source=tuple(dict.fromkeys((*written.source, fact.turn.id))))
        elif fact.turn.id not in edge.source:
            self._cite[edge.ref] = tuple(dict.fromkeys((*self._cite.get(edge.ref, ()), fact.turn.id)))
        self._tie.append(Bond(src=edge.ref, dst=fact.turn.id, type=STATED_IN, source=()))

    def put_fact(self, fact: GraphFact, place: EdgePlace) -> GraphEdge:
        """Write a fact where it belongs, and tie it to its entities and its episode."""
        edge, ended, ref = place.edge, [triple.ref for triple in place.ends], len(self._write)
        triple = edge.triple
        slots: dict[str, Slot] = {
            "by": self.by,
            "subject": triple.subject,
            "relation": triple.predicate,
            "object": triple.object,
        }
        cited = (id for end in fact.ends for id in end.cited)
        self._write.append(
            Derivation(
                key=f"{self.by}:{fact.key}",
                kind=Kind.FACT,
                text=triple.fact,
                slots=slots | {ENDED: True} if edge.closing else slots,
                tags=_graph_tags(triple.subject, triple.predicate, triple.object),
                source=tuple(dict.fromkeys((fact.turn.id, *cited))),
                said=fact.turn.said,
                said_offset=fact.turn.said_offset,
                context=(*self.shown, *fact.worded_by),
                valid_from=None if edge.start == edge.said else edge.start,
                valid_to=edge.end,
                supersedes=ended[0] if ended else None,
                revokes=tuple(ended[1:]),
                outdated_by=None if place.ended_by is None else place.ended_by.ref,
            )
        )
        self._tie += [Bond(src=end.ref, dst=ref, type=ABOUT, source=()) for end in fact.ends]
        self._tie.append(Bond(src=ref, dst=fact.turn.id, type=STATED_IN, source=()))
        return replace(edge, ref=ref)

    def put_community(self, members: Sequence[str], facts: Sequence[Item], text: str, old: Sequence[Item]) -> None:
        """Write what some facts say together, in place of what older ones said; it rests on their turns."""
        gone = [item.id for item in old]
        made_of = digest(item.id for item in facts)
        self._write.append(
            Derivation(
                key=f"{self.by}:{facts[-1].source[0]}:{made_of}",
                kind=Kind.SUMMARY,
                text=text,
                slots={"by": self.by, "members": list(members), "made_of": made_of},
                source=tuple(dict.fromkeys(item.source[0] for item in facts)),
                said=facts[-1].said,
                context=tuple(item.id for item in facts),
                supersedes=gone[0] if gone else None,
                revokes=tuple(gone[1:]),
            )
        )

    def _put_name(self, name: str, turn: Item, more: dict[str, Slot], source: tuple[ItemId, ...]) -> int:
        plain = plain_name(name)
        self._write.append(
            Derivation(
                key=f"{self.by}:{turn.id}:{digest(('entity', plain))}",
                kind=Kind.ENTITY,
                text=name,
                slots={"by": self.by, "name": plain, **more},
                tags=(graph_tag(name=plain),),
                source=source,
                said=turn.said,
                said_offset=turn.said_offset,
                context=self.shown,
            )
        )
        return len(self._write) - 1
