"""Make `format-5.db`: what format 4 held and a credential, and `format-5.txt`, which says what it holds.

Run it only while format 5 has not been released; afterwards the file is what old stores look like, and stays.
"""

from datetime import timedelta

from golden_store import make
from make_format_3 import fill

from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Right
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.contract_world import TENANT


def fill_with_a_key(store: SqliteStore) -> str:
    """Write something of everything, and a key; returns what the store then holds, a line each."""
    held = fill(store)
    keys = Keys(store, ManualClock(step=1_000_000), SeededEntropy("golden"))
    made = keys.create("laptop", tenant=TENANT, user="ada", right=Right.READ, expires=timedelta(days=36_500))
    return f"{held}key {made.text}\n"


if __name__ == "__main__":
    make(5, fill_with_a_key)
