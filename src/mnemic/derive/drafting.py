"""Commit a strategy's run: what it writes, revises, retires and links, together with the step of its lane."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import micros
from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import derived_id
from mnemic.core.items import UPKEEP, Channel, Item, Link, Sight, Slot, State, Version
from mnemic.core.transitions import SUPERSEDES, ended, outdated, retired, superseded
from mnemic.derive.runs import MAINTAIN
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.lanes.slices import DERIVER
from mnemic.store.requests import commit, look
from mnemic.store.values.drafts import Draft, Put, Tie
from mnemic.strategies.base import Bond, Derivation, Edits, Ref, Revision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.derive.runs import StrategyRun
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk


def commit_run(
    desk: Desk, strategy: Strategy, run: StrategyRun, edits: Edits, known: Mapping[ItemId, Version]
) -> Flow[Receipt]:
    """Commit a run's edits, as `draft_run` drafts them.

    Raises:
        Invalid: an edit names what is not there, or is not the strategy's to make.
        Conflict: somebody else went on, or changed what this rests on.
    """
    draft = yield from draft_run(desk, strategy, run, edits, known)
    return (yield from commit(draft))


def draft_run(
    desk: Desk, strategy: Strategy, run: StrategyRun, edits: Edits, known: Mapping[ItemId, Version]
) -> Flow[Draft]:
    """Draft a run's edits, without what the owner hid or what has landed, and the step of its lane or job.

    Args:
        known: What the run was given as known or looked up, by id: it may change these, if they are still as it read
            them, and cite and tie them as it may its evidence.

    Raises:
        Invalid: an edit names what is not there, or is not the strategy's to make.
    """
    _refuse_twins(strategy, edits)
    edits, landed = yield from _unwritten(run, edits)
    known = {**landed, **known}
    gone_links = yield from _untied(run, edits.untie)
    shown = {item.id: item for item in (*run.given.evidence, *(version.item for version in known.values()))}
    taken = {*run.made, *shown, *(yield from _standing_elsewhere(run, edits.write))}
    fresh = [_derived_item(desk, strategy, run, d, shown, taken) for d in edits.write]
    revised = {revision.id: _revised(desk, strategy, known, shown, revision) for revision in edits.revise}
    read = {id: replace(known[id], item=put.item) for id, put in revised.items()}
    closed, ties = _closings(strategy, edits, fresh, {**known, **read}, shown)
    puts = [desk.put(Verb.WROTE, closed.get(i.id, i), key=d.key) for i, d in zip(fresh, edits.write, strict=True)]
    ends = [_ended(item, revised.get(id)) for id, item in closed.items() if id in known]
    changed = [put for id, put in revised.items() if id not in closed]
    gone = [_retired(strategy, known, id) for id in edits.retire]
    bonds = [
        Tie(verb=Verb.LINKED, link=link)
        for link in _tied_once(_link(strategy, run, bond, fresh, shown) for bond in edits.tie)
    ]
    bonds += [Tie(verb=Verb.UNLINKED, link=link) for link in gone_links]
    touched = {put.item.id for put in (*ends, *changed, *gone)}
    return Draft(
        tenant=run.tenant,
        user=run.user,
        branch=run.branch,
        actor=DERIVER,
        ops=(*puts, *ends, *changed, *gone, *ties, *bonds),
        expect={id: known[id].seq_from for id in touched},
        lane=run.step,
        job=run.job,
    )


def _closable(strategy: Strategy, derivation: Derivation, version: Version) -> Item:
    """What a derivation takes the place of: of others' items only one that everybody sees does, or they would see none.

    Raises:
        Invalid: it is somebody else's, and what takes its place is kept out of their sight.
    """
    return version.item if derivation.sight is Sight.ALL else _own(strategy, version)


def _closings(
    strategy: Strategy,
    edits: Edits,
    fresh: Sequence[Item],
    known: Mapping[ItemId, Version],
    shown: Mapping[ItemId, Item],
) -> tuple[dict[ItemId, Item], list[Tie]]:
    """Close what edits supersede, write as history or end: what becomes of each item, and the links that say why.

    Args:
        fresh: The items that the edits write, in order.
    """
    closed: dict[ItemId, Item] = {}
    ties: list[Tie] = []
    for newer, d in zip(fresh, edits.write, strict=True):
        for ref in ([] if d.supersedes is None else [d.supersedes]) + list(d.revokes):
            older = fresh[ref] if isinstance(ref, int) else _closable(strategy, d, _known(known, ref))
            closed[older.id] = superseded(closed.get(older.id, older), newer)
            ties.append(_over(newer.id, older))
        if d.outdated_by is not None:
            over = fresh[d.outdated_by] if isinstance(d.outdated_by, int) else _known(known, d.outdated_by).item
            closed[newer.id] = outdated(closed.get(newer.id, newer), over)
            ties.append(_over(over.id, newer))
    for end in edits.end:
        if not end.source:
            raise Invalid("edits", f"ends {end.id} and cites nothing", "Cite the evidence that says so.")
        item = _own(strategy, _known(known, end.id))
        cited = _citing(closed.get(item.id, item), end.source, (), shown)
        closed[item.id] = ended(cited, end.at, end.said)
        ties += [_over(source_id, item) for source_id in end.source]
    return closed, list(dict.fromkeys(ties))


def _ended(item: Item, revised: Put | None) -> Put:
    """Write an item that is closed, with the words of its revision if the same edits revise it."""
    return Put(verb=Verb.SUPERSEDED, item=item, terms=None if revised is None else revised.terms)


def _over(newer: ItemId, older: Item) -> Tie:
    """Tie what takes an item's place, or says that it has ended, to it."""
    return Tie(verb=Verb.LINKED, link=Link(src=newer, dst=older.id, type=SUPERSEDES))


