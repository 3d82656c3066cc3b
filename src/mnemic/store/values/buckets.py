"""Which server keeps which tenant: buckets of tenants by the hash of their names, and a small table of who has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mnemic.errors import Invalid, NotFound

BUCKETS: Final = 4096
"""How many buckets there are, for good: a tenant's never changes."""


def bucket_of(tenant: str) -> int:
    """The bucket of a tenant, by the first twelve bits of SHA-256 over its name."""
    return int.from_bytes(hashlib.sha256(tenant.encode()).digest()[:2]) >> 4


@dataclass(frozen=True, slots=True)
class Kept:
    """What one server says of itself: its name, and the buckets whose tenants may be made and looked for there."""

    server: str
    buckets: int
    """A bit for each."""

    @classmethod
    def read(cls, value: bytes) -> Kept:
        said = json.loads(value)
        return cls(said["server"], int(said["buckets"], 16))

    def written(self) -> bytes:
        return json.dumps({"server": self.server, "buckets": f"{self.buckets:x}"}).encode()

    def has(self, tenant: str) -> bool:
        return bool(self.buckets >> bucket_of(tenant) & 1)

    def with_bucket(self, bucket: int, *, kept: bool) -> Kept:
        return replace(self, buckets=self.buckets | 1 << bucket if kept else self.buckets & ~(1 << bucket))


@dataclass(frozen=True, slots=True)
class Placement:
    """The table: servers by name with their URLs, and the buckets that another than the first has, or is to have.

    Attributes:
        epoch: How often the table was changed.
        moved: By bucket, the server that has it, where it is not the first.
        moving: By bucket, the server that it is under way to.
    """

    servers: Mapping[str, str]
    epoch: int = 0
    moved: Mapping[int, str] = field(default_factory=dict)
    moving: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def read(cls, value: bytes) -> Placement:
        said = json.loads(value)
        moved, moving = ({int(bucket): name for bucket, name in said[part].items()} for part in ("moved", "moving"))
        return cls(said["servers"], said["epoch"], moved, moving)

    def written(self) -> bytes:
        said = {"servers": self.servers, "epoch": self.epoch, "moved": self.moved, "moving": self.moving}
        return json.dumps(said).encode()

    @property
    def first(self) -> str:
        """The server that has the table, and every bucket that was not moved."""
        return next(iter(self.servers))

    def server_of(self, bucket: int) -> str:
        return self.moved.get(bucket, self.first)

    def url_of(self, server: str) -> str:
        """Where a server is.

        Raises:
            NotFound: the table has none of that name.
        """
        if server not in self.servers:
            raise NotFound(f"no server {server!r} in the placement; it has {', '.join(self.servers)}")
        return self.servers[server]

    def with_server(self, name: str, url: str) -> Placement:
        return replace(self, servers={**self.servers, name: url}, epoch=self.epoch + 1)

    def with_move(self, bucket: int, server: str) -> Placement:
        """The same with a bucket on its way."""
        return replace(self, moving={**self.moving, bucket: server}, epoch=self.epoch + 1)

    def with_end(self, bucket: int, server: str) -> Placement:
        """The same with a bucket that has come to a server."""
        moved = {**self.moved, bucket: server}
        if server == self.first:
            del moved[bucket]
        moving = {each: to for each, to in self.moving.items() if each != bucket}
        return replace(self, moved=moved, moving=moving, epoch=self.epoch + 1)


def checked_bucket(bucket: int) -> int:
    """A bucket that there is.

    Raises:
        Invalid: there is none of that number.
    """
    if not 0 <= bucket < BUCKETS:
        raise Invalid("bucket", f"is {bucket}", f"Buckets are 0 to {BUCKETS - 1}.")
    return bucket
