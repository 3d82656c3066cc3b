"""A question of many capitalised words is read in time that grows with its length, and no faster."""

import subprocess
import sys

_MATCH = """
from mnemic.recall.asked_person import _OF_NAME
assert _OF_NAME.search("Aa " * 100_000) is None
"""


def test_a_pasted_list_of_titles_is_read_to_its_end() -> None:
    """The bound stands for "never": time that grows as the square would take several minutes."""
    subprocess.run([sys.executable, "-c", _MATCH], check=True, timeout=120)