def _refuse_twins(strategy: Strategy, edits: Edits) -> None:
    keys = [derivation.key for derivation in edits.write]
    if len(set(keys)) < len(keys):
        twice = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise Invalid("edits", f"strategy {strategy.name} writes key {twice!r} twice in one run", _OWN_KEYS)
    ids = [revision.id for revision in edits.revise]
    if len(set(ids)) < len(ids):
        again = next(id for n, id in enumerate(ids) if id in ids[:n])
        raise Invalid("edits", f"strategy {strategy.name} revises {again} twice in one run", "Say all in one revision.")


_UNSHOWN: Final = "which was neither given nor looked up"
_SHOWN_ALONE: Final = "A strategy cites only what it was shown."
_OWN_KEYS: Final = "A key is <strategy>:<source id>:<n>; count n on for each derivation of a source."


def _known(known: Mapping[ItemId, Version], id: ItemId) -> Version:
    if id not in known:
        raise Invalid("edits", f"changes {id}, {_UNSHOWN}", "A strategy changes only what it has read.")
    if known[id].item.state is State.RETIRED:
        raise Invalid("edits", f"{id} is hidden", "A strategy changes only what stands.")
    return known[id]


def _own(strategy: Strategy, version: Version) -> Item:
    if version.item.author != strategy.by:
        raise Invalid("edits", f"{version.item.id} is not by {strategy.by}", "A strategy revises only its own.")
    return version.item


def _standing_elsewhere(run: StrategyRun, derivations: Sequence[Derivation]) -> Flow[Collection[ItemId]]:
    """Find which of the ids that derivations would get are there already, of evidence that the run was not given.

    What was derived of the run's own evidence is in `made`; a rerun may have taken back what another run made of a
    turn that this one looked up.
    """
    given = {item.id for item in run.given.evidence}
    ids = [_id_of(run, d) for d in derivations if d.source and d.source[0] not in given]
    return (yield from look(lambda s: s.standing((run.space,), ids))) if ids else ()


def _derived_item(
    desk: Desk,
    strategy: Strategy,
    run: StrategyRun,
    d: Derivation,
    shown: Mapping[ItemId, Item],
    taken: Collection[ItemId],
) -> Item:
    """Make the item of a derivation: it belongs to the user and the agent it was said to, not to the session."""
    if not d.source or d.slots.get("by") != strategy.by:
        raise Invalid("edits", f"{d.key} cites no evidence, or not its author", "See strategies.base.")
    if invented := [source for source in (*d.source, *d.context) if source not in shown]:
        raise Invalid("edits", f"{d.key} cites {invented[0]}, {_UNSHOWN}", _SHOWN_ALONE)
    return Item(
        id=_derived_id(desk, run, d, taken),
        kind=d.kind,
        text=d.text,
        key=d.words,
        slots={**d.slots, UPKEEP: True} if run.lane.name.endswith(MAINTAIN) else d.slots,
        tags=d.tags,
        source=d.source,
        context=_beside(d.source, d.context),
        said=d.said,
        said_offset=d.said_offset,
        valid_from=d.valid_from,
        valid_to=d.valid_to,
        agent=shown[d.source[0]].agent,
        pos=micros(d.said),
        channel=Channel.MODEL if strategy.budget.calls else Channel.USER,
        sight=d.sight,
    )


