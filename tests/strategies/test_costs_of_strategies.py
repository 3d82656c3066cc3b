"""What a strategy says that it costs is what it costs over the bundled conversation."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from mnemic.demo import conversation
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.stream import Stream
from mnemic.strategies.zep import Zep

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import ToldChat, following, terse


@pytest.mark.parametrize("strategy", [Mem0(), Mem0(add_only=True), Stream(), Zep(), Hippo2(), MemoryOS()])
def test_calls_and_tokens_a_message_are_those_that_the_docstring_states(
    strategy: Mem0 | Stream | Zep | Hippo2 | MemoryOS,
) -> None:
    chat = ToldChat(terse)
    memory, me = following(strategy, chat)
    turns = conversation()
    with memory:
        me.observe(turns)
        assert memory.flush()
    stated = f"{len(chat.asked) / len(turns):.2f} calls and {chat.tokens / len(turns):.0f} tokens"
    assert stated in re.sub(r"\s+", " ", type(strategy).__doc__ or ""), stated
