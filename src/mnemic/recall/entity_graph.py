"""The graph that items make, whoever keeps it: entities and names as nodes, what facts relate as edges between them.

A fact relates two names by the slots `subject`, `relation`, `object` (zep and others of that form), `subject`,
`slot`, `value` (mem0), `entity`, `relation`, `to` (the tools of the reference memory server), or by each of its
`triples` (hippo2). Names are compared as strategies compare them, so several that keep the same entity share its
node. Links between nodes are edges where no fact relates them; a fact that relates no names is a node only where a
link ties it to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import ENDED, Item, Kind, State
from mnemic.core.queries import Filter
from mnemic.strategies.rules.name_likeness import plain_name

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Link

DRAWN: Final = Filter(kinds=(Kind.ENTITY, Kind.FACT), states=(State.ACTIVE, State.SUPERSEDED))
"""Among these items are all nodes and edges."""


class EdgeSource(StrEnum):
    """What an edge is made of."""

    FACT = "fact"
    """A fact that relates its ends."""
    MENTION = "mention"
    """A fact that names both ends, and not how they are related."""
    LINK = "link"
    """A link between the items of its ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNode:
    """An entity, or a name that facts relate, or a fact that a link ties to another.

    Attributes:
        name: As the first item spells it that does not write all names in small letters.
        type: What sort of entity it is; "" if nothing says so.
        items: The entities of this name; empty where only facts name it.
        notes: What is stated of it alone, oldest first.
        ended: All that states it holds no longer.
    """

    name: str
    type: str = ""
    items: tuple[Item, ...] = ()
    notes: tuple[Item, ...] = ()
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityEdge:
    """A directed edge between two nodes, by their places.

    Attributes:
        label: How its ends are related.
        fact: What says so; None for a link.
        ended: It holds no longer.
    """

    src: int
    dst: int
    label: str
    made_of: EdgeSource
    fact: Item | None = None
    ended: bool = False
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityGraph:
    """Nodes, those with most edges first, and the edges between them.

    Attributes:
        evidence: The sources of its items that the view shows.
        left_out: Nodes that were more than the limit.
    """

    nodes: tuple[EntityNode, ...] = ()
    edges: tuple[EntityEdge, ...] = ()
    evidence: Mapping[ItemId, Item]
    left_out: int = 0

    @property
    def items(self) -> list[Item]:
        """Every item that is drawn, each once."""
        stated = [stated_in for node in self.nodes for stated_in in (*node.items, *node.notes)]
        stated += [edge.fact for edge in self.edges if edge.fact is not None]
        return list({item.id: item for item in stated}.values())


def has_ended(item: Item, when: int) -> bool:
    """Whether an item held no longer at a moment, microseconds, or says that something is over."""
    ends = [micros(end) for end in (item.valid_to, item.known_to) if end is not None]
    return item.slots.get(ENDED) is True or any(end <= when for end in ends)


def drawn(items: Iterable[Item], links: Sequence[Link], when: int) -> EntityGraph:
    """Make the graph of some items.

    Args:
        items: Of the kinds of `DRAWN`; others are passed over.
        links: Those at the items; what ties none of them to another is passed over.
        when: The moment at which what has ended is told from what holds, microseconds.
    """
    drawing = _Drawing(when)
    ordered = sorted(items, key=lambda item: (item.kind is not Kind.ENTITY, item.said, item.id))
    for item in ordered:
        if item.kind is Kind.ENTITY and not isinstance(item.slots.get("same_as"), str):
            drawing.take_entity(item)
    for item in ordered:
        if item.kind is Kind.ENTITY and isinstance(item.slots.get("same_as"), str):
            drawing.take_other_name(item)
        elif item.kind is Kind.FACT:
            drawing.take_fact(item)
    drawing.take_links(links)
    return drawing.graph()


def around(graph: EntityGraph, name: str, steps: int) -> EntityGraph:
    """Keep what lies within so many steps of the nodes of a name; nothing if none is called so.

    Where no node has just this name, those whose names hold it are meant.
    """
    plain = plain_name(name)
    names = [plain_name(node.name) for node in graph.nodes]
    near = {place for place, node_name in enumerate(names) if node_name == plain}
    near = near or {place for place, node_name in enumerate(names) if plain and plain in node_name}
    for _ in range(steps):
        near |= {end for edge in graph.edges if near & {edge.src, edge.dst} for end in (edge.src, edge.dst)}
    return _kept(graph, sorted(near))


def limited(graph: EntityGraph, most: int) -> EntityGraph:
    """Keep the nodes with most edges, at most so many."""
    left_out = max(0, len(graph.nodes) - most)
    return replace(_kept(graph, range(min(most, len(graph.nodes)))), left_out=left_out)


def _kept(graph: EntityGraph, places: Sequence[int]) -> EntityGraph:
    """Keep the nodes at these places, and the edges between them."""
    new = {old: place for place, old in enumerate(places)}
    edges = tuple(
        replace(edge, src=new[edge.src], dst=new[edge.dst])
        for edge in graph.edges
        if edge.src in new and edge.dst in new
    )
    return replace(graph, nodes=tuple(graph.nodes[place] for place in places), edges=edges)


