"""The table of operations: all that a remote caller may do, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mnemic.operations.journal_operations import JOURNAL
from mnemic.operations.operation import Operation
from mnemic.operations.reading_operations import READING
from mnemic.operations.store_operations import OF_STORE
from mnemic.operations.writing_operations import WRITING

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation for operation in (*WRITING, *READING, *JOURNAL, *OF_STORE)
}
"""By name, in the order in which they are documented."""
