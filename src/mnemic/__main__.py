"""`python -m mnemic` is `mnemic`."""

from __future__ import annotations

from mnemic.faces.cli import main

if __name__ == "__main__":
    main()
