"""From a path or a URL to an open store, a kernel over it, and what counts and works behind it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from inspect import getattr_static, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic.answering import Answering
from mnemic.core.clock import Clock, SystemClock, micros, moment, time_zone
from mnemic.core.facets import tag_facet
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.core.mask import mask_name
from mnemic.core.mutex import Flag
from mnemic.core.parts import forget_texts
from mnemic.core.queries import Context
from mnemic.core.scope import Scope
from mnemic.core.uninterrupted import import_whole
from mnemic.core.visibility import timeless_conditions
from mnemic.counting import UseCounts
from mnemic.errors import Invalid, MnemicError
from mnemic.index.catalogues import Catalogues
from mnemic.meaning import Meaning
from mnemic.settings import Settings
from mnemic.store.contract import Store
from mnemic.store.seal_key import seal_key
from mnemic.store.urls import open_at, options_of
from mnemic.strategies.loading import followed, lane_of
from mnemic.verbs.kernel import Kernel
from mnemic.verbs.who import Past, Who
from mnemic.watching.journal_reader import JournalReader
from mnemic.watching.metering import Meters, Observer
from mnemic.worker.thread import Background
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.strategies.base import Strategy


@dataclass(frozen=True, slots=True)
class Opened:
    """An open store with everything over it, which `Memory` and `AsyncMemory` share.

    Attributes:
        leaving: By session, the function that closes it if it is still open when the memory is closed.
    """

    store: Store
    kernel: Kernel
    settings: Settings
    clock: Clock
    answering: Answering
    background: Background
    journal: JournalReader
    closed: Flag = dataclasses.field(default_factory=Flag)
    leaving: dict[object, Callable[[], None]] = dataclasses.field(default_factory=dict)

    @property
    def meaning(self) -> Meaning:
        """The embedders of this store."""
        return self.answering.meaning

    @property
    def uses(self) -> UseCounts:
        """What recalls have shown, counted and not yet written."""
        return self.background.uses

    @property
    def meters(self) -> Meters:
        """The meters, which measure how long each verb, request and run takes."""
        return self.answering.meters

    def count_use(self, who: Who, context: Context) -> None:
        """Count the items that a recall showed, unless it read the past or a branch."""
        if who.past.is_now and context.items and not who.branch:
            self.uses.count((who.scope.tenant, who.scope.user), [recalled.item.id for recalled in context.items])

    def close(self) -> None:
        """Give open sessions back, let the background end its slice, write the counters and close the store."""
        for leave in list(self.leaving.values()):
            with suppress(MnemicError):  # the lease runs out by itself
                leave()
        self.closed.set()
        self.background.close()
        self.uses.flush()
        self.store.close()
        self.meters.close()


def open_store(
    where: str | Path | Store | None,
    settings: Settings | None,
    clock: Clock | None,
    entropy: Entropy | None,
    embedder: str | Embedder | None = None,
    strategies: Sequence[str | Strategy] | None = None,
    model: str | Chat | None = None,
    **options: Any,
) -> Opened:
    """Open what `where` names: a path, a URL (`sqlite:///path`, `memory:`), a store, or the store of the settings.

    The environment is read if neither a place nor settings are given, and only then.
    """
    if settings is None:
        settings = Settings.from_environment() if where is None else Settings()
    chat = _chat(model)
    if isinstance(model, str):
        settings = _with_model(settings, model)
    clock, entropy = clock or SystemClock(), entropy or SystemEntropy()
    if where is not None and not isinstance(where, str | Path) and not hasattr(where, "commit"):
        raise Invalid("where", f"is {type(where).__name__}", "Give a file, a URL or a store.")
    if where is None:
        where = settings.where
    if options:
        _refuse_unknown(options, options_of(str(where)) if isinstance(where, str | Path) else ())
    chosen = chosen_embedder(settings.embedder if embedder is None else embedder, settings)
    wait = settings.busy_timeout
    if settings.seal and isinstance(where, str | Path) and "seal" in options_of(str(where)):
        options.setdefault("seal", seal_key(settings.seal))
    store = open_at(str(where), clock, entropy, wait, **options) if isinstance(where, str | Path) else where
    lanes = followed(settings.strategies if strategies is None else strategies)
    desk = Desk(clock, entropy, settings, strategies=tuple(map(lane_of, lanes)))
    kernel = Kernel(desk, Catalogues(settings.catalogue_bytes, settings.pack_rows), settings, lanes)
    words_alone = (settings.embedder if embedder is None else embedder) == "none"
    answering = Answering(store, Meaning(store, settings, chosen, words_alone=words_alone), settings, chat)
    answering.catalogues = kernel.catalogues
    background = answering.behind = Background(answering, desk, lanes)
    kernel.catalogues.unpacked = background.want_packs
    kept = (kernel.standings.clear, kernel.unread.clear, kernel.catalogues.clear)
    answering.caches += kept
    if (when_replaced := getattr(store, "when_replaced", None)) is not None:  # a file is not taken from under its lock
        when_replaced(lambda: [clear() for clear in kept])
    answering.caches += (timeless_conditions.cache_clear, tag_facet.cache_clear)  # filters name tags, agents, sessions
    answering.caches += (forget_texts, mask_name.cache_clear)
    answering.caches += (background.uses.flush,)  # what waits there names users
    closed = Flag()
    opened = Opened(store, kernel, settings, clock, answering, background, JournalReader(store, closed), closed)
    opened.store.carry(opened.meters.report)
    opened.meters.observers = tuple(_observers(opened))
    if settings.background:
        opened.background.notify()  # for what a process before this one left undone
    return opened


def _observers(opened: Opened) -> Iterator[Observer]:
    """Make the observers of verbs that the settings ask for: a profiler log, OpenTelemetry.

    Raises:
        Invalid: the profile cannot be written, or OpenTelemetry is not installed.
    """
    settings = opened.settings
    if settings.profiler:
        import_whole("mnemic.watching.profiling")
        from mnemic.watching.profiling import Profile

        yield Profile(Path(settings.profiler).expanduser(), opened.clock, users=settings.profiler_users)
    if settings.trace:
        try:
            import_whole("mnemic.watching.tracing")
            from mnemic.watching.tracing import Tracing
        except ImportError as error:
            raise Invalid("trace", "needs OpenTelemetry", "Install it: `pip install 'mnemic[otel]'`.") from error
        yield Tracing(opened.meters, opened.store.info().url, content=settings.trace_content)


def chosen_embedder(named: str | Embedder, settings: Settings) -> Embedder | None:
    """The embedder that goes by a name, or the one that was given; None for words alone.

    Raises:
        Invalid: no embedder goes by that name, or its package is not installed.
    """
    if not isinstance(named, str):
        parts = ("name", "dims", "passages", "query")
        # Asked for in earnest, `dims` may call an endpoint.
        if missing := [part for part in parts if getattr_static(named, part, None) is None]:
            raise Invalid("embedder", f"{type(named).__name__} has no {missing[0]}", "See mnemic.models.base.Embedder.")
        return named
    import_whole("mnemic.models.model_opening")
    from mnemic.models.model_opening import open_embedder

    return open_embedder(named, settings)


def _chat(model: str | Chat | None) -> Chat | None:
    """Return a language model that was handed over in place of a name.

    Raises:
        Invalid: it is none.
    """
    if model is None or isinstance(model, str):
        return None
    if not (hasattr(model, "stream") and isinstance(getattr(model, "name", None), str)):
        raise Invalid("model", f"is {type(model).__name__}", "Give a name, or an object with a `name` and a `stream`.")
    return model


def _with_model(settings: Settings, model: str) -> Settings:
    """Return settings with this language model, after checking that it is known and installed."""
    import_whole("mnemic.models.model_opening")
    from mnemic.models.model_opening import open_chat

    settings = dataclasses.replace(settings, model=model)
    open_chat(model, settings)
    return settings


def _refuse_unknown(options: Iterable[str], known: Iterable[str]) -> None:
    """Raise for the first of `options` that neither `Memory` takes nor its store."""
    names = {*signature(open_store).parameters, *known} - {"options", "path"}
    for name in options:
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(sorted(names))}."
            if name in {field.name for field in dataclasses.fields(Scope)}:
                hint = f"Say it of a handle: `memory.scope({name}=...)`."
            elif name in {field.name for field in dataclasses.fields(Settings)}:
                hint = f"It is a setting: `settings=Settings({name}=...)`."
            raise Invalid(name, "is no option of a memory", hint)


When = datetime | date | str
"""A moment on a read: aware, or in the setting `timezone`; a bare date is the end of that day."""


def read_moment(when: When, field: str, settings: Settings, now: int) -> int:
    """Convert a moment that a read was given to microseconds.

    Raises:
        Invalid: it cannot be read as a moment.
    """
    if isinstance(when, str):
        import_whole("mnemic.core.timex")
        from mnemic.core.timex import parse_when

        return parse_when(when, zone=settings.timezone, now=now, end=True)
    if isinstance(when, datetime):
        aware = when if when.tzinfo is not None else when.replace(tzinfo=time_zone(settings.timezone))
        return micros(aware, field)
    if isinstance(when, date):
        midnight = datetime.combine(when, time(), tzinfo=time_zone(settings.timezone))
        return micros(midnight, field) + timedelta(days=1) // timedelta(microseconds=1) - 1
    raise Invalid(field, f"is {type(when).__name__}", "Give a datetime, a date, or words such as '2026-02-01'.")


def recorded_moment(when: When, field: str, settings: Settings, now: int, last: Callable[[], int]) -> int:
    """Convert a moment of the journal's past to microseconds; a day or month that has begun is taken up to now.

    Args:
        last: When the last commit was written: a clock that was put back does not hide it.

    Raises:
        Invalid: it cannot be read as a moment, or has not come yet.
    """
    at = read_moment(when, field, settings, now)
    if at > now and _begin(when, settings, now, at) > max(now, last()):
        remedy = f"Now it is {moment(now):%Y-%m-%d %H:%M} UTC; `mnemic log` shows the commits."
        raise Invalid(field, f"{when} has not come yet", remedy)
    return at


def _begin(when: When, settings: Settings, now: int, end: int) -> int:
    """Return the beginning of a moment that lasts, such as a day or a month; of any other, the moment itself."""
    if isinstance(when, str):
        import_whole("mnemic.core.timex")
        from mnemic.core.timex import parse_when

        return parse_when(when, zone=settings.timezone, now=now, end=False)
    return end if isinstance(when, datetime) else end - timedelta(days=1) // timedelta(microseconds=1) + 1


def looking(who: Who, past: Past, scope: Scope | None = None) -> Who:
    """Return `who` with another past; fields that are None there keep the past it had."""
    merged = Past(
        at_seq=past.at_seq if past.at_seq is not None else who.past.at_seq,
        at_moment=past.at_moment if past.at_moment is not None else who.past.at_moment,
        as_of=past.as_of if past.as_of is not None else who.past.as_of,
        valid_at=past.valid_at if past.valid_at is not None else who.past.valid_at,
    )
    return dataclasses.replace(who, past=merged, scope=scope or who.scope)
