"""Has an error speak of what its reader can do: it may name commands, and not everybody has a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

_COMMAND: Final = re.compile(r"`mnemic ([^`]+)`")
_CLAUSE: Final = re.compile(r"(?:[^`;.]|`[^`]*`(?!mnemic )|`|[;.](?!\s|$))+[;.]?\s*|[;.]\s*")


def in_words_of(text: str, offered: Mapping[str, str]) -> str:
    """Name what a door offers in place of the commands that a text names; leave a clause out that names another.

    Args:
        offered: What the door calls a command, by the words the command begins with; as it stands, if that is empty.
    """
    if "`mnemic " not in text:
        return text
    clauses = _CLAUSE.findall(text)
    kept = [_in_words_of(clause, offered) for clause in clauses]
    left = "".join(clause for clause in kept if clause is not None).rstrip("; \n")
    if not left:
        return text
    return left if not text.endswith(".") or left.endswith(".") else f"{left}."


def _in_words_of(clause: str, offered: Mapping[str, str]) -> str | None:
    """One clause; None if it names a command for which the door has nothing."""
    for command in _COMMAND.finditer(clause):
        words = next((words for words in offered if f"{command[1]} ".startswith(f"{words} ")), None)
        if words is None:
            return None
        if offered[words]:
            named = _named(command[1].removeprefix(words))
            clause = clause.replace(command[0], f"`{offered[words]}`{named}")
    return clause


def _named(arguments: str) -> str:
    """What a command was to be given, as a door that takes no words of a command line can say it; options are left out.

    >>> _named(" house zep")
    ' (house, zep)'
    >>> _named(" NAME --all")
    ''
    """
    given = takewhile(lambda word: not word.startswith("-"), arguments.split())
    named = [word for word in given if not word.isupper()]  # in capitals stands what the reader is to put there
    return f" ({', '.join(named)})" if named else ""
