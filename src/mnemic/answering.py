"""Drive verbs and lanes: answer what their flows ask for, by the store, its embedders, its language model, and time it.

A verb is one call of `verb`: its flow runs here from beginning to end. What runs behind yields to verbs: its requests
wait while one runs in front, and never starve.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Flag, Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, MnemicError, ModelError, NoModel, UnusableModel
from mnemic.flow import Flow, Pause, Request, run
from mnemic.models.chat.base import Ask, Reply, Size, reply_of
from mnemic.models.model_requests import AskEach, AskMetered, CountJudged, CrossEncode, Embed, EmbedQuestion, NameModel
from mnemic.recall.seeking import Seek, Sought, SpreadOver
from mnemic.store.engine.model_meter import spend
from mnemic.store.requests import Commit, Erase, Look, Sweep, Transact
from mnemic.store.values.drafts import Put
from mnemic.strategies.strategy_requests import EmbedTexts
from mnemic.watching.metering import WAITING, Meters, Sort, Timed, timed_here
from mnemic.watching.model_calls import metered

if TYPE_CHECKING:
    from mnemic.core.events import Receipt
    from mnemic.core.ids import ItemId
    from mnemic.core.queries import Query
    from mnemic.index.catalogues import Catalogues
    from mnemic.lanes.backlog import Backlog
    from mnemic.meaning import Meaning
    from mnemic.models.chat.base import Chat
    from mnemic.settings import Settings
    from mnemic.store.contract import Store
    from mnemic.store.values.spending import Spending


T = TypeVar("T")

LINGER_SECONDS: Final = 0.003
"""How long it must have been quiet: verbs come in bursts, and a thread that wakes between two of them is in the way."""

PARKED_SECONDS: Final = 0.05
"""Longest that a request waits for verbs that do not cease; it waits twice as long as the last one took, if longer."""

BESIDE_SECONDS: Final = 0.002
"""How long work goes on beside such verbs before it waits again."""

SIDE_BY_SIDE: Final = 16
"""Most questions of one request that a language model is asked at once; the others wait for those."""


class LanguageModel:
    """The language model of an open store, in a small size and a large one, each opened when it is first asked.

    Safe for many threads.

    Args:
        given: Who answers in place of the model that settings name.
    """

    def __init__(self, settings: Settings, given: Chat | None = None) -> None:
        self._settings, self._given = settings, given
        self._chats: dict[Size, Chat | None] = {}
        self._counts: Counter[str] = Counter()
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Take a new lock, as a forked child must."""
        self._lock = Mutex()

    def answer(self, ask: Ask) -> Reply:
        """Have the model of the size that is asked for answer, whole.

        Raises:
            ModelError: it failed; `NoModel`: there is none; `UnusableModel`: it cannot be opened.
        """
        chat = self._opened(ask.size)
        if chat is None:
            raise NoModel("a strategy asks a language model, and the setting `model` names none")
        self._count(calls=1, in_flight=1)
        try:
            reply = reply_of(chat.stream(ask))
        except BaseException as error:
            self._count(failed=1, in_flight=-1)
            if isinstance(error, MnemicError) or not isinstance(error, Exception):
                raise
            # An object of its user's own raises what it likes: it is the model that failed, and not what was said.
            raise ModelError(f"{chat.name} failed: {type(error).__name__}: {error}") from error
        self._count(prompt_tokens=reply.prompt_tokens, answer_tokens=reply.answer_tokens, in_flight=-1)
        return reply

    def counts(self) -> Mapping[str, float]:
        """Count what this process has asked: a gauge; nothing where it has asked nothing."""
        with self._lock:
            return dict(self._counts)

    def forget(self) -> None:
        """Have models that keep what they have computed of earlier prompts let go of it."""
        with self._lock:
            chats = {id(chat): chat for chat in (self._given, *self._chats.values())}
        for chat in chats.values():
            forget_prompts = getattr(chat, "forget_prompts", None)
            if forget_prompts is not None:
                forget_prompts()

    def _count(self, **more: int) -> None:
        with self._lock:
            self._counts.update(more)

    def name(self, size: Size) -> str:
        """Name the model of a size; "" where there is none.

        Raises:
            UnusableModel: it cannot be opened with these settings.
        """
        chat = self._opened(size)
        return "" if chat is None else chat.name

    def _opened(self, size: Size) -> Chat | None:
        with self._lock:
            if size not in self._chats:
                import_whole("mnemic.models.model_opening")
                from mnemic.models.model_opening import open_chat

                small = self._settings.small_model if size is Size.SMALL else ""
                named = self._given if self._given is not None else self._settings.model
                try:
                    self._chats[size] = open_chat(small or named, self._settings)
                except Invalid as error:
                    raise UnusableModel(f"the language model cannot be opened: {error}") from error
            return self._chats[size]


