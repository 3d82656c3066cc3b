"""What each parameter of a public verb takes: one table that `Memory`, handles, sessions and admin are held to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import CO_VARARGS, CO_VARKEYWORDS, isfunction
from pathlib import PurePath
from types import FunctionType
from typing import Any, Final, TypeVar, cast

from mnemic.core.checking import (
    Checker,
    callback,
    clean_name,
    clean_text,
    door,
    flag,
    instance,
    list_of,
    mapping,
    member,
    number,
    offering,
    optional,
    path,
    question,
    record,
    shown,
    whole,
    within,
    words,
)
from mnemic.core.clock import instant, moment_or_span
from mnemic.core.facets import WIDEST
from mnemic.core.ids import item_id
from mnemic.core.items import Channel, Kind, Sight, State
from mnemic.core.queries import Filter
from mnemic.core.scope import Shared
from mnemic.errors import Invalid
from mnemic.ingest.message import ExchangeMessage, Message
from mnemic.settings import LEAST_WINDOW, MOST_WINDOW, Settings
from mnemic.store.values.prompt_messages import PromptMessage
from mnemic.store.values.spending import Spending
from mnemic.store.values.work import Order
from mnemic.verbs.looking_up import LIST_LIMIT
from mnemic.verbs.statements import REVISABLE, Statement
from mnemic.verbs.transacting import Transaction
from mnemic.writing import KEY_LIMIT

T = TypeVar("T")
C = TypeVar("C")
V = TypeVar("V", bound=Callable[..., Any])


def _user(field: str, value: object) -> object:
    return value if isinstance(value, Shared) else clean_name(field, value)


def _key(field: str, value: object) -> str:
    return clean_text(field, value, KEY_LIMIT)


def _name_or_object(field: str, value: object) -> object:
    """A name, or an object that whoever opens it looks at."""
    return words(field, value) if isinstance(value, str) else value


def _notes_policy(field: str, value: object) -> object:
    offering("chosen")(field, value)
    if not isinstance(getattr(value, "name", None), str):
        raise Invalid(field, f"{shown(value)} has no name", "Give an object with `name`, a text, and `chosen`.")
    return value


def _place(field: str, value: object) -> object:
    return path(field, value) if isinstance(value, str | PurePath) else value


def _lines(field: str, value: object) -> object:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise Invalid(field, f"is {shown(value)}", "Give the lines of an export, as bytes.")
    return value


def _strategies(field: str, value: object) -> object:
    return value if isinstance(value, str) else list_of(_name_or_object)(field, value)


def _strategy_name(field: str, value: object) -> object:
    if not isinstance(value, str):
        raise Invalid("strategies", f"holds {shown(value)}", 'Give each name by itself: `follow("house", "mem0")`.')
    return clean_name(field, value)


def _commit_or_words(field: str, value: object) -> object:
    return words(field, value) if isinstance(value, str) else whole(field, value)


def _commit_or_moment(field: str, value: object) -> object:
    return whole(field, value) if isinstance(value, int) else _name_or_object(field, value)


def _payload(field: str, value: object) -> object:
    if not isinstance(value, bytes):
        raise Invalid(field, f"is {shown(value)}", "Give bytes.")
    return value


def _asked_slot(field: str, value: object) -> tuple[str, object]:
    """A slot's name and the value that a filter asks for."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise Invalid(field, f"is {shown(value)}", "Give a slot's name and a value.")
    name, asked = value
    if asked is not None and not isinstance(asked, bool):
        asked = words(field, asked) if isinstance(asked, str) else whole(field, asked, low=-WIDEST - 1, high=WIDEST)
    return words(field, name), asked


_STATEMENT: Final[Mapping[str, Checker]] = {
    "text": words,
    "kind": member(Kind),
    "said": optional(instant),
    "valid_from": optional(instant),
    "valid_to": optional(instant),
    "source": list_of(item_id),
    "slots": mapping,
    "tags": list_of(clean_name),
    "key": optional(_key),
    "channel": member(Channel),
    "expires": optional(moment_or_span),
}
_REVISION: Final = {name: _STATEMENT[name] for name in REVISABLE}
_FIELDS: Final = {"write": _STATEMENT, "supersede": _STATEMENT, "correct": _STATEMENT, "revise": _REVISION}
"""Verbs that take the fields of a statement by name, and those."""

