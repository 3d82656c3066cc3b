"""What an item says of an artefact: mechanism, bytes, who made them, and whether they can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mnemic.artefacts.artefact_files import DIGEST, StoredBytes
from mnemic.core.items import Channel, Kind, Slot

ARTEFACT: Final = "artefact"
"""The tag of an artefact's item, and the slot that names its mechanism."""
ADAPTER_AUTHOR: Final = "lora"
"""The author of adapters of facts: the job that an erasure orders for what is left of their sources names it."""


def file_tag(sha256: str) -> str:
    """The tag by which the versions are found that name a file, among many that name others."""
    return f"{ARTEFACT}:{sha256}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefact:
    """Bytes that a model has computed, as their item describes them.

    Attributes:
        mechanism: What they are: `kv`, `lora` ...
        stored: Their digest and size; their file is named by the digest.
        made_by: Digests and names of all that they depend on: model, tokeniser, engine build, settings, adapters. They
            are of use to nobody else.
        remade: Whether they can be made again from their sources at little cost. The files of those that can are
            dropped when there is no room, when their item is revised, and left out of backups.
        details: What else the mechanism says of them; numbers and names, none of their sources' words.
        author: Who makes them again from what is left where a source is erased: the erasure itself orders that job.
    """

    mechanism: str
    stored: StoredBytes
    made_by: Mapping[str, Slot]
    remade: bool = False
    details: Mapping[str, Slot] = field(default_factory=dict)
    author: str = ""

    def slots(self) -> dict[str, Slot]:
        """The slots of its item."""
        return {
            ARTEFACT: self.mechanism,
            "sha256": self.stored.sha256,
            "bytes": self.stored.size,
            "remade": self.remade,
            "made_by": dict(self.made_by),
            "details": dict(self.details),
            **({"by": self.author} if self.author else {}),
        }


def artefact_of(kind: Kind, channel: Channel, tags: tuple[str, ...], slots: Mapping[str, Slot]) -> Artefact | None:
    """Read what an item says of an artefact; None where it is none.

    Anybody may write an item with this tag, and say anything of files; only what a model made is believed.
    """
    mechanism, sha256, size = slots.get(ARTEFACT), slots.get("sha256"), slots.get("bytes")
    made_by, details, remade = slots.get("made_by"), slots.get("details"), slots.get("remade")
    if kind is not Kind.RESOURCE or channel is not Channel.MODEL or ARTEFACT not in tags:
        return None
    if not isinstance(mechanism, str) or not (isinstance(sha256, str) and DIGEST.fullmatch(sha256)):
        return None
    if not (isinstance(size, int) and isinstance(made_by, dict)):
        return None
    stored, author = StoredBytes(sha256, size), slots.get("by")
    said = details if isinstance(details, dict) else {}
    return Artefact(
        mechanism=mechanism, stored=stored, made_by=made_by, remade=remade is True, details=said,
        author=author if isinstance(author, str) else "",
    )  # fmt: skip
