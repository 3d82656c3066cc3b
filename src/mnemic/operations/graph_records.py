"""Makes JSON of the graph of entities and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mnemic.operations.records import said_on_clock, since, until

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.recall.entity_graph import EntityEdge, EntityGraph, EntityNode


def graph_record(graph: EntityGraph) -> dict[str, Any]:
    """Make the record of a graph; edges name their ends by their places among the nodes."""
    return {
        "nodes": [_node_record(node, graph) for node in graph.nodes],
        "edges": [_edge_record(edge, graph) for edge in graph.edges],
        "left_out": graph.left_out,
    }


def _node_record(node: EntityNode, graph: EntityGraph) -> dict[str, Any]:
    return {
        "name": node.name,
        "type": node.type,
        "ended": node.ended,
        "items": [_stated(item, graph) for item in node.items],
        "notes": [_stated(item, graph) for item in node.notes],
    }


def _edge_record(edge: EntityEdge, graph: EntityGraph) -> dict[str, Any]:
    return {
        "src": edge.src,
        "dst": edge.dst,
        "label": edge.label,
        "made_of": edge.made_of.value,
        "ended": edge.ended,
        "weight": edge.weight,
        "fact": None if edge.fact is None else _stated(edge.fact, graph),
    }


def _stated(item: Item, graph: EntityGraph) -> dict[str, Any]:
    """Make the record of an item with what it rests on."""
    ended = item.valid_to or item.known_to
    sources = [graph.evidence[id] for id in item.source if id in graph.evidence]
    return {
        "id": item.id,
        "text": item.text,
        "by": item.author,
        "since": since(item),
        "until": until(item) if ended else None,
        "evidence": [{"id": source.id, "said": said_on_clock(source), "text": source.text} for source in sources],
    }