_statement = record(Statement, _STATEMENT, prefixed=False)


def _statement_or_text(field: str, value: object) -> object:
    return _statement(field, value) if isinstance(value, Statement) else words(field, value)


def _revisions(field: str, value: object) -> dict[str, dict[str, Any]]:
    """What `Transaction.revise` holds: by id, fields of a statement."""
    every = mapping(field, value)
    return {item_id(field, item): _revision(f"{field}[{item}]", changes) for item, changes in every.items()}


def _revision(field: str, value: object) -> dict[str, Any]:
    changes = mapping(field, value)
    return {name: _REVISION[name](name, change) if name in _REVISION else change for name, change in changes.items()}


_transaction = record(Transaction, {"write": list_of(_statement), "revise": _revisions, "retire": list_of(item_id)})


_FILTER: Final[Mapping[str, Checker]] = {
    "kinds": list_of(member(Kind)),
    "tags": list_of(clean_name),
    "channels": list_of(member(Channel)),
    "slots": list_of(_asked_slot),
    "agent": optional(clean_name),
    "session": optional(clean_name),
    "said_from": optional(within(-(2**62))),
    "said_to": optional(within(-(2**62))),
    "states": list_of(member(State)),
    "by": list_of(clean_name),
    "sights": list_of(member(Sight)),
}
_ORDER: Final[Mapping[str, Checker]] = {
    "name": clean_name,
    "key": clean_name,
    "space": whole,
    "payload": _payload,
    "ver": whole,
    "priority": within(-(2**31), 2**31),
    "not_before": whole,
}


_SPENDING: Final[Mapping[str, Checker]] = {
    **dict.fromkeys(("strategy", "task", "model"), words),
    **dict.fromkeys(("calls", "failed", "prompt_tokens", "answer_tokens", "estimated"), whole),
    "seconds": number,
}
_PROMPT: Final[Mapping[str, Checker]] = {
    "name": words,
    "block": optional(words),
    "always": words,
    "shows": list_of(item_id),
    "kept_as": list_of(item_id),
    "kept_at": number,
    "unwritten": list_of(item_id),
    "drawn_from": list_of(item_id),
}
_EXCHANGE: Final[Mapping[str, Checker]] = {
    "said": instance(Message),
    "channel": member(Channel),
    "prompt": words,
    "at": number,
}


_TABLE: Final[Mapping[str, Checker | None]] = {
    # by verb and parameter, where a name means something of its own
    "__init__.where": _place,
    "checkpoint.name": words,
    "on_branch.name": words,
    "context.query": words,
    "Session.context.query": question,
    "erase.source": clean_name,
    "ScopedMemory.log.after": _commit_or_words,
    "Admin.log.after": _commit_or_words,
    "undo_import.source": clean_name,
    "changes.after": _commit_or_words,
    "watch.after": _commit_or_words,
    "retry.id": whole,
    "cancel.id": whole,
    "written.seq": within(1),
    "commit_at.to": _commit_or_moment,
    "rewind.to": _commit_or_moment,
    "at.when": _commit_or_moment,
    "session.budget": within(LEAST_WINDOW, MOST_WINDOW),
    "_window.budget": within(LEAST_WINDOW, MOST_WINDOW),
    "follow.strategies": _strategy_name,
    "read.policy": _notes_policy,
    # by parameter
    "a": whole,
    "actor": clean_name,
    "after": words,
    "agent": clean_name,
    "b": whole,
    "around": words,
    "backup": path,
    "besides": list_of(item_id),
    "budget": within(1),
    "by": clean_name,
    "channel": member(Channel),
    "clock": offering("now"),
    "collectors": list_of(clean_name),
    "dest": path,
    "dst": item_id,
    "embedder": _name_or_object,
    "entropy": offering("bytes"),
    "evidence": list_of(item_id),
    "first": whole,
    "exchange": list_of(record(ExchangeMessage, _EXCHANGE)),
    "folder": path,
    "file": path,
    "expect": whole,
    "expires": moment_or_span,
    "hold": whole,
    "horizon": whole,
    "id": item_id,
    "ids": item_id,
    "item": item_id,
    "k": within(1),
    "keep": words,
    "key": _key,
    "last": whole,
    "limit": within(1, LIST_LIMIT),
    "lines": _lines,
    "made_by": mapping,
    "marks": None,  # by `terms`, as `reach` and `writing`
    "messages": None,  # read together with what stands beside them, by `as_messages`
    "model": _name_or_object,
    "name": clean_name,
    "names": list_of(words),
    "now": instant,
    "order": record(Order, _ORDER),
    "policy": _name_or_object,
    "prefer": words,
    "prompts": list_of(record(PromptMessage, _PROMPT)),
    "query": question,
    "reach": None,
    "reason": words,
    "replaced_by": item_id,
    "role": clean_name,
    "said": instant,
    "seconds": number,
    "seq": whole,
    "session": clean_name,
    "settings": instance(Settings),
    "slice_seconds": number,
    "slots": mapping,
    "source": item_id,
    "spending": record(Spending, _SPENDING),
    "speaker": clean_name,
    "src": item_id,
    "steps": within(1, 1_000),
    "stop": offering("is_set", "wait"),
    "strategies": _strategies,
    "strategy": clean_name,
    "system": words,
    "tags": list_of(clean_name),
    "tenant": clean_name,
    "text": _statement_or_text,
    "think": callback,
    "to": _commit_or_moment,
    "progress": callback,
    "type": clean_name,
    "typed": words,
    "user": _user,
    "value": clean_name,
    "notes": within(64, 1024),
    "question": question,
    "read.ids": list_of(item_id),
    "segment": within(256, 100_000),
    "sources": None,  # by `LongTexts`
    "visible.ids": list_of(item_id),
    "weight": number,
    "when": _name_or_object,
    "where": record(Filter, _FILTER),
    "writing": None,
}