def _derived_id(desk: Desk, run: StrategyRun, d: Derivation, taken: Collection[ItemId]) -> ItemId:
    """Derive an item's id from the run, so that a repeated run, or a reader ahead of the commit, gets the same.

    One that is there already, or was erased, is not given again.
    """
    id = _id_of(run, d)
    return desk.fresh_id() if id in taken else id


def _id_of(run: StrategyRun, d: Derivation) -> ItemId:
    return derived_id(d.source[0], run.number, run.epoch, d.key)


def _revised(
    desk: Desk,
    strategy: Strategy,
    known: Mapping[ItemId, Version],
    shown: Mapping[ItemId, Item],
    revision: Revision,
) -> Put:
    item = _own(strategy, _known(known, revision.id))
    wanted = {
        "text": revision.text,
        "key": revision.words,
        "slots": None if revision.slots is None else {**revision.slots, **_marks(item)},
        "tags": revision.tags,
        "valid_to": revision.valid_to,
    }
    fields: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    return desk.put(Verb.REVISED, replace(_citing(item, revision.source, revision.context, shown), **fields))


def _citing(item: Item, source: Sequence[ItemId], context: Sequence[ItemId], shown: Mapping[ItemId, Item]) -> Item:
    """Have an item rest on more, and have more for its context, of what the run was shown."""
    if invented := [cited_id for cited_id in (*source, *context) if cited_id not in shown]:
        raise Invalid("edits", f"{item.id} cites {invented[0]}, {_UNSHOWN}", _SHOWN_ALONE)
    source = tuple(dict.fromkeys((*item.source, *source)))
    return replace(item, source=source, context=_beside(source, (*item.context, *context)))


def _beside(source: Sequence[ItemId], context: Sequence[ItemId]) -> tuple[ItemId, ...]:
    """List a context, each once, without what is cited as source."""
    cited = set(source)
    return tuple(context_id for context_id in dict.fromkeys(context) if context_id not in cited)


def _marks(item: Item) -> dict[str, Slot]:
    """What was noted in an item's slots when it was derived, and stays whatever its strategy says there."""
    return {UPKEEP: True} if item.slots.get(UPKEEP) else {}


def _retired(strategy: Strategy, known: Mapping[ItemId, Version], id: ItemId) -> Put:
    item = retired(_own(strategy, _known(known, id)))
    return Put(verb=Verb.RETIRED, item=item, terms=None)


def _link(strategy: Strategy, run: StrategyRun, bond: Bond, fresh: list[Item], shown: Mapping[ItemId, Item]) -> Link:
    """Make the link of a bond, which says what it rests on and whom it is to be tied again by."""

    def named(ref: Ref) -> ItemId:
        if isinstance(ref, int):
            return fresh[ref].id
        if ref not in shown:
            raise Invalid("edits", f"ties {ref}, {_UNSHOWN}", "A strategy ties only what it was shown.")
        return ref

    evidence = tuple(item.id for item in run.given.evidence) if bond.source is None else bond.source
    if invented := [evidence_id for evidence_id in evidence if evidence_id not in shown]:
        raise Invalid("edits", f"a link of type {bond.type!r} cites {invented[0]}, {_UNSHOWN}", _SHOWN_ALONE)
    return Link(
        src=named(bond.src),
        dst=named(bond.dst),
        type=bond.type,
        weight=bond.weight,
        evidence=tuple(dict.fromkeys(evidence)),
        by=strategy.by,
        upkeep=run.lane.name.endswith(MAINTAIN),
    )


def _tied_once(links: Iterable[Link]) -> list[Link]:
    """Make one of links with the same ends and type, of the greatest weight, which rests on all that they rest on.

    A strategy may mean one item twice and not know it: by its id, and by the place of what has landed there before.
    """
    once: dict[tuple[ItemId, ItemId, str], Link] = {}
    for link in links:
        same = once.setdefault((link.src, link.dst, link.type), link)
        evidence = tuple(dict.fromkeys((*same.evidence, *link.evidence)))
        weight = max(same.weight, link.weight)
        once[link.src, link.dst, link.type] = replace(same, weight=weight, evidence=evidence)
    return list(once.values())


