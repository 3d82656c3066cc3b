"""What each call on a knowledge graph changes and answers, as pure functions: a graph and arguments in, edits out.

They do what the reference memory server does, to the letter. What is new is told by the graph as it was before the
call, so what one call gives twice is created twice. Of entities that share a name the first is meant. A relation may
name what is no entity; to delete an entity deletes the relations that touch its name; to delete what is not there is no
error. One thing differs on purpose: a secret is masked where it is written, and a name or text given with the secret in
it means the masked one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mnemic.core.ids import ItemId
from mnemic.core.mask import mask
from mnemic.tools.base import Result
from mnemic.tools.graph_items import (
    Graph,
    GraphEntity,
    GraphRelation,
    entity_statement,
    observation_statement,
    relation_statement,
)
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction

Arguments = Mapping[str, Any]
"""Arguments that the tool's schema let through."""

Call = Callable[[Graph, Arguments], Transaction[Result]]

_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "create_entities": ("entities", "name"),
    "create_relations": ("relations", "from"),
    "add_observations": ("observations", "entityName"),
    "delete_entities": ("entityNames", ""),
    "delete_observations": ("deletions", "entityName"),
    "delete_relations": ("relations", "from"),
    "open_nodes": ("names", ""),
}
"""Where the arguments of a call name what it is about: a list, and the field of its members, if they have fields."""

DELETED: Final = "{} deleted successfully"


def about(call: str, arguments: Arguments) -> set[str] | None:
    """The names that a call looks at: it answers the same if the graph holds only what touches them. None: any."""
    if call not in _NAMES:
        return None
    listed, field = _NAMES[call]
    return _either_of_each(record[field] if field else record for record in arguments[listed])