class Yielding:
    """Knows whether verbs run in front, and when work behind them may go on. Safe for many threads.

    It is the context in which a request of a verb is answered: every verb pays for it, so it is no generator.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nobody in front, as a forked child must."""
        self._all = Flag()
        self._front: set[int] = set()
        self._left_at = 0.0
        self._free_until = 0.0
        self._took = 0.0

    def __enter__(self) -> None:
        """Note that somebody waits for a verb."""
        self._front.add(threading.get_ident())  # what an interrupt leaves, the thread's next verb takes away

    def __exit__(self, *_: object) -> None:
        self._front.discard(threading.get_ident())
        self._left_at = time.monotonic()

    def let_all(self) -> None:
        """Let everybody go on who waits."""
        self._all.set()

    def park(self) -> None:
        """Wait until nobody is in front, or for as long as is fair.

        It looks again after longer and longer: a thread that wakes takes the interpreter from the verbs it waits for.
        """
        now = time.monotonic()
        if now < self._free_until:
            return
        until, pause = now + max(PARKED_SECONDS, 2 * self._took), LINGER_SECONDS
        while not self._is_quiet(now) and not self._all.wait(min(pause, until - now)):
            now, pause = time.monotonic(), 2 * pause
            if now >= until:
                self._free_until = now + BESIDE_SECONDS
                return

    def quiet_seconds(self) -> float:
        """Tell for how long nobody has been in front; 0 while somebody is."""
        return 0.0 if self._front else time.monotonic() - self._left_at

    def _is_quiet(self, now: float) -> bool:
        return not self._front and now - self._left_at >= LINGER_SECONDS

    @contextmanager
    def working(self) -> Iterator[None]:
        """Time one request of the background: twice as long as it takes the next one may wait."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._took = time.monotonic() - began


class BehindVerbs(Protocol):
    """The thread that works behind verbs, as far as it concerns them."""

    backlog: Backlog

    def notify(self) -> None:
        """Wake: something was written."""
        ...

    def asked(self) -> None:
        """Wake at the first question."""
        ...


class Answering:
    """Answers every request of an open store, and drives the flows of its verbs. Safe for many threads.

    Attributes:
        meters: How long each verb, request and run takes.
        yielding: The context in which a request of a verb is answered, so that what runs behind waits before its next.
        behind: Who works behind the verbs and is woken by them; None while the store is being opened.
        catalogues: What recall searches; None likewise.
        caches: What drops everything it keeps once something was erased.
    """

    def __init__(self, store: Store, meaning: Meaning, settings: Settings, chat: Chat | None = None) -> None:
        self.store, self.meaning, self._settings = store, meaning, settings
        self.language_model = LanguageModel(settings, chat)
        self.meters = Meters()
        self.meters.gauge("models", self.language_model.counts)
        self.yielding = Yielding()
        self.behind: BehindVerbs | None = None
        self.catalogues: Catalogues | None = None
        self.caches: tuple[Callable[[], None], ...] = (meaning.forget, self.language_model.forget)

    def verb(self, flow: Flow[T], who: object, asked: str = "", within: str = "") -> T:
        """Drive the flow of a verb to its return value, timed.

        Args:
            who: For whom, as the kernel says it.
            asked: The words of a question.
            within: What stands before the name of its function in meters: `session.`.
        """
        name = getattr(flow, "__name__", type(flow).__name__)
        return self.drive(flow, self.attend, Timed(Sort.VERB, within + name, who, asked))

    def drive(self, flow: Flow[T], attend: Callable[[Request], Any], timed: Timed) -> T:
        """Drive a flow to its return value, and time it as one verb or as one run of a lane."""
        token = timed_here.set(timed)
        closing = self.meters.begun(timed) if self.meters.observers else ()
        began = time.perf_counter()
        try:
            timed.answer = value = run(flow, attend)
            return value
        except BaseException as error:
            timed.error = error
            raise
        finally:
            timed.seconds = time.perf_counter() - began
            timed_here.reset(token)
            self._note(timed.sort, timed.name, timed.seconds, failed=timed.error is not None)
            for close in reversed(closing):
                close()

    def attend(self, request: Request) -> Any:
        """Answer one request of a verb, while what runs behind waits; what is written wakes it."""
        if isinstance(request, AskMetered):
            return self.perform(request)  # a model may take long, and who works behind is not in its way
        with self.yielding:
            reply = self.perform(request)
        if isinstance(request, Commit):
            return self._written(request, reply)
        if isinstance(request, Erase):
            for clear in self.caches:
                clear()  # what was erased is not kept in memory until somebody asks again
            if self.behind is not None and self._settings.background:
                self.behind.notify()  # what stays of its evidence is digested again
        elif isinstance(request, EmbedQuestion) and self.behind is not None and self._settings.background:
            self.behind.asked()
        return reply

    def _written(self, request: Commit, receipt: Receipt) -> Receipt:
        """Tell who works behind of a commit; the receipt, with how much waits for the lanes if that is too much."""
        if self.meters.observers:
            self.meters.committed()
        if self.behind is None:
            return receipt
        draft = request.draft
        puts = [op for op in draft.ops if isinstance(op, Put)]
        waiting = self.behind.backlog.over_limit((draft.tenant, draft.user, draft.branch), len(puts))
        if self._settings.background:
            self.behind.notify()
        return replace(receipt, behind=waiting) if waiting else receipt

    def perform(self, request: Request) -> Any:
        """Answer one request of a verb or a lane, and time it."""
        closing = self.meters.asked(request) if self.meters.observers else ()
        reply: Any = None
        failed: BaseException | None = None
        began = time.perf_counter()
        try:
            reply = self.answer(request)
            return reply
        except BaseException as error:
            failed = error
            raise
        finally:
            seconds = time.perf_counter() - began
            name = request.work.__name__ if isinstance(request, Transact) else type(request).__name__.lower()
            self._note(Sort.REQUEST, name, seconds, failed=failed is not None)
            if (timed := timed_here.get()) is not None:
                timed.requests.append((name, seconds))
            for close in closing:
                close(reply, failed)

    def ask_metered(self, strategy: str, space: int, ask: Ask) -> Reply:
        """Ask the language model, and meter what that takes under the name of a lane or recall."""

        def note_spending(spending: Spending) -> None:
            with suppress(MnemicError):  # an answer in hand is not given up for a meter that cannot be written
                self.store.transact(spend, space, spending)

        with metered(strategy, ask, self.language_model.name(ask.size), note_spending) as call:
            reply: Reply = self.perform(ask)
            call.reply = reply
        return reply

    def _sought(self, query: Query, *, by_score: bool) -> Sequence[Sought]:
        import_whole("mnemic.recall.pipeline")
        from mnemic.recall.pipeline import sought

        assert self.catalogues is not None
        with self.store.read() as snapshot:
            return sought(snapshot, self.catalogues, query, by_score=by_score)

    def _spread_over(self, asked: SpreadOver) -> Mapping[ItemId, float]:
        import_whole("mnemic.recall.pagerank")
        from mnemic.recall.pagerank import spread_over

        assert self.catalogues is not None
        with self.store.read() as snapshot:
            return spread_over(snapshot, self.catalogues, asked)

    def _note(self, sort: str, name: str, seconds: float, *, failed: bool) -> None:
        durations = self.meters.durations
        durations.append((sort, name, seconds, failed))
        if len(durations) >= WAITING:
            self.meters.count()

    def answer(self, request: Request) -> Any:
        """Answer one request: the only place where what a flow asks for is done."""
        match request:
            case Look(of):
                with self.store.read() as snapshot:
                    return of(snapshot)
            case Commit(draft):
                return self.store.commit(draft)
            case Transact(work, args, kwargs):
                return self.store.transact(work, *args, **kwargs)
            case Seek(query, by_score):
                return self._sought(query, by_score=by_score)
            case SpreadOver():
                return self._spread_over(request)
            case EmbedQuestion(text):
                return self.meaning.question(text)
            case CrossEncode(question, said):
                return self.meaning.reading(question, said)
            case Embed(model, texts):
                return self.meaning.passages(model, texts)
            case EmbedTexts(texts, embedder, reading):
                return self.meaning.vectors(texts, embedder, reading)
            case Ask():
                return self.language_model.answer(request)
            case AskEach(asks):
                return answered_each(asks, self.perform)
            case AskMetered(strategy, space, asks):
                return answered_each(asks, partial(self.ask_metered, strategy, space))
            case NameModel(size):
                return self.language_model.name(size)
            case CountJudged(task, by):
                return self.meters.count_judged(task, by)
            case Erase(erasure):
                return self.store.erase(erasure)
            case Sweep(tenant, seconds):
                return self.store.sweep(tenant, seconds)
            case Pause():
                return None
            case _:
                raise TypeError(f"nobody answers {type(request).__name__}")


def answered_each(asks: Sequence[Ask], answer: Callable[[Ask], Reply]) -> tuple[Reply | MnemicError, ...]:
    """Have questions answered side by side; what fails is returned for the one that it befell."""

    def attempt(ask: Ask) -> Reply | MnemicError:
        try:
            return answer(ask)
        except MnemicError as error:
            return error

    if len(asks) == 1:
        return (attempt(asks[0]),)
    import_whole("concurrent.futures.thread")
    from concurrent.futures.thread import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, min(len(asks), SIDE_BY_SIDE)), "mnemic-ask") as threads:
        return tuple(threads.map(attempt, asks))
