"""A browser, and servers over memories that have lived: for tests that look at the dashboard as a person does."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, Settings

if importlib.util.find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]

QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
QUIET += ("--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        system = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        launched = playwright.chromium.launch(executable_path=system, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Fills a store, serves it by a process of its own, and returns the address, or the link that signs in."""
    with ExitStack() as stack:

        def serve(fill: Callable[[Memory], None], *options: str, store: Path | None = None) -> str:
            store = store or tmp_path_factory.mktemp("store") / "memory.db"
            with Memory(store, settings=Settings(embedder="none")) as memory:
                fill(memory)
                memory.flush()
            command = [sys.executable, "-m", "mnemic", "serve", "--store", str(store), "--port", "0", *options]
            environ = {**os.environ, "MNEMIC_EMBEDDER": "none", "MNEMIC_HOME": str(store.parent)}
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
            stack.enter_context(process)  # leaving waits for it, and closes its pipe
            stack.callback(process.terminate)
            assert process.stdout is not None
            if "--dashboard" in options:
                process.stdout.readline()
                return process.stdout.readline().strip()
            found = _ADDRESS.search(process.stdout.readline())
            assert found is not None
            return found[0]

        yield serve


@pytest.fixture
def opening(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page of the dashboard; afterwards nothing was said on its console, no dialog rose, nobody else asked."""
    with ExitStack() as stack:
        wrong: list[str] = []

        def opened(
            address: str,
            route: str = "",
            *,
            language: str = "en-GB",
            dark: bool = False,
            phone: bool = False,
            link: str = "",
            refused: bool = False,
        ) -> Any:
            context = browser.new_context(
                viewport={"width": 400, "height": 820} if phone else {"width": 1280, "height": 800},
                color_scheme="dark" if dark else "light",
                locale=language,
                timezone_id="UTC",
                reduced_motion="reduce",
            )
            stack.callback(context.close)
            page = context.new_page()
            page.on("console", lambda told: _note(wrong, told, refused=refused))
            page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
            page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda asked: asked.url.startswith(address) or wrong.append(f"elsewhere: {asked.url}"))
            if link:
                page.goto(link)
            page.goto(f"{address}/#/{route}")
            page.wait_for_selector(".screen")
            return page

        yield opened
        assert wrong == []


def _note(wrong: list[str], told: Any, *, refused: bool) -> None:
    """Keep what a page says on its console. A slow renderer is the machine's doing, and 401 asks one to sign in.

    Args:
        refused: The page asks on purpose for what is refused.
    """
    expected = "GPU stall" in told.text or "status of 401" in told.text or (refused and "status of 4" in told.text)
    if told.type in ("error", "warning") and not expected:
        wrong.append(f"{told.type}: {told.text} ({told.location.get('url', '')})")
