"""Applications on ports of their own, for real clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serving_app(app: Any, **how: Any) -> Iterator[str]:
    """Have an application answer on a free port until the block is left; yields the address, without a path.

    Args:
        how: More of uvicorn's settings, such as the protocol.
    """
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none", **how))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the application did not start")
        time.sleep(0.005)
    (listening,) = server.servers[0].sockets
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
