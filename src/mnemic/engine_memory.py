"""What a local engine has computed of one user's prompts, kept as artefacts: between questions, processes and users.

A model that reads a prompt computes keys and values for each of its tokens; those of the part that stays as it was need
not be computed again. `EngineMemory` saves them from the engine's slot to an artefact that cites all that the prompt
showed, and restores whichever has the longest run of tokens in common with the next prompt, from the first token on:
tokens are compared, never texts. Whatever does not fit is read by the engine as before, so nothing here can change
what it answers; it says what it saved.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid, MnemicError, ModelError, NotFound, StoreCorrupt, StoreError, StoreFull
from mnemic.models.chat.engine_slot import PromptWork, common_run, saved_tokens

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.models.chat.base import ChatMessage
    from mnemic.models.chat.gguf import Gguf
    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.verbs.artefact_keeping import KeptArtefact

KV: Final = "kv"
"""The mechanism of these artefacts."""
LEAST_GAIN: Final = 32
"""Tokens that a restored prompt must have in common beyond what the slot holds: fewer are read as quickly."""
WORTH_KEEPING: Final = 64
"""Tokens below which a prompt is not kept."""
GROWN: Final = 256
"""Tokens by which a prompt has grown when it is kept again, though nobody else asks for the slot."""


@dataclass(frozen=True, slots=True)
class Attached:
    """What an engine had of a prompt before it read it.

    Attributes:
        tokens: Of the prompt.
        restored: Tokens in common with what was restored; 0 where nothing was.
        held: Tokens in common with what the slot held already.
        miss: Why nothing was restored; "" where something was, or nothing had to be.
    """

    tokens: int
    restored: int = 0
    held: int = 0
    miss: str = ""


@dataclass(slots=True)
class PrefixCounts:
    """Counts what engine memories of a process have done: a gauge. Safe to share between threads."""

    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **more: float) -> None:
        """Add to counts, by name."""
        with self._lock:
            for name, count in more.items():
                self._counts[name] += count  # type: ignore[assignment]  # seconds are no whole numbers

    def missed(self, reason: str) -> None:
        """Count a miss, and why."""
        self.add(**{"misses": 1, f"missed {reason}": 1})

    def __call__(self) -> Mapping[str, float]:
        with self._lock:
            return dict(self._counts)


class EngineMemory:
    """What an engine has computed of one session's prompts. One thread talks; keeping may run beside it.

    Args:
        artefacts: Of the user whose memory the prompts show.
        session: The session whose window is the prompt.
        engine: The model in this process; several of these may share it, one after the other.

    Attributes:
        counts: What it has done.
        failure: What went wrong last where no answer was to fail for it; None for nothing.
    """

    def __init__(self, artefacts: ScopeArtefacts, session: str, engine: Gguf) -> None:
        self._everywhere, self._here = artefacts, artefacts.of_session(session)
        self._engine, self._budget = engine, artefacts.settings.kv_bytes
        self._owner = (*artefacts.owner, session)
        self.counts = PrefixCounts()
        self.failure: MnemicError | None = None
        self._sources: tuple[ItemId, ...] = ()
        self._epoch: tuple[int, ...] = ()
        self._prompt: tuple[int, ...] = ()
        self._kept_tokens = self._bytes = 0
        self._is_read = False
        self._keeping: threading.Thread | None = None
        self._uncount = artefacts.meters.prompts.follow(self.counts, self._levels)

    # Before a question

    def attach(
        self, messages: Sequence[ChatMessage], sources: Sequence[ItemId], weights: Mapping[str, float] | None = None
    ) -> Attached:
        """Have the engine hold as much of a prompt as there is, before this thread asks it.

        Args:
            messages: The prompt.
            sources: Every item whose words it shows, and that an adapter was made of which is weighed in: what is kept
                of it goes with any of these.
            weights: Of the engine's adapters, by digest; None for those of the prompt before. With others it is read
                anew, unless it was kept with these.

        Raises:
            ModelError: the engine cannot be had; nothing is attached.
        """
        self.wait()
        tokens = self._tokens(messages)
        self._take(tokens, sources, weights)
        held = common_run(self._engine.held, tokens)
        restored, miss = self._restored(tokens, held)
        self._engine.held = tokens
        self._engine.claim(self._owner)
        attached = Attached(len(tokens), restored, held, miss)
        if restored:
            self.counts.add(hits=1, restored=restored)
        elif miss:
            self.counts.missed(miss)
        return attached

    def _restored(self, tokens: Sequence[int], held: int) -> tuple[int, str]:
        """Restore what has most in common with a prompt; how many tokens that is, or why there is nothing."""
        if held + LEAST_GAIN > len(tokens):
            return 0, ""
        best, miss = self._best(tokens, held)
        while best is not None:
            kept, common = best
            try:
                path = self._everywhere.open(kept)
                self._engine.take_on_weights(tokens)
                self._engine.slot().restore(path)
            except NotFound:
                miss = "gone"
            except StoreCorrupt:
                self._everywhere.drop_bytes(kept)
                miss = "damaged"
            except (ModelError, StoreError) as error:
                self.failure, miss = error, "refused"
                self._engine.empty()
                self._engine.hand_over(self._owner)
                return 0, miss
            else:
                self._kept_tokens = common
                return common, ""
            best, _ = self._best(tokens, held)
        return 0, miss

    def _best(self, tokens: Sequence[int], held: int) -> tuple[tuple[KeptArtefact, int] | None, str]:
        """The artefact that has most tokens in common with a prompt, or why there is none."""
        identity, miss = self._engine.identity, "none"
        best: tuple[KeptArtefact, int] | None = None
        least = held + LEAST_GAIN
        for kept in self._everywhere.kept(KV):
            if dict(kept.artefact.made_by) != identity:
                miss = f"another {_other(kept.artefact.made_by, identity)}" if miss == "none" else miss
                continue
            there = self._everywhere.unchecked(kept)
            if there is None:
                miss = "gone"
                continue
            common = common_run(saved_tokens(there[0]), tokens)
            if common >= least:
                best, least = (kept, common), common + 1
            else:
                miss = "shorter" if miss in ("none", "shorter") else miss
        return best, "" if best else miss

    # After an answer

    def answered(self, first_token_seconds: float, said: Sequence[ItemId] = ()) -> PromptWork:
        """Count what the engine did for the prompt that was attached, and keep it in the background if it has grown.

        Args:
            said: The items that the answer was written as; it is in the slot too.
        """
        work = self._engine.work
        if work == PromptWork():  # it was stopped, or failed, before the prompt was read
            return work
        self._sources, self._is_read = (*self._sources, *said), True
        self.counts.add(
            prompts=1, prefilled=work.prefilled, reused=work.reused, first_token_seconds=first_token_seconds
        )
        if len(self._prompt) >= self._kept_tokens + GROWN:
            self.behind(self.keep)
        return work

    def prefill(self, messages: Sequence[ChatMessage], other: Sequence[ChatMessage], sources: Sequence[ItemId]) -> int:
        """Have the engine read what two prompts have in common, and keep that; how many tokens it had to read.

        Args:
            messages, other: The prompt as it would be for two questions that begin with different letters.
        """
        run = self._tokens(messages)
        run = run[: common_run(run, self._tokens(other))]
        if len(run) < WORTH_KEEPING:
            return 0
        self.wait()
        self._take(run, sources)
        held = common_run(self._engine.held, run)
        restored, miss = self._restored(run, held)
        if miss:
            self.counts.missed(miss)
        work = self._engine.prefill(run)
        self._is_read = True
        self._engine.held = run
        self.counts.add(prefilled_ahead=work.prefilled)
        if work.prefilled > 1 or not restored:
            self.keep()
        return work.prefilled

    def keep(self) -> KeptArtefact | None:
        """Save what the slot holds of this session's last prompt, and the answer to it; None where that is not to be.

        It is not where the prompt was not read to its end, for the slot may hold more of what was restored than the
        prompt shows; where something was erased since; where somebody else has the slot by now; or where it is longer
        than all that may be kept.
        """
        engine = self._engine
        if (
            not self._is_read
            or not engine.is_loaded
            or engine.owner != self._owner
            or len(self._prompt) < WORTH_KEEPING
        ):
            return None
        if self._here.epoch() != self._epoch:
            engine.empty()
            self.counts.missed("erased")
            return None
        path = self._here.unfinished()
        try:
            count = engine.slot().save(path)
            size = path.stat().st_size
            if size > self._budget or engine.owner != self._owner:
                return None
            saved = saved_tokens(path)
            if common_run(saved, self._prompt) < min(len(saved), len(self._prompt)):
                self.counts.missed("another's")  # who asked the same engine meanwhile has what it holds now
                return None
            kept = self._here.put(
                path,
                mechanism=KV,
                made_by=engine.identity,
                sources=self._sources,
                text=f"keys and values of {count:,} tokens, {engine.name.rpartition('/')[2]}",
                remade=True,
                details={"tokens": count},
                replaces=self._former(),
            )
        except FileNotFoundError as error:  # an erasure has taken it
            raise NotFound("what was to be kept has been erased meanwhile") from error
        except OSError as error:
            raise StoreError(f"cannot look at {path.parent}: {error.strerror}; nothing was kept") from error
        finally:
            with suppress(OSError):  # what is unfinished is swept, and an erasure takes it
                path.unlink(missing_ok=True)
        self._kept_tokens = count
        self.counts.add(saved=1, saved_bytes=kept.artefact.stored.size)
        self._evict(kept)
        return kept

    def close(self) -> None:
        """Keep what has not been kept yet, and give the slot back empty."""
        self.wait()
        if self._engine.is_loaded and self._engine.owner == self._owner:
            self._try(self.keep)
            self._try(self._engine.empty)
        self._uncount()

    def wait(self) -> None:
        """Wait until what is being kept in the background has been."""
        thread = self._keeping
        if thread is not None and thread is not threading.current_thread():
            thread.join()
            self._keeping = None

    def behind(self, act: Callable[[], object]) -> None:
        """Do something of this in the background: the next that is asked of it waits for that."""
        self.wait()
        self._keeping = threading.Thread(target=self._try, args=(act,), name="mnemic-keep")
        self._keeping.start()

    def _try(self, act: Callable[[], object]) -> None:
        """Do what no answer may fail for; what went wrong is told by `failure`, and counted."""
        try:
            act()
        except MnemicError as error:
            self.failure = error
            self.counts.missed("full" if isinstance(error, StoreFull) else "unkept")

    # Underneath

    def _tokens(self, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
        if not messages:
            raise Invalid("messages", "is empty", "Give the prompt.")
        return tuple(self._engine.slot().tokens_of([{"role": m.role, "content": m.content} for m in messages]))

    def _take(
        self, tokens: tuple[int, ...], sources: Sequence[ItemId], weights: Mapping[str, float] | None = None
    ) -> None:
        """Take the slot for a prompt; it is empty where it held anything else than prompts of this session."""
        epoch = self._here.epoch()
        if self._engine.owner == self._owner and epoch != self._epoch:
            self._engine.empty()  # something of what it holds may have been erased
        self._engine.take_slot(self._owner, self._leave)
        if weights is not None and self._engine.weigh(weights):
            self._kept_tokens = 0
        self._engine.work, self._is_read = PromptWork(), False
        self._epoch, self._sources, self._prompt = epoch, tuple(sources), tokens

    def _leave(self) -> None:
        """Keep what is in the slot before somebody else takes it."""
        self.wait()
        self._try(self.keep)

    def _levels(self) -> Mapping[str, float]:
        held = len(self._engine.held) if self._engine.owner == self._owner else 0
        return {"bytes": self._bytes, "held": held}

    def _former(self) -> ItemId | None:
        """The artefact whose place a new one of this session takes: one of the same engine, or of an older build."""
        mine = [k for k in self._here.kept(KV) if k.artefact.made_by.get("model") == self._engine.identity["model"]]
        return mine[-1].id if mine else None

    def _evict(self, fresh: KeptArtefact) -> None:
        """Drop bytes until all fit: first those that take most and were of use longest ago."""
        now = time.time()
        there = [(kept, at[1]) for kept in self._everywhere.kept(KV) if (at := self._everywhere.unchecked(kept))]
        self._bytes = sum(stat.st_size for _, stat in there)
        ranked = sorted(there, key=lambda pair: pair[1].st_size * (now - pair[1].st_mtime + 1.0), reverse=True)
        for kept, stat in ranked:
            if self._bytes <= self._budget:
                return
            if kept.id != fresh.id:
                self._bytes -= stat.st_size
                self._everywhere.drop_bytes(kept)
                self.counts.add(evicted=1, evicted_bytes=stat.st_size)


def _other(made_by: Mapping[str, object], identity: Mapping[str, object]) -> str:
    """The first thing that an artefact was made by otherwise than an engine would."""
    return next((name for name in identity if made_by.get(name) != identity[name]), "engine")
