"""The loading dock: files of every sort, read as a stream of messages. It parses and never writes."""

from mnemic.ingest.intake import Options
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.readers import READERS, detect, read
from mnemic.ingest.source import count_hint

__all__ = ["READERS", "Message", "Options", "Skipped", "count_hint", "detect", "read"]