def _untied(run: StrategyRun, bonds: Sequence[Bond]) -> Flow[list[Link]]:
    """Find the links that a run takes away, as they stood where it is pinned.

    Raises:
        Invalid: there is no such link, or it says what took the place of what, which is history.
    """
    if not bonds:
        return []
    named = [(bond.src, bond.dst, bond.type) for bond in bonds]
    ends = [end for bond in bonds for end in (bond.src, bond.dst) if not isinstance(end, int)]
    links = yield from look(lambda s: s.links((run.space,), ends, run.view))
    there: dict[tuple[Ref, Ref, str], Link] = {
        (link.src, link.dst, link.type): link for link in links if link.type != SUPERSEDES
    }
    if missing := [name for name in named if name not in there]:
        src, dst, type = missing[0]
        remedy = f"Untie links that `linked` showed, of any type but {SUPERSEDES!r}."
        raise Invalid("edits", f"there is no link from {src} to {dst} of type {type!r} to untie", remedy)
    return [there[name] for name in named]


def _unwritten(run: StrategyRun, edits: Edits) -> Flow[tuple[Edits, Mapping[ItemId, Version]]]:
    """Keep of edits what is still to be written; and the standing versions of what has landed under its key before.

    What the owner hid is dropped, recognised by its key, or by its words once the key is forgotten. What has landed
    stays as it is, and whatever else in the edits names it means the item that is there.
    """
    given = {item.id for item in run.given.evidence}
    if not run.hidden and not run.made and not any(_may_have_landed(given, d) for d in edits.write):
        return edits, {}
    keyed, versions = yield from look(lambda s: _keyed(s, run.space, [d.key for d in edits.write]))
    said = {(item.kind, item.text, item.source) for item in run.hidden.values()}
    kept: dict[int, Ref] = {}
    fresh = 0
    for place, d in enumerate(edits.write):
        if keyed.get(d.key) in run.hidden or (d.kind, d.text, d.source) in said:
            continue
        kept[place] = keyed.get(d.key, fresh)
        fresh += d.key not in keyed
    landed = {ref: versions[ref] for ref in kept.values() if not isinstance(ref, int)}
    return (edits if fresh == len(edits.write) else _only(edits, kept)), landed


def _may_have_landed(given: Collection[ItemId], d: Derivation) -> bool:
    """Whether something may have landed under a key, though nothing was derived of the evidence of the run: not if it
    names that evidence."""
    return d.key.split(":")[1:2] != [d.source[0] if d.source else ""] or d.source[0] not in given


def _keyed(snapshot: Snapshot, space: int, keys: Sequence[str]) -> tuple[dict[str, ItemId], dict[ItemId, Version]]:
    """Find the items that landed under these keys, and their standing versions; one that is gone has landed nowhere."""
    keyed = snapshot.items_by_key(space, keys)
    versions = snapshot.standing((space,), list(keyed.values()))
    return {key: item for key, item in keyed.items() if item in versions}, versions


def _only(edits: Edits, kept: Mapping[int, Ref]) -> Edits:
    """Keep of the derivations those that `kept` gives a new place, which is all that their places stand for.

    References to one that it gives an id mean that item; references to those that it leaves out are dropped.
    """

    def stays(ref: Ref) -> bool:
        return not isinstance(ref, int) or ref in kept

    def named(ref: Ref) -> Ref:
        return kept[ref] if isinstance(ref, int) else ref

    def moved(d: Derivation) -> Derivation:
        older, newer = (None if ref is None or not stays(ref) else named(ref) for ref in (d.supersedes, d.outdated_by))
        revokes = tuple(named(ref) for ref in d.revokes if stays(ref))
        return replace(d, supersedes=older, outdated_by=newer, revokes=revokes)

    bonds = (bond for bond in edits.tie if stays(bond.src) and stays(bond.dst))
    tie = tuple(replace(bond, src=named(bond.src), dst=named(bond.dst)) for bond in bonds)
    write = tuple(moved(edits.write[place]) for place, ref in kept.items() if isinstance(ref, int))
    return replace(edits, write=write, tie=tie)
