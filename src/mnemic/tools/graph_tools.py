"""The nine tools of the reference memory server of MCP, over one user's memory: the same names, arguments and answers.

An agent that was written for that server needs no change. The differences are all on the side of what is kept: calls
that run at once lose nothing, secrets are masked, what was deleted is in the history and `undo` brings it back, and a
text that no item can hold (a NUL, half a surrogate pair, more than the setting `item_limit`) is refused with nothing
written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import flag, many, shape, text
from mnemic.tools import graph_calls
from mnemic.tools.base import Result, Tool
from mnemic.tools.graph_items import WHERE, graph_of

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory


def _tool(
    name: str, description: str, parameters: Mapping[str, Any], result: Mapping[str, Any], **promises: Any
) -> Tool:
    """The tool of a name: its title is the name in words, what it does the call of that name."""
    call: graph_calls.Call = getattr(graph_calls, name)

    def run(memory: ScopedMemory, arguments: Mapping[str, Any]) -> Result:
        names = graph_calls.about(name, arguments)
        return memory.transact(WHERE, lambda versions: call(graph_of(versions, names), arguments))

    title = name.replace("_", " ").title()
    return Tool(
        name=name, title=title, description=description, parameters=parameters, result=result, run=run, **promises
    )


def _taken(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that is read for these fields; the reference lets others pass, and so do we."""
    return {name: part for name, part in shape(fields).items() if name != "additionalProperties"}


_NAME: Final = text("What it is called: the name that observations and relations refer to")
_TYPE: Final = text("What sort of thing it is, such as person, project or place")
_OBSERVED: Final = many(text(), "What is known of it, one short statement each")
_FROM: Final = text("Name of the entity it starts at")
_TO: Final = text("Name of the entity it ends at")
_VERB: Final = text("What it says, in active voice, such as works_at")

_ENTITY: Final = {"name": _NAME, "entityType": _TYPE, "observations": _OBSERVED}
_RELATION: Final = {"from": _FROM, "to": _TO, "relationType": _VERB}
_GRAPH: Final = shape({"entities": many(shape(_ENTITY)), "relations": many(shape(_RELATION))})
_DONE: Final = shape({"success": flag(), "message": text()})

TOOLS: Final = (
    _tool(
        "create_entities",
        "Put new things into the knowledge graph: people, projects, places, ideas. One whose name is taken already is"
        " passed over; the answer lists those that were created.",
        _taken(entities=many(_taken(**_ENTITY))),
        shape({"entities": many(shape(_ENTITY))}),
    ),
    _tool(
        "create_relations",
        "Tie entities to each other, in active voice: from, relationType, to. A relation that is there already is"
        " passed over; the answer lists those that were created.",
        _taken(relations=many(_taken(**_RELATION))),
        shape({"relations": many(shape(_RELATION))}),
    ),
    _tool(
        "add_observations",
        "Add what you have learned about entities that are in the knowledge graph. If one of them is not, nothing is"
        " written. The answer lists what was new.",
        _taken(observations=many(_taken(entityName=text("Which entity"), contents=many(text(), "What to add")))),
        shape({"results": many(shape({"entityName": text(), "addedObservations": many(text())}))}),
    ),
    _tool(
        "delete_entities",
        "Take entities out of the knowledge graph, with their observations and all relations that touch them.",
        _taken(entityNames=many(text(), "Which entities")),
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "delete_observations",
        "Take single observations out of entities; each is named by its exact words.",
        _taken(deletions=many(_taken(entityName=text("Which entity"), observations=many(text(), "What to take out")))),
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "delete_relations",
        "Take relations out of the knowledge graph; each is named by its two ends and its type.",
        _taken(relations=many(_taken(**_RELATION), "Which relations")),
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "read_graph",
        "Read the whole knowledge graph: every entity with its observations, and every relation.",
        _taken(),
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
    _tool(
        "search_nodes",
        "Find entities whose name, type or observations contain a text, whatever its case, with the relations at them.",
        _taken(query=text("The text to look for, as it would stand there; not a question")),
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
    _tool(
        "open_nodes",
        "Read single entities by name, with their observations and the relations at them.",
        _taken(names=many(text(), "Which entities")),
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
)
"""In the order in which the reference server lists them."""