class _Drawing:
    """Collects nodes by their names, and edges."""

    def __init__(self, when: int) -> None:
        self._when = when
        self._nodes: dict[str, EntityNode] = {}
        self._keys: dict[ItemId, str] = {}
        self._unrelated: dict[ItemId, Item] = {}
        self._edges: list[tuple[str, str, EntityEdge]] = []

    def take_entity(self, item: Item) -> None:
        """Make the node of an entity, or add it to the one of its name."""
        kept, number = item.slots.get("entity"), item.slots.get("node")
        name = kept if isinstance(kept, str) and kept.strip() else item.text
        key = _key(name, number)
        before = self._nodes.get(key, EntityNode(name=name))
        type = before.type or str(item.slots.get("entity_type") or "")
        self._nodes[key] = replace(before, name=_spelt(before.name, name), type=type, items=(*before.items, item))
        self._keys[item.id] = key

    def take_other_name(self, item: Item) -> None:
        """Have another name of an entity mean that entity."""
        key = _key(str(item.slots["same_as"]))
        if key not in self._nodes:
            self.take_entity(item)
            return
        node = self._nodes[key]
        self._nodes[key] = replace(node, items=(*node.items, item))
        self._keys[item.id] = key

    def take_fact(self, item: Item) -> None:
        """Make the edges of a fact; one that tells of a single name becomes a note there."""
        related = [triple for triple in _triples(item) if all(end.strip() for end in triple[::2])]
        ended, is_drawn = has_ended(item, self._when), False
        pairs = {(src, dst) for src, label, dst in related if label}
        for src, label, dst in dict.fromkeys(related):
            ends = self._named(src), self._named(dst)
            if ends[0] == ends[1]:
                self._note(ends[0], item)
            elif label or not {(src, dst), (dst, src)} & pairs:
                made_of = EdgeSource.FACT if label else EdgeSource.MENTION
                self._edges.append(
                    (*ends, EntityEdge(src=0, dst=0, label=label, made_of=made_of, fact=item, ended=ended))
                )
            is_drawn = True
        about = item.slots.get("entity", item.slots.get("subject"))
        if not is_drawn and isinstance(about, str) and about.strip():
            self._note(self._named(about, item.slots.get("node")), item)
        elif not is_drawn:
            self._unrelated[item.id] = item

    def take_links(self, links: Sequence[Link]) -> None:
        """Tie nodes by links, where no fact relates them already."""
        related = {frozenset(pair[:2]) for pair in self._edges}
        for link in links:
            ends = [self._end(id, link) for id in (link.src, link.dst)]
            if None in ends or ends[0] == ends[1] or frozenset(ends) in related:
                continue
            src, dst = (str(end) for end in ends)
            for id, key in ((link.src, src), (link.dst, dst)):
                if id in self._unrelated:
                    item = self._unrelated[id]
                    self._nodes[key] = EntityNode(name=item.text, type="fact", items=(item,))
            label = link.type.replace("_", " ")
            edge = EntityEdge(src=0, dst=0, label=label, made_of=EdgeSource.LINK, weight=link.weight)
            self._edges.append((src, dst, edge))

    def graph(self) -> EntityGraph:
        """The graph, its nodes by the number of their edges."""
        degrees = Counter(end for src, dst, _ in self._edges for end in (src, dst))
        keys = sorted(self._nodes, key=lambda key: (-degrees[key], key))
        places = {key: place for place, key in enumerate(keys)}
        nodes = tuple(replace(node, ended=self._over(node)) for node in (self._nodes[key] for key in keys))
        edges = tuple(replace(edge, src=places[src], dst=places[dst]) for src, dst, edge in self._edges)
        return EntityGraph(nodes=nodes, edges=edges, evidence={})

    def _over(self, node: EntityNode) -> bool:
        return bool(node.items) and all(has_ended(item, self._when) for item in node.items)

    def _named(self, name: str, number: object = None) -> str:
        """The key of a name; a name without an entity becomes a node."""
        key = _key(name, number)
        before = self._nodes.get(key, EntityNode(name=name))
        self._nodes[key] = replace(before, name=_spelt(before.name, name))
        return key

    def _note(self, key: str, item: Item) -> None:
        self._nodes[key] = replace(self._nodes[key], notes=(*self._nodes[key].notes, item))

    def _end(self, id: ItemId, link: Link) -> str | None:
        return self._keys.get(id) or (f"\0{id}" if id in self._unrelated and link.src != link.dst else None)


def _spelt(name: str, other: str) -> str:
    """Choose between two spellings of a name: one in small letters throughout was made so that it can be compared."""
    return other if name == name.lower() and other != other.lower() else name


def _key(name: str, number: object = None) -> str:
    """What tells a node from others: its name as names are compared, and its number among those of that name."""
    plain = plain_name(name) or name
    return f"{plain}\0{number}" if isinstance(number, int) and number > 1 else plain


def _triples(item: Item) -> list[tuple[str, str, str]]:
    """What a fact relates: subject, relation, object."""
    slots = item.slots
    for names in (("subject", "relation", "object"), ("subject", "slot", "value"), ("entity", "relation", "to")):
        if all(isinstance(slots.get(name), str) for name in names):
            src, label, dst = (str(slots[name]) for name in names)
            return [(src, label, dst)]
    listed = slots.get("triples")
    whole = (
        [triple for triple in listed if isinstance(triple, list) and len(triple) == 3]
        if isinstance(listed, list)
        else []
    )
    return [(str(src), str(label), str(dst)) for src, label, dst in whole]
