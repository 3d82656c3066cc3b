"""Make `format-4.db`: what format 3 held, in a store of format 4, and `format-4.txt`, which says what it holds.

Run it only while format 4 has not been released; afterwards the file is what old stores look like, and stays.
"""

from golden_store import make
from make_format_3 import fill

if __name__ == "__main__":
    make(4, fill)
