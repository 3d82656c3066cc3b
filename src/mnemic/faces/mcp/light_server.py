"""A server without the parts of the SDK that pipes do not need: it starts in about half the time.

The protocol is the SDK's here too: `serve_dual_era_loop` reads, checks, dispatches and answers. What is left out is the
import of its client, its HTTP transports and the web framework under them, most of a second, and the schemas of
messages that never come. A test holds the answers of this server against those of the SDK's own, and a version of the
SDK that was not tested is served with its own.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.models import InitializationOptions

    from mnemic.faces.mcp.methods import Context, Offer
    from mnemic.faces.mcp.served_memory import ServedMemory

TESTED: Final = ("2.3.",)
"""Beginnings of the versions of the SDK that this was tested with."""

_HELD_BACK: Final = ("mcp", "mcp.server")


def fits() -> bool:
    """Whether the SDK that is installed is one of those, and not imported yet.

    Raises:
        ModuleNotFoundError: none is installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")
    return metadata.version("mcp").startswith(TESTED) and "mcp" not in sys.modules


def prepare() -> None:
    """Hold back what the SDK's packages import for others, and schemas until a message needs them.

    For a process that serves and does nothing else. Whoever asks a package for one of its names still gets it.
    """
    import pydantic

    pydantic.BaseModel.model_config["defer_build"] = True
    for name in _HELD_BACK:
        _hold_back(name)


class _HeldBack(ModuleType):
    """A package whose modules can be imported, and that is itself run when one of its own names is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        assert self.__spec__ is not None
        assert self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _hold_back(name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    package = importlib.util.module_from_spec(spec)
    package.__class__ = _HeldBack
    sys.modules[name] = package


@dataclass(frozen=True, slots=True)
class _Entry:
    params_type: type[Any]
    handler: Callable[[Any, Any], Any]


class Light:
    """What the SDK's runner asks of a server: its handlers by method, and how it introduces itself."""

    def __init__(self, offer: Offer) -> None:
        import mcp_types as types

        from mnemic.faces.mcp.methods import HINTS

        self._offer = offer
        self.cache_hints = HINTS
        self.middleware = (offer.opened_behind,)
        self._entries = {method: _Entry(*answered) for method, answered in offer.answers().items()}
        self._entries["ping"] = _Entry(types.RequestParams, _ping)
        self._entries["server/discover"] = _Entry(types.RequestParams, self._discover)

    def get_request_handler(self, method: str) -> _Entry | None:
        """Return what answers a method."""
        return self._entries.get(method)

    def get_notification_handler(self, method: str) -> None:
        """Return nothing: no notification of a client is of interest."""
        return

    def create_initialization_options(self) -> InitializationOptions:
        """Make what the server introduces itself by to an older client."""
        from mcp.server.models import InitializationOptions

        return InitializationOptions(
            **self._itself(), capabilities=self._capabilities(listening=False), instructions=self._offer.instructions
        )

    @property
    def server_info_stamp(self) -> dict[str, Any]:
        """Name and version, which a newer client gets with every answer."""
        return {name.removeprefix("server_"): value for name, value in self._itself().items()}

    async def run(self, read: Any, write: Any, options: InitializationOptions) -> None:
        """Serve one client until it leaves."""
        from mcp.server.runner import serve_dual_era_loop

        server: Any = self
        async with self._offer.connection(self) as mine:
            await serve_dual_era_loop(server, read, write, lifespan_state=mine, init_options=options)

    def _itself(self) -> dict[str, Any]:
        from mnemic import _version
        from mnemic.faces.mcp.methods import NAME

        return {"server_name": NAME, "server_version": _version.__version__, "title": NAME}

    def _capabilities(self, *, listening: bool) -> types.ServerCapabilities:
        """`listening`: of a newer client, which hears of changes on a stream of its own, where that is served."""
        import mcp_types as types

        notifies = listening and "subscriptions/listen" in self._entries
        subscribe = notifies if listening else "resources/subscribe" in self._entries
        resources = types.ResourcesCapability(subscribe=subscribe, list_changed=notifies)
        return types.ServerCapabilities(
            tools=types.ToolsCapability(list_changed=notifies),
            resources=resources if "resources/list" in self._entries else None,
            prompts=types.PromptsCapability(list_changed=notifies) if "prompts/list" in self._entries else None,
        )

    async def _discover(self, ctx: Context, params: types.RequestParams) -> types.DiscoverResult:
        import mcp_types as types
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self._capabilities(listening=True),
            instructions=self._offer.instructions,
        )


async def _ping(ctx: Context, params: types.RequestParams) -> types.EmptyResult:
    import mcp_types as types

    return types.EmptyResult()


def build(served: ServedMemory) -> Light:
    """Make the server of what `served` offers."""
    from mnemic.faces.mcp.methods import Offer

    return Light(Offer(served))
