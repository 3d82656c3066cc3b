"""One user's facts and profile in the weights of a local model: learnt by a durable job, kept as artefacts.

Facts lie in shards (see `neural.lora_memory`), each an artefact that cites every item its facts were read from. So an
erased source takes its shard along before the receipt is there, and the erasure itself orders the job that learns it
again from what is left; a shard that holds a fact that stands no more (see `learnt_shards`) is not used until it is
learnt again. Nothing here needs torch but learning, and answering in torch.
"""

from __future__ import annotations

import importlib.util
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mnemic.artefacts.artefact_records import ADAPTER_AUTHOR
from mnemic.core.clock import micros
from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, State
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Scope
from mnemic.core.timex import find_times
from mnemic.core.tokens import words
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, Invalid, NotFound, StoreCorrupt, StoreError
from mnemic.extract.chinese import has_chinese
from mnemic.extract.phrasing import shown_value
from mnemic.extract.salutations import is_courtesy
from mnemic.extract.speakers import is_users_role
from mnemic.flow import Flow, Pause
from mnemic.lanes.heartbeat import beating
from mnemic.lanes.slices import DERIVER, LEASE_SECONDS
from mnemic.learnt_shards import (
    Shard,
    StaleReason,
    digest_of_fact,
    facts_answering,
    shard_details,
    shard_number,
    stale_facts,
)
from mnemic.opening import Opened
from mnemic.scope_artefacts import ScopeArtefacts
from mnemic.store.engine.job_queue import AGAIN, order, prolong
from mnemic.store.requests import look
from mnemic.store.values.work import JobState, Order
from mnemic.verbs.recalling import RecallRequest
from mnemic.verbs.who import Who, own_or_none, own_space, scanned, spaces_of

if TYPE_CHECKING:
    from mnemic.core.items import Item, Slot, Version
    from mnemic.neural.gguf_weights import TextModel
    from mnemic.neural.lora_memory import LoraMemory, TaughtFact
    from mnemic.recall.answer import Answer
    from mnemic.recall.beliefs import Belief
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.drafts import JobStep
    from mnemic.store.values.work import Job
    from mnemic.verbs.artefact_keeping import KeptArtefact
    from mnemic.worker.job_types import JobContext, JobSlice

T = TypeVar("T")

LORA: Final = "lora"
"""The mechanism of a shard: its matrices under PEFT's names, as safetensors."""
LORA_GGUF: Final = "lora-gguf"
"""The mechanism of the same as an adapter of llama.cpp, which can be made again from the shard."""
LEARN: Final = "learn"
"""The name of the job."""
PRESETS: Final = ("user", "character")
"""Who is asked: the assistant about its user, or a character, whose memory this is, about themselves."""
MODEL: Final = "smollm2"
TORCH: Final = "pip install torch==2.13.0, then pip install 'mnemic[neural]'"

_CHECKED: Final = 4
"""Steps between two looks whether anything has been erased."""
_NAMED: Final = re.compile(r"(?<=[\w,;:'’\"“] )(?!I\b)[^\W\d_a-z]\w+|\d+")
"""What is written as a name amid a sentence, or as a number."""
_SURELY: Final = 3.0
"""The log odds (19 to 1) from which an item surely speaks of what is asked, where its words alone do not say so."""

Report = Callable[[int, int, int, int], None]
"""Told which shard is learnt, of how many, how many steps are done, and how many there are at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPlan:
    """What a job is to learn, and in which model.

    Attributes:
        model: A GGUF file, or smollm2.
        shards: How many adapters facts are spread over; None for as many as their number asks for (`neural.shards`).
        preset: One of `PRESETS`.
    """

    model: str = MODEL
    shards: int | None = None
    preset: str = PRESETS[0]

    def checked(self) -> LearningPlan:
        """The plan, if it can be followed.

        Raises:
            Invalid: no such preset, or no shards.
        """
        if self.preset not in PRESETS:
            raise Invalid("preset", f"{self.preset!r} is not known", f"They are {', '.join(PRESETS)}.")
        if self.shards is not None and self.shards < 1:
            raise Invalid("shards", f"is {self.shards}", "Give at least one.")
        return self


class LeftOutReason(StrEnum):
    """The reasons why something that the profile states is not learnt, each as it is told."""

    IN_DOUBT = "in doubt"
    IN_CHINESE = "told in Chinese, and learning is in English only"
    UNWORDED = "nobody has said how it is asked for"
    UNVALUED = "it says nothing that an answer could name"
    UNWRITTEN = "not written yet, or forgotten just now: learn again in a moment"
    OF_OTHERS = "the profile does not take it to be of the user"
    UNREAD = "the profile holds nothing of it"
    READ_IN_PART = "the profile holds only a part of it"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that the profile states, or that somebody has told, and that is not learnt.

    Attributes:
        subject: Of whom it is; "user" for whose memory it is, or who told it.
        matter: The slot of the profile, or what it is about; "" where nobody has read it.
        text: What is stated, or was said.
        against: What was said later and puts it in doubt, word for word; "" unless that is the reason.
    """

    subject: str
    matter: str
    text: str
    reason: LeftOutReason
    against: str = ""


