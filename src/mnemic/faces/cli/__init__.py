"""The command line `mnemic`, which the console script calls."""

from mnemic.faces.cli.app import cli as cli
from mnemic.faces.cli.app import main as main