def create_entities(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """New entities with their observations; those whose name is taken are passed over."""
    known = {entity.name for entity in graph.entities}
    fresh = [_entity(record) for record in arguments["entities"] if known.isdisjoint(either(record["name"]))]
    numbers: Counter[str] = Counter()
    write: list[Statement] = []
    for record in fresh:
        name, kept = either(record["name"])
        numbers[kept] += 1
        write.append(entity_statement(name, record["entityType"], numbers[kept]))
        write += (observation_statement(name, numbers[kept], text) for text in record["observations"])
    return Transaction(answer=_listed("entities", fresh), write=tuple(write))


def create_relations(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """New relations; those that are there are passed over."""
    known = {relation.triple for relation in graph.relations}
    fresh = [_relation(record) for record in arguments["relations"] if known.isdisjoint(_triples(record))]
    write = tuple(relation_statement(record["from"], record["to"], record["relationType"]) for record in fresh)
    return Transaction(answer=_listed("relations", fresh), write=write)


def add_observations(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """New observations of entities that are there; one name that is none, and nothing is written."""
    first = _first_of_each_name(graph)
    known: dict[str, set[str]] = {}
    write: list[Statement] = []
    results: list[dict[str, Any]] = []
    for record in arguments["observations"]:
        name = record["entityName"]
        entity = _named(name, first)
        if entity is None:
            return Transaction(answer=Result(text=f"Entity with name {_printable(name)} not found", failed=True))
        texts = known.setdefault(entity.name, {observation.text for observation in entity.observations})
        fresh = [text for text in record["contents"] if texts.isdisjoint(either(text))]
        texts.update(fresh)
        write += (observation_statement(entity.name, entity.node, text) for text in fresh)
        results.append({"entityName": name, "addedObservations": fresh})
    return Transaction(answer=_listed("results", results), write=tuple(write))


def delete_entities(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """Entities of these names gone, with their observations and with every relation that touches one of the names."""
    names = _either_of_each(arguments["entityNames"])
    retire: list[ItemId] = []
    for entity in graph.entities:
        if entity.name in names:
            retire += (*entity.ids, *(observation.id for observation in entity.observations))
    retire += (relation.id for relation in graph.relations if not names.isdisjoint((relation.src, relation.dst)))
    return Transaction(answer=_deleted("Entities"), retire=tuple(retire))


def delete_observations(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """These observations gone, of the first entity of each name."""
    first = _first_of_each_name(graph)
    retire: dict[ItemId, None] = {}
    for record in arguments["deletions"]:
        gone = _either_of_each(record["observations"])
        entity = next(
            (first[form] for form in (record["entityName"], mask(record["entityName"])[0]) if form in first), None
        )
        retire.update(
            (observation.id, None)
            for observation in (entity.observations if entity else ())
            if observation.text in gone
        )
    return Transaction(answer=_deleted("Observations"), retire=tuple(retire))


def delete_relations(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """These relations gone, however often each was there."""
    gone = {triple for record in arguments["relations"] for triple in _triples(record)}
    retire = tuple(relation.id for relation in graph.relations if relation.triple in gone)
    return Transaction(answer=_deleted("Relations"), retire=retire)


def read_graph(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """Answer with the whole graph."""
    return Transaction(answer=_shown(graph.entities, graph.relations))


def search_nodes(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """Entities that hold the query in name, type or an observation, whatever the case; and relations at them."""
    query = arguments["query"].lower()
    matching = [entity for entity in graph.entities if any(query in text.lower() for text in _texts(entity))]
    return Transaction(answer=_with_relations(graph, matching))


def open_nodes(graph: Graph, arguments: Arguments) -> Transaction[Result]:
    """Entities of these names, in the graph's order; and relations at them."""
    names = _either_of_each(arguments["names"])
    return Transaction(answer=_with_relations(graph, [entity for entity in graph.entities if entity.name in names]))


def either(text: str) -> tuple[str, str]:
    """A text as it was given, and as it is kept where secrets are masked."""
    return text, mask(text)[0]


def _either_of_each(texts: Iterable[str]) -> set[str]:
    return {form for text in texts for form in either(text)}


def _triples(arguments: Arguments) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    ends = arguments["from"], arguments["to"], arguments["relationType"]
    return ends, (mask(ends[0])[0], mask(ends[1])[0], mask(ends[2])[0])


def _first_of_each_name(graph: Graph) -> dict[str, GraphEntity]:
    return {entity.name: entity for entity in reversed(graph.entities)}


def _named(name: str, first: Mapping[str, GraphEntity]) -> GraphEntity | None:
    return next((first[form] for form in either(name) if form in first), None)


def _texts(entity: GraphEntity) -> Iterable[str]:
    yield entity.name
    yield entity.type
    for observation in entity.observations:
        yield observation.text


def _printable(name: str) -> str:
    """A name that can be sent: one that no text can hold is no entity's, and is shown with a mark in its place."""
    return name.encode("utf-8", "replace").decode()


# Answers


def _with_relations(graph: Graph, entities: Sequence[GraphEntity]) -> Result:
    """Entities with the relations that start or end at one of them."""
    names = {entity.name for entity in entities}
    return _shown(
        entities, [relation for relation in graph.relations if relation.src in names or relation.dst in names]
    )


def _shown(entities: Sequence[GraphEntity], relations: Sequence[GraphRelation]) -> Result:
    data = {
        "entities": [
            {"name": each.name, "entityType": each.type, "observations": [o.text for o in each.observations]}
            for each in entities
        ],
        "relations": [{"from": each.src, "to": each.dst, "relationType": each.type} for each in relations],
    }
    return Result(text=_json(data), data=data)


def _listed(field: str, created: Sequence[Mapping[str, Any]]) -> Result:
    """The text is the bare list, the data an object that holds it."""
    return Result(text=_json(created), data={field: list(created)})


def _deleted(what: str) -> Result:
    message = DELETED.format(what)
    return Result(text=message, data={"success": True, "message": message})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _entity(arguments: Arguments) -> dict[str, Any]:
    """An entity in the order that the reference prints, without fields that it does not know."""
    return {
        "name": arguments["name"],
        "entityType": arguments["entityType"],
        "observations": list(arguments["observations"]),
    }


def _relation(arguments: Arguments) -> dict[str, Any]:
    return {"from": arguments["from"], "to": arguments["to"], "relationType": arguments["relationType"]}
