"""`neural`: what models have computed from this memory, kept beside the store: what there is, made ahead, let go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Invalid, NotFound, StoreCorrupt
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import invocation
from mnemic.faces.cli.item_ids import resolve, resolve_all
from mnemic.faces.cli.output import flat, many, size

if TYPE_CHECKING:
    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.verbs.artefact_keeping import KeptArtefact

_HEAD: Final = ("id", "mechanism", "bytes", "there", "sources", "session", "what")
_SHOWN: Final = ("id", "mechanism", "text", "sha256", "bytes", "sound", "commit")


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
    """Everything that models have computed from this memory, and how many bytes it takes."""
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        kept = artefacts.kept(mechanism or "")
        records = [_record(artefacts, one) for one in kept]
        total = artefacts.stored_bytes()
    if run.output.json:
        run.output.document({"artefacts": records, "bytes": total})
        return
    run.output.table([_row(record) for record in records], head=_HEAD)
    run.output.line(f"{many(len(records), 'artefact')}, {size(total)} beside the store")


@verb("mnemic neural show last", "mnemic neural show last --json", name="show")
@click.argument("id", type=WORDS)
def shown(id: str) -> None:
    """One of them: what made it, what it was made of, and whether its bytes are what was kept.

    ID may be its beginning or its end; `last` is what was kept last.
    """
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        kept = _last(artefacts) if id == "last" else artefacts.get(resolve(me, id))
        record = {**_record(artefacts, kept), "sound": _is_sound(artefacts, kept)}
    if run.output.json:
        run.output.document(record)
        return
    made_by = ((f"made by {name}", flat(str(value))) for name, value in record["made_by"].items() if value)
    details = ((flat(name), flat(str(value))) for name, value in record["details"].items())
    rows = [
        (name, flat(str(record[name]))) for name in ("id", "mechanism", "text", "sha256", "bytes", "sound", "commit")
    ]
    run.output.table([*rows, *made_by, *details, ("sources", ", ".join(record["sources"]))])


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
            raise NotFound(f"no talk {session!r} has a window here; `mnemic session list` names them")
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


@verb("mnemic neural forget last", "mnemic neural forget last --json", name="forget")
@click.argument("ids", type=WORDS, nargs=-1, required=True)
def forgotten(ids: tuple[str, ...]) -> None:
    """Let some of them go; what they were made of stays as it is.

    What can be made again goes with its bytes at once; the rest stays for `undo` until it is erased.
    """
    run = invocation()
    with run.user_memory() as me:
        artefacts = me.artefacts
        named = [_last(artefacts).id] if ids == ("last",) else resolve_all(me, ids)
        freed = sum(artefacts.forget(id) for id in named)
    run.output.answer(
        {"forgotten": list(named), "bytes": freed}, f"forgotten: {', '.join(named)}; {size(freed)} given back"
    )


for _command in (listed, shown, prefilled, forgotten):
    neural.add_command(_command)


def _last(artefacts: ScopeArtefacts) -> KeptArtefact:
    kept = artefacts.kept()
    if not kept:
        raise NotFound("no model has computed anything from this memory yet; `mnemic neural prefill` has one do so")
    return kept[-1]


def _is_sound(artefacts: ScopeArtefacts, kept: KeptArtefact) -> str:
    try:
        artefacts.open(kept)
    except NotFound:
        return "its bytes are gone, and can be made again" if kept.artefact.remade else "its bytes are gone"
    except StoreCorrupt:
        return "no: its bytes are not what was kept, and are never used"
    return "yes"


def _record(artefacts: ScopeArtefacts, kept: KeptArtefact) -> dict[str, Any]:
    item, artefact = kept.version.item, kept.artefact
    return {
        "id": kept.id,
        "mechanism": artefact.mechanism,
        "text": item.text,
        "sha256": artefact.stored.sha256,
        "bytes": artefact.stored.size,
        "there": artefacts.unchecked(kept) is not None,
        "remade": artefact.remade,
        "made_by": dict(artefact.made_by),
        "details": dict(artefact.details),
        "sources": list(item.source),
        "session": item.session,
        "commit": kept.version.seq_from,
    }


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    there = "yes" if record["there"] else "no"
    return (
        record["id"], flat(record["mechanism"]), size(record["bytes"]), there, f"{len(record['sources']):,}",
        flat(record["session"] or ""), flat(record["text"]),
    )  # fmt: skip