def held_to_the_table(kind: type[C]) -> type[C]:
    """Have every public verb of a class check what it is given."""
    for name, verb in list(vars(kind).items()):
        if isfunction(verb) and not name.startswith("_"):
            setattr(kind, name, _with_door(verb))
    return kind


def checked(verb: V) -> V:
    """`verb`, which gets what has passed the checks of its parameters, in plain form."""
    return cast(V, _with_door(cast(FunctionType, verb)))


def checked_transaction(transaction: Transaction[T]) -> Transaction[T]:
    """What the function of a transaction returned."""
    return _transaction("edits", transaction)


def _check_of_each(verb: FunctionType, name: str) -> Callable[[Any], Any] | None:
    """The check of any number of values, of which an error names one."""
    check = _check(verb, name)
    return None if check is None else partial(check, "strategy" if name == "strategies" else name.removesuffix("s"))


def _with_door(verb: FunctionType) -> Callable[..., Any]:
    code = verb.__code__
    named = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    checks = dict(_FIELDS.get(verb.__name__, {})) | {name: _check(verb, name) for name in named}
    positional = [(name, checks[name]) for name in code.co_varnames[1 : code.co_argcount]]
    each = _check_of_each(verb, code.co_varnames[len(named) + 1]) if code.co_flags & CO_VARARGS else None
    optional_ones = {*named[: code.co_argcount - 1][-len(verb.__defaults__) :]} if verb.__defaults__ else set()
    optional_ones |= (verb.__kwdefaults__ or {}).keys()
    needed, needed_by_name = (
        [name for name in some if name not in optional_ones]
        for some in (named[: code.co_argcount - 1], named[code.co_argcount - 1 :])
    )
    known = None if code.co_flags & CO_VARKEYWORDS else named
    return door(verb, positional, each, checks, needed=needed, needed_by_name=needed_by_name, known=known)


def _check(verb: FunctionType, name: str) -> Checker | None:
    """The check of one parameter; what may be left out as None passes as None.

    Raises:
        LookupError: it stands in no line of the table.
    """
    annotation = verb.__annotations__[name]
    if annotation == "bool":
        return flag
    keys = (f"{verb.__qualname__}.{name}", f"{verb.__name__}.{name}", name)
    key_there = next((key for key in keys if key in _TABLE), None)
    if key_there is None:
        raise LookupError(f"no line of the table says what {keys[0]} takes")
    check = _TABLE[key_there]
    return check if check is None or not annotation.endswith("| None") else optional(check)
