"""Let a model work with tools: it asks for them, they are run, and it goes on until it answers.

Models that know tools are asked their own way, the others by JSON (`chat.json_actions`): the loop is the same.
Source: Yao et al., "ReAct", arXiv:2210.03629, and the tool loop of Packer et al., "MemGPT", arXiv:2310.08560.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemic.core.json_schema import check
from mnemic.errors import Invalid, ModelError, NotFound, Refused
from mnemic.flow import Flow
from mnemic.models.chat.base import Ask, ChatMessage, Reply, ToolCall, ToolOffer

STEPS: Final = 8
"""Times that a model is asked, unless it is said otherwise."""

Run = Callable[[Mapping[str, Any]], Flow[str]]
"""What a tool does, from its checked arguments to the text that the model reads."""


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool that a flow lends to a model; what it raises of `mnemic.errors` the model is told, and may do better."""

    offer: ToolOffer
    run: Run


@dataclass(frozen=True, slots=True)
class Worked:
    """How a model came to its answer.

    Attributes:
        messages: The whole conversation, with every call and its result.
        reply: The answer.
    """

    messages: tuple[ChatMessage, ...]
    reply: Reply


def with_tools(ask: Ask, tools: Sequence[ModelTool], *, steps: int = STEPS) -> Flow[Worked]:
    """Ask a model that may use tools, run those that it asks for, and go on until it answers.

    The last time it is asked no tools are left, so that it has to answer.

    Raises:
        ModelError: it failed.
    """
    by_name = {tool.offer.name: tool for tool in tools}
    messages = ask.messages
    for step in range(1, steps + 1):
        offers = tuple(tool.offer for tool in tools) if step < steps else ()
        reply: Reply = yield replace(ask, messages=messages, tools=offers)
        if not reply.calls:
            return Worked(messages, reply)
        messages = (*messages, ChatMessage("assistant", reply.text, reply.calls))
        for call in reply.calls:
            result = yield from _called(by_name, call)
            messages = (*messages, ChatMessage("tool", result, answers=call.id))
    raise ModelError(f"the model asked for tools {steps} times, and never answered")


def _called(tools: Mapping[str, ModelTool], call: ToolCall) -> Flow[str]:
    """Run a call; what is wrong with it, or goes wrong in it, is what the model reads."""
    tool = tools.get(call.name)
    if tool is None:
        return f"error: there is no tool {call.name!r}; there are {', '.join(tools)}"
    try:
        arguments = json.loads(call.arguments or "{}")
        check(tool.offer.parameters, arguments)
    except (ValueError, RecursionError):
        return "error: the arguments are no JSON"
    except Invalid as error:
        return f"error: {error}"
    try:
        return (yield from tool.run(arguments))
    except (Invalid, NotFound, Refused) as error:
        return f"error: {error}"
