"""Memory as tools that a language model calls: schemas for OpenAI, Anthropic and MCP, and one place that runs them."""

from mnemic.tools.base import Result, Tool
from mnemic.tools.toolbox import Toolbox

__all__ = ["Result", "Tool", "Toolbox"]