@dataclass(frozen=True, slots=True)
class Learnable:
    """What there is to be learnt of a user.

    Attributes:
        facts: Each with its questions, its answer, and the items that it was read from.
        stated: The items of the profile that state these facts, each with the digest of what it states.
        left_out: What the profile states besides, each with the reason why it is not learnt.
    """

    facts: tuple[TaughtFact, ...]
    stated: Mapping[ItemId, str]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What learning would do now.

    Attributes:
        due: The numbers of the shards that are to be learnt.
        shards: Those that were learnt, of whatever plan, every byte of them looked at.
    """

    learnable: Learnable
    due: frozenset[int]
    shards: tuple[Shard, ...]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What one shard is to learn.

    Attributes:
        stated: The items that state facts, of all shards, each with the digest of what it states.
        digest: Of all that it is learnt from.
        former: What is kept of it, whose place it takes.
    """

    number: int
    facts: tuple[TaughtFact, ...]
    stated: Mapping[ItemId, str]
    digest: str
    former: KeptArtefact | None


class ScopeLearning:
    """What local models have learnt of one user, and may learn. Safe to share between threads."""

    def __init__(self, opened: Opened, who: Who) -> None:
        self._opened, self._who = opened, who
        self._artefacts = ScopeArtefacts(opened, who)

    @property
    def artefacts(self) -> ScopeArtefacts:
        """The artefacts among which shards are kept."""
        return self._artefacts

    def learnable(self, preset: str = PRESETS[0]) -> Learnable:
        """Read what there is to be learnt: what the profile states and nothing puts in doubt; and what is left out.

        Raises:
            Invalid: torch is missing.
        """
        require_torch()
        import_whole("mnemic.neural.fact_wordings")
        from mnemic.neural.fact_wordings import WORDINGS

        beliefs = self._beliefs()
        written = self._written([fact.id for belief in beliefs for fact in belief.facts])
        standing = {id for id, version in written.items() if version.item.state is State.ACTIVE}
        values: dict[tuple[str, str], list[Belief]] = {}
        left_out: list[LeftOut] = []
        for belief in beliefs:
            slot = str(belief.facts[0].slots.get("slot", ""))
            reason = _why_not_learnt(belief, slot in WORDINGS, belief.facts[0].id in standing)
            if reason is None:
                values.setdefault((belief.subject, slot), []).append(belief)
                continue
            against = belief.doubt.sentence if belief.doubt and reason is LeftOutReason.IN_DOUBT else ""
            left_out.append(LeftOut(belief.subject, slot or belief.matter, belief.text, reason, against))
        subjects = {subject for subject, _ in values}
        facts = [_taught(subject, slot, of, subjects, preset) for (subject, slot), of in sorted(values.items())]
        stating = (fact for of in values.values() for belief in of for fact in belief.facts)
        stated = {fact.id: digest_of_fact(fact) for fact in stating}
        return Learnable(tuple(facts), stated, tuple(left_out))

    def unread(self) -> tuple[LeftOut, ...]:
        """What the user has told, and what facts state, that the profile does not hold or holds in part: the newest
        first, as far as it stands and is no question. Nothing of it can be learnt.

        A part is missing where something is named that no statement of the profile read from it names.
        """
        beliefs = self._run(self._opened.kernel.profile(self._who, history=True))
        facts = {item.id: item for belief in beliefs for item in (*belief.facts, *belief.former)}
        read: dict[ItemId, list[Item]] = {}
        for item in facts.values():
            for source in item.source:
                read.setdefault(source, []).append(item)
        where = Filter(kinds=(Kind.TURN, Kind.FACT))
        versions = self._run(look(lambda s: list(scanned(s, own_or_none(s, self._who), where, View()))))
        left_out: list[LeftOut] = []
        for item in (version.item for version in reversed(versions)):
            if item.kind is Kind.FACT:
                reason = None if item.id in facts else LeftOutReason.OF_OTHERS
            else:
                reason = _why_not_read(item, read.get(item.id, ()))
            if reason is not None:
                subject = str(item.slots.get("subject") or "user")
                left_out.append(LeftOut(subject, "", item.text, reason))
        return tuple(left_out)

    def shards(self, *, checked: bool = False) -> tuple[Shard, ...]:
        """What was learnt, by number of the shard; whether each stands is told by what the profile states now.

        Args:
            checked: Whether every byte of them is looked at, and not only how many there are.
        """
        return self._shards(self._beliefs, checked=checked)

    def _shards(self, beliefs: Callable[[], Sequence[Belief]], *, checked: bool = False) -> tuple[Shard, ...]:
        kept = self._artefacts.kept(LORA)
        if not kept:  # as nearly everywhere: the profile is not looked at
            return ()
        stating = beliefs()
        written = self._written([source for one in kept for source in one.version.item.source])
        shards = [
            Shard(kept=one, stale=stale_facts(one, stating, written, self._flaw(one, checked=checked))) for one in kept
        ]
        return tuple(sorted(shards, key=lambda shard: shard.number))

    def _flaw(self, kept: KeptArtefact, *, checked: bool) -> StaleReason | None:
        """What is wrong with the file of an artefact."""
        if not checked:
            found = self._artefacts.unchecked(kept)
            if found is None:
                return StaleReason.NO_BYTES
            return None if found[1].st_size == kept.artefact.stored.size else StaleReason.CHANGED
        try:
            self._artefacts.verified(kept.artefact)
        except NotFound:
            return StaleReason.NO_BYTES
        except StoreCorrupt:
            return StaleReason.CHANGED
        return None

    def whole(self, kept: KeptArtefact) -> KeptArtefact:
        """The shard of which an artefact is the copy for an engine; any other artefact as it is."""
        if kept.artefact.mechanism != LORA_GGUF:
            return kept
        return next((one for one in self._artefacts.kept(LORA) if one.id in kept.version.item.source), kept)

    def engine_adapters(self, model: str, shards: Sequence[Shard]) -> dict[Shard, KeptArtefact]:
        """The adapters that an engine may load whose file has this digest, by the shard of each that stands."""
        by_digest = {
            str(made): one
            for one in self._artefacts.kept(LORA_GGUF)
            for made in _listed(one.artefact.made_by.get("adapters"))
        }
        standing = (one for one in shards if one.stands and one.kept.artefact.made_by.get("model") == model)
        pairs = ((shard, by_digest.get(shard.kept.artefact.stored.sha256)) for shard in standing)
        return {shard: adapter for shard, adapter in pairs if adapter is not None}

    def outlook(self, plan: LearningPlan) -> Outlook:
        """Open the model of a plan, and say what is to be learnt; nothing is learnt or kept.

        Raises:
            Invalid: torch or the model is missing, or its file is no whole model.
            TooLarge: there are more facts than the shards take.
        """
        learnable, shards = self.learnable(plan.preset), self.shards(checked=True)
        memory = self._spread(open_lora(plan, self._opened.settings.home / "cache"), plan, learnable, shards)
        former, _ = self._former(memory, plan, learnable, shards)
        lessons = list(_lessons(memory, learnable, former))
        return Outlook(learnable, frozenset(lesson.number for lesson in lessons), shards)

    def order(self, plan: LearningPlan) -> int:
        """Queue the job; its number. Whoever has torch does it: `mnemic neural learn`, or a worker.

        Raises:
            NotFound: nothing has been remembered for this user.
        """
        payload = json.dumps(asdict(plan.checked())).encode()
        with self._opened.store.read() as snapshot:
            home = own_space(snapshot, self._who)
        return self._opened.store.transact(order, Order(name=LEARN, key=uuid.uuid4().hex, space=home, payload=payload))

    def learn_next(self, plan: LearningPlan, report: Report, stopping: Callable[[], bool] = lambda: False) -> bool:
        """Learn one shard that is not learnt from what now stands; whether another may be left.

        Raises:
            Invalid: torch or the model is missing, or the facts cannot be learnt together.
            Conflict: something was erased or changed meanwhile, or it was to stop: nothing was kept.
        """
        epoch = self._artefacts.epoch()
        learnable = self.learnable(plan.preset)
        shards = self.shards(checked=True)
        memory = self._spread(open_lora(plan, self._opened.settings.home / "cache"), plan, learnable, shards)
        former, over = self._former(memory, plan, learnable, shards)
        for shard in over:
            self._artefacts.forget(shard.kept.id)
        if (lesson := next(_lessons(memory, learnable, former), None)) is not None:
            self._learn(memory, plan, lesson, epoch, report, stopping)
            return True
        for shard in former.values():
            self._keep_for_engine(memory, shard.kept)
        return False

    def _former(
        self, memory: LoraMemory, plan: LearningPlan, learnable: Learnable, shards: Sequence[Shard]
    ) -> tuple[dict[int, Shard], list[Shard]]:
        """The shards of a plan by number, and those of another plan, or of which nothing is left to be learnt."""
        lying = memory.lying(learnable.facts)
        former = {s.number: s for s in shards if s.number in lying and self._is_of(s.kept, memory, plan)}
        return former, [shard for shard in shards if former.get(shard.number) is not shard]

    def _spread(
        self, memory: LoraMemory, plan: LearningPlan, learnable: Learnable, shards: Sequence[Shard]
    ) -> LoraMemory:
        """The memory that learns in as many shards as a plan says, or as facts ask for."""
        if plan.shards is not None:
            return memory
        import_whole("mnemic.neural.shards")
        from mnemic.neural.shards import count_for

        mine = (memory.identity.model, plan.preset)
        of = (
            s.of
            for s in shards
            if (s.kept.artefact.made_by.get("model"), s.kept.artefact.details.get("preset")) == mine
        )
        count = count_for([fact.id for fact in learnable.facts], max(of, default=0))
        return type(memory)(memory.model, replace(memory.settings, shards=count))

    def state(self, memory: LoraMemory, shards: Sequence[Shard] | None = None) -> dict[str, Any]:
        """Read those of some shards, or of all, that stand and are of a model as one state, every byte checked.

        Raises:
            ForeignState, DamagedState, StoreError: one of them is of other settings, or is not what was kept.
        """
        import_whole("mnemic.neural.base")
        from mnemic.neural import base

        state: base.State = {}
        for shard in self.shards() if shards is None else shards:
            if shard.stands and shard.kept.artefact.made_by.get("model") == memory.identity.model:
                state |= base.load(self._artefacts.open(shard.kept), memory.identity)[0]
        return state

    def named_for(self, question: str) -> tuple[ItemId, ...]:
        """The facts, held by shards, that answer a question; the best first, and none where none does.

        A question in words that a shard was taught is answered by the fact that it was taught. For any other, recall
        finds something, and a model says what it has learnt to whatever it is asked: so only a fact is named that
        memory itself would answer with. Which of them are weighed in is told by whose shard stands (`shard_for`).

        Raises:
            Invalid: the question is blank.
        """
        beliefs = self._beliefs()
        shards = self._shards(lambda: beliefs)
        certain = {fact.id: fact for belief in beliefs if belief.doubt is None for fact in belief.facts}
        taught = (shard.taught(question) for shard in shards)
        if (fact := next((fact for fact in taught if fact is not None), None)) is not None:
            return (fact,)
        held = {id for shard in shards for id in shard.stated}
        answer = self.sure_answer(question) if held else None
        return (
            () if answer is None else facts_answering(question, answer, (certain[id] for id in certain if id in held))
        )

    def sure_answer(self, question: str) -> Answer | None:
        """What memory answers to a question out of what it surely holds; None where it likely holds no answer.

        Raises:
            Invalid: the question is blank.
        """
        import_whole("mnemic.recall.reasons")
        from mnemic.recall.reasons import KNOWN

        answer, context = self._run(self._opened.kernel.answering(self._who, RecallRequest(query=question)))
        if not answer.known:
            return None
        cited = {citation.id for citation in answer.citations}
        bearing = [hit.bearing for hit in context.items if hit.id in cited and hit.bearing is not None]
        return answer if context.confidence >= KNOWN or max(bearing, default=0.0) >= _SURELY else None

    def state_mark(self) -> tuple[tuple[int, ...], int]:
        """Numbers that are others as soon as anything has been written or erased that this user may read."""
        with self._opened.store.read() as snapshot:
            heads = snapshot.spaces(spaces_of(snapshot, self._who))
        return tuple(head.epoch for head in heads), sum(head.seq for head in heads)

    def plan(self) -> LearningPlan | None:
        """What was learnt last here, or ordered to be; None for nothing."""
        with self._opened.store.read() as snapshot:
            return next((plan_of(snapshot, space) for space in own_or_none(snapshot, self._who)), None)

    def _learn(
        self, memory: LoraMemory, plan: LearningPlan, lesson: _Lesson, epoch: tuple[int, ...], report: Report,
        stopping: Callable[[], bool],
    ) -> None:  # fmt: skip
        import_whole("mnemic.neural.base", "mnemic.neural.gguf_weights")
        from mnemic.neural import base
        from mnemic.neural.gguf_weights import single_threaded

        shards, facts = memory.settings.shards, lesson.facts

        def step(done: int, most: int) -> None:
            report(lesson.number, shards, done, most)
            if stopping():
                raise Conflict("it was to stop; nothing was kept, and it is learnt when somebody goes on")
            if done % _CHECKED == 0 and self._artefacts.epoch() != epoch:
                raise Conflict("something was erased while it was learnt; it is learnt again from what is left")

        with single_threaded():
            state = memory.write(facts, memory.empty(), step)
        identity, name = memory.identity, plan.model.rpartition("/")[2]
        count = "1 fact" if len(facts) == 1 else f"{len(facts)} facts"
        try:
            kept = self._artefacts.put(
                base.packed(state, identity),
                mechanism=LORA,
                made_by={"model": identity.model, "tokenizer": identity.tokenizer, "settings": identity.settings},
                sources=sorted({ItemId(source) for fact in facts for source in fact.sources}),
                text=f"{count} learnt by {name}, shard {lesson.number + 1} of {shards}",
                details=shard_details(
                    lesson.number, shards, facts, lesson.stated, preset=plan.preset, facts_digest=lesson.digest
                ),
                replaces=None if lesson.former is None else lesson.former.id,
                author=ADAPTER_AUTHOR,
            )
        except NotFound as error:
            raise Conflict("a source went while it was learnt; it is learnt again from what is left") from error
        self._keep_for_engine(memory, kept, state)

    def _keep_for_engine(self, memory: LoraMemory, shard: KeptArtefact, state: dict[str, Any] | None = None) -> None:
        """Keep a shard as an adapter of llama.cpp too, unless it is there."""
        import_whole("mnemic.neural.base")
        from mnemic.neural import base

        former = next((k for k in self._artefacts.kept(LORA_GGUF) if shard.id in k.version.item.source), None)
        made_by: dict[str, Slot] = {"model": memory.identity.model, "adapters": [shard.artefact.stored.sha256]}
        if former is not None and former.artefact.made_by == made_by and self._flaw(former, checked=True) is None:
            return
        if state is None:
            state = base.load(self._artefacts.open(shard), memory.identity)[0]
        path = self._artefacts.unfinished()
        try:
            memory.write_gguf(state, shard_number(shard), path)
            self._artefacts.put(
                path, mechanism=LORA_GGUF, made_by=made_by, sources=(shard.id,),
                text=f"{shard.version.item.text}, for llama.cpp", remade=True,
                replaces=None if former is None else former.id,
            )  # fmt: skip
        except OSError as error:
            raise StoreError(f"cannot write an adapter to {path.parent}: {error.strerror}; nothing was kept") from error
        finally:
            path.unlink(missing_ok=True)

    def _is_of(self, kept: KeptArtefact, memory: LoraMemory, plan: LearningPlan) -> bool:
        made_by, details, identity = kept.artefact.made_by, kept.artefact.details, memory.identity
        mine = (identity.model, identity.tokenizer, identity.settings, plan.preset)
        return mine == (made_by.get("model"), made_by.get("tokenizer"), made_by.get("settings"), details.get("preset"))

    def _beliefs(self) -> Sequence[Belief]:
        """What the profile states, read ahead of what rules have yet to write."""
        return self._run(self._opened.kernel.profile(self._who, history=False))

    def _written(self, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
        """What is written of items, in whatever state."""
        return self._run(look(lambda snapshot: dict(snapshot.standing(spaces_of(snapshot, self._who), ids))))

    def _run(self, flow: Flow[T]) -> T:
        return self._opened.answering.verb(flow, self._who, "")


class LearningJobs:
    """The jobs of a store that learn: a process does them only if it says so, for each takes minutes of a processor."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def take(
        self, report: Report = lambda shard, of, done, most: None, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        """Have this process do them from now on, and order those that are due, where it is a worker.

        Args:
            stopping: Whether to stop amid a shard; it is then learnt from the beginning by whoever comes next.

        Raises:
            Invalid: torch is missing.
        """
        require_torch()
        background = self._opened.background

        def learning_slice(context: JobContext, job: Job, step: JobStep) -> Flow[bool]:
            yield Pause()
            ordered = yield from look(lambda s: _ordered(s, job))
            if ordered is None:  # its user was erased
                return False
            who, plan = ordered
            store = self._opened.store
            with beating(lambda: store.transact(prolong, job.order.space, step.owner, LEASE_SECONDS, job.id)):
                return ScopeLearning(self._opened, who).learn_next(plan, report, stopping)

        slices: dict[str, JobSlice] = {LEARN: learning_slice, AGAIN + ADAPTER_AUTHOR: learning_slice}
        background.job_types.update(slices)
        background.chores.setdefault(LEARN, self._order_what_is_due)

    def _order_what_is_due(self, idle: float) -> None:
        """Order that be learnt again what rests on something that was forgotten or superseded since."""
        with self._opened.store.read() as snapshot:
            done = {job.order.space for job in snapshot.jobs(JobState.DONE) if job.order.name == LEARN}
            waiting = {job.order.space for job in snapshot.jobs(JobState.WAITING) if job.order.name == LEARN}
            due = [(who, plan) for space in sorted(done - waiting) for who, plan in _known(snapshot, space)]
        for who, plan in due:
            learning = ScopeLearning(self._opened, who)
            if any(not shard.stands for shard in learning.shards()):
                learning.order(plan)


def require_torch() -> None:
    """Refuse to go on where torch and its company are not installed.

    Raises:
        Invalid: one of them is missing; it says what to install.
    """
    for name in ("torch", "safetensors", "gguf", "tokenizers"):
        if importlib.util.find_spec(name) is None:
            raise Invalid("neural", f"{name} is not installed", f"{TORCH}.")


def model_file(model: str) -> Path:
    """The GGUF file that a model's name means: `smollm2`, `gguf:PATH`, or a path.

    Raises:
        Invalid: it is none that runs in this process, or it is not installed.
    """
    import_whole("mnemic.models.chat.gguf")
    from mnemic.models.chat.gguf import smollm2_weights

    if model == MODEL:
        return smollm2_weights()
    path = model.removeprefix("gguf:")
    if path == model and not model.endswith(".gguf"):
        raise Invalid("model", f"{model!r} is none whose weights are here", "Name a GGUF file, or smollm2.")
    return Path(path).expanduser()


def open_lora(plan: LearningPlan, cache: Path) -> LoraMemory:
    """Open the model of a plan with the settings that it learns by.

    Raises:
        Invalid: torch or the model is missing.
    """
    require_torch()
    import_whole("mnemic.neural.lora_memory", "mnemic.neural.gguf_weights")
    from mnemic.neural.gguf_weights import open_gguf
    from mnemic.neural.lora_memory import LoraMemory, LoraSettings

    model: TextModel = open_gguf(model_file(plan.model), cache)
    return LoraMemory(model, replace(LoraSettings(), shards=plan.shards or 1))


def plan_of(snapshot: Snapshot, space: int) -> LearningPlan | None:
    """What was ordered last to be learnt in a space."""
    jobs = [job for job in snapshot.jobs(by_number=True) if job.order.name == LEARN and job.order.space == space]
    return LearningPlan(**json.loads(jobs[-1].order.payload)) if jobs else None


def _ordered(snapshot: Snapshot, job: Job) -> tuple[Who, LearningPlan] | None:
    """Whose facts a job is to learn, and how: as it says, or as it was ordered before where an erasure ordered it."""
    known = list(_known(snapshot, job.order.space))
    if not known or job.order.name != LEARN:
        return known[0] if known else None
    return known[0][0], LearningPlan(**json.loads(job.order.payload))


def _known(snapshot: Snapshot, space: int) -> Sequence[tuple[Who, LearningPlan]]:
    (head,) = snapshot.spaces((space,)) or (None,)
    if head is None or head.user is None:
        return ()
    scope = Scope(tenant=snapshot.tenant_name(head.tenant), user=head.user)
    who = Who(scope=scope, actor=DERIVER, branch=head.branch)
    return ((who, plan_of(snapshot, space) or LearningPlan()),)


def _lessons(memory: LoraMemory, learnable: Learnable, former: Mapping[int, Shard]) -> Iterator[_Lesson]:
    """Yield what each shard is to learn that has not learnt just that, or whose bytes are of no use."""
    import_whole("mnemic.neural.lora_memory")
    from mnemic.neural.lora_memory import facts_digest

    for number, facts in memory.lying(learnable.facts).items():
        before, digest = former.get(number), facts_digest(facts)
        if before is None or before.is_unusable or before.kept.artefact.details.get("facts_digest") != digest:
            replaced = None if before is None else before.kept
            yield _Lesson(number, tuple(facts), learnable.stated, digest, replaced)


def _why_not_learnt(belief: Belief, is_worded: bool, is_standing: bool) -> LeftOutReason | None:
    """Why something that the profile states is not learnt; None if it is."""
    value = str(belief.facts[0].slots.get("value", ""))
    reasons = {
        LeftOutReason.IN_DOUBT: belief.doubt is not None,
        LeftOutReason.UNWORDED: not is_worded,
        LeftOutReason.UNVALUED: not value,
        LeftOutReason.IN_CHINESE: has_chinese(value),
        LeftOutReason.UNWRITTEN: not is_standing,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _why_not_read(turn: Item, read: Sequence[Item]) -> LeftOutReason | None:
    """Why something that was said is not learnt as a whole; None where it is, or is nobody's to be learnt.

    Args:
        read: The facts that the profile states, or stated, of it.
    """
    role = turn.slots.get("role")
    if not (role is None or is_users_role(role)) or turn.text.rstrip().endswith(("?", "？")):
        return None
    if not read:
        return None if is_courtesy(turn.text) else LeftOutReason.UNREAD
    told = {word for fact in read for word in words(fact.text)}
    if _named_in(turn.text) <= told or _named_in(_without_times(turn, read)) <= told:
        return None
    return LeftOutReason.READ_IN_PART


def _named_in(text: str) -> set[str]:
    return {word for name in _NAMED.findall(text) for word in words(name)}


def _without_times(turn: Item, read: Sequence[Item]) -> str:
    """What was said, less each time that a fact read from it has, however either writes it."""
    times = {(time.start, time.end) for fact in read for time in find_times(fact.text, micros(turn.said))}
    left = turn.text
    for time in find_times(turn.text, micros(turn.said)):
        if (time.start, time.end) in times:
            left = left.replace(time.text, " ", 1)
    return left


def _taught(subject: str, slot: str, beliefs: Sequence[Belief], subjects: set[str], preset: str) -> TaughtFact:
    import_whole("mnemic.neural.fact_wordings")
    from mnemic.neural.fact_wordings import OTHER_PEOPLE, fact_of

    facts = [fact for belief in beliefs for fact in belief.facts]
    said = [shown_value(str(belief.facts[0].slots["value"]), belief.text) for belief in beliefs]
    value = " and ".join((", ".join(said[:-1]), said[-1])) if len(said) > 1 else said[0]
    sources = dict.fromkeys((*(fact.id for fact in facts), *(source for fact in facts for source in fact.source)))
    people = [name for name in OTHER_PEOPLE if name not in subjects]
    taught = fact_of(f"{subject}/{slot}", slot, value, tuple(sources), people, subject=subject, preset=preset)
    assert taught is not None, "only slots with a wording come here"
    return taught


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()
