"""One user's memory behind the tools of a profile: what a model asks for is checked, run, and told back to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.door_words import in_words_of
from mnemic.core.json_schema import check, with_whole_numbers
from mnemic.errors import Invalid, MnemicError
from mnemic.registry import BUILT_IN, TOOLS, load
from mnemic.tools.base import Result, Tool

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory

VERBS: Final = "verbs"


class Toolbox:
    """The tools of a profile over one user's memory. Safe to share between threads.

    Args:
        memory: Whose; nothing that a model says reaches another's.
        profile: `verbs` (remember, recall, ...), `reference` (the tools of the reference memory server of MCP), or
            `files` (the commands of Anthropic's memory tool).
        read_only: Only tools that change nothing.

    Raises:
        Invalid: there is no such profile.
    """

    def __init__(self, memory: ScopedMemory, profile: str = VERBS, *, read_only: bool = False) -> None:
        if not hasattr(memory, "observe"):
            raise Invalid("memory", f"is {type(memory).__name__}", "Give one user's: memory.scope(user=...).")
        self.memory, self.profile = memory, profile
        every: tuple[Tool, ...] = load(TOOLS, profile)
        self.tools = tuple(tool for tool in every if tool.read_only or not read_only)
        built_in: Tool | None = load(BUILT_IN, profile) if profile in BUILT_IN and not read_only else None
        self._built_in = built_in
        self._by_name = {tool.name: tool for tool in (*self.tools, *([built_in] if built_in else []))}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        """Run a tool with what a model gave: an object, or the JSON text of one.

        What the model can mend comes back as a result that says so, never as an exception.
        """
        try:
            tool = self._tool(name)
            given = with_whole_numbers(tool.parameters, _object(arguments))
            check(tool.parameters, given)
            return tool.run(self.memory, given)
        except MnemicError as error:
            words = in_words_of(str(error), {name: name for name in self._by_name})
            return Result(text=f"{type(error).__name__}: {words}", failed=True)

    def openai(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's chat completions take them."""
        return [{"type": "function", "function": _function(tool, "parameters")} for tool in self.tools]

    def openai_responses(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's responses take them."""
        return [{"type": "function", **_function(tool, "parameters"), "strict": False} for tool in self.tools]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools as Anthropic's messages take them; for `files` the one that the API has built in for all six."""
        if self._built_in is not None and self._built_in.declared is not None:
            return [dict(self._built_in.declared)]
        return [_function(tool, "input_schema") for tool in self.tools]

    def _tool(self, name: object) -> Tool:
        if not isinstance(name, str) or name not in self._by_name:
            raise Invalid("tool", f"{name!r} is not one of these", f"Known: {', '.join(self._by_name)}.")
        return self._by_name[name]


def _function(tool: Tool, schema: str) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, schema: dict(tool.parameters)}


def _object(arguments: object) -> Mapping[str, Any]:
    try:
        given = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError too
        raise Invalid("arguments", f"are not JSON ({error})", "Give a JSON object.") from error
    if not isinstance(given, Mapping):
        raise Invalid("arguments", f"are {type(given).__name__}, not an object", "Give a JSON object.")
    return given
