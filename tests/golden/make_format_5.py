"""Make `format-5.db`: what format 4 held, in a store of format 5, and `format-5.txt`, which says what it holds.

Run it only while format 5 has not been released; afterwards the file is what old stores look like, and stays.
"""

from golden_store import make
from make_format_3 import fill

if __name__ == "__main__":
    make(5, fill)
