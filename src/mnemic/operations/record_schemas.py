"""The JSON schemas of the records: what a caller may rely on in an answer. A test holds each record to its schema."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.events import Verb
from mnemic.core.items import Channel, Kind, State
from mnemic.core.json_schema import Schema, flag, many, number, or_null, shape, text, whole
from mnemic.credentials.principal import Right

RIGHTS: Final = tuple(right.name.lower() for right in Right)
_OBJECT: Final[Schema] = {"type": "object"}
_TIME: Final = text("ISO 8601.")
_NAME: Final = or_null(text())
_MAYBE_TIME: Final = or_null(_TIME)
_ID: Final = text("26 characters.")
_IDS: Final = many(_ID)


def _named(title: str, schema: Schema) -> dict[str, Any]:
    """A schema that a document of many may hold once, under this name."""
    return {"title": title, **schema}


_ITEM_FIELDS: Final = {
    "id": _ID,
    "kind": text(among=Kind),
    "text": text("Word for word."),
    "said": text("When it was said: ISO 8601, on its source's own clock."),
    "speaker": _NAME,
    "agent": _NAME,
    "session": _NAME,
    "pos": whole("Its order within its session."),
    "state": text(among=tuple(state.name.lower() for state in State)),
    "pinned": flag(),
    "valid_from": _MAYBE_TIME,
    "valid_to": _MAYBE_TIME,
    "known_to": _MAYBE_TIME,
    "expires": _MAYBE_TIME,
    "channel": text("Who brought it in.", among=Channel),
    "tags": many(text()),
    "source": many(_ID, "The evidence it was derived from."),
    "slots": _OBJECT,
}
ITEM: Final = _named("Item", shape(_ITEM_FIELDS))
VERSION: Final = _named(
    "Version",
    shape(
        {
            **_ITEM_FIELDS,
            "seq_from": whole("The commit that wrote this version: what `expect` and `If-Match` take."),
            "seq_to": or_null(whole("The commit that replaced it; null while it stands.")),
            "recorded": _TIME,
        }
    ),
)
RECALLED: Final = _named(
    "Recalled",
    shape(
        {
            "rank": whole("1 for the best."),
            "score": number("Comparable within one recall only."),
            "components": _OBJECT,
            "reasons": many(text()),
            "tokens": whole(),
            "seq": whole("The commit that wrote this version."),
            "item": ITEM,
        }
    ),
)
CONTEXT: Final = _named(
    "Context",
    shape(
        {
            "items": many(RECALLED, "Best first."),
            "text": text("The same as a block for a prompt, fenced as data."),
            "tokens": whole("What `text` costs."),
            "considered": whole("How many entries were scored."),
            "seq": whole("The last commit of what was read."),
            "milliseconds": number(),
            "confidence": number("How likely the answer is among the items, 0 to 1."),
            "pending": whole("Items that have no vector yet, and are found by their words alone."),
            "always": many(ITEM, "What the always-on part of `text` shows."),
            "notes": many(text(), "What was understood of the question."),
            "stages": many(shape({"stage": text(), "in": whole(), "out": whole()}), "With `explain`."),
        }
    ),
)
ANSWER: Final = _named(
    "Answer",
    shape(
        {
            "known": flag("Whether memory holds an answer."),
            "text": text(),
            "short": or_null(text("Yes, no, a time, a number, a name or a place, if that was asked for.")),
            "citations": many(shape({"id": _ID, "quote": text("Word for word.")})),
            "nearest": many(shape({"id": _ID, "quote": text("Word for word; near to the question, and no answer.")})),
            "confidence": number("How likely it is right, 0 to 1."),
        }
    ),
)
DOUBT: Final = _named(
    "Doubt",
    shape({"fact": ITEM, "newer": ITEM, "sentence": text("What puts the fact in doubt."), "reason": text()}),
)
BELIEF: Final = _named(
    "Belief",
    shape(
        {
            "text": text(),
            "subject": text("Of whom; `user` for whose memory it is."),
            "matter": _NAME,
            "since": _MAYBE_TIME,
            "until": _MAYBE_TIME,
            "by": many(_NAME, "Who derived it; null for what was written by hand."),
            "ids": _IDS,
            "evidence": many(shape({"id": _ID, "said": _TIME, "text": text()})),
            "doubt": or_null(DOUBT),
            "former": many(ITEM),
            "ended": flag(),
        }
    ),
)
RECEIPT: Final = _named(
    "Receipt",
    shape(
        {
            "seq": whole("The commit it landed in: `undo` takes it back."),
            "ids": many(_ID, "The items it wrote or changed, in order."),
            "repeated": whole("How many of them were there already."),
            "masked": {**_OBJECT, "description": "How many secrets were masked, by kind."},
            "behind": whole("Passages of this user that wait to be understood, if that is many; else 0."),
        }
    ),
)
ERASURE: Final = _named(
    "Erasure",
    shape(
        {
            "seq": or_null(whole("The commit that journals it; null where there was nothing.")),
            "ids": _IDS,
            "versions": whole(),
            "links": whole(),
            "status": text(among=("clean", "pending")),
            "scanned": many(text(), "Files that hold no byte of it."),
            "left": many(text(), "Files that may still hold some, and why."),
            "outside": many(text(), "Where copies may lie that cannot be reached from here."),
        }
    ),
)
LINK: Final = _named("Link", shape({"src": _ID, "dst": _ID, "type": text(), "weight": number(), "evidence": _IDS}))
STRENGTH: Final = _named(
    "Strength", shape({"uses": whole(), "useful": whole(), "harms": whole(), "last_used": _MAYBE_TIME})
)
HOLDING: Final = _named(
    "Holding",
    shape({"version": VERSION, "earlier": many(VERSION), "links": many(LINK), "strength": STRENGTH}),
)
EVENT: Final = _named(
    "Event",
    shape(
        {
            "n": whole(),
            "verb": text(among=tuple(verb.name.lower() for verb in Verb)),
            "item": _NAME,
            "erased": flag("What it wrote is gone for good."),
            "what": _NAME,
        },
        {"collected": _OBJECT},
    ),
)
CHANGE: Final = _named(
    "Change",
    shape(
        {
            "seq": whole(),
            "at": _TIME,
            "actor": text(),
            "cause": or_null(whole()),
            "hash": text("SHA-256 over the journal until here, in hexadecimal."),
            "events": many(EVENT),
        }
    ),
)
NOTICE: Final = _named(
    "Notice",
    shape(
        {
            "seq": whole(),
            "mark": text("Where to go on from here, as `after`."),
            "at": _TIME,
            "user": _NAME,
            "shared": flag(),
            "actor": text(),
            "cause": or_null(whole()),
            "events": many(EVENT),
        },
        {"items": many(VERSION, "What it wrote, as the commit left it, without what was erased since.")},
    ),
)
DIFFERENCE: Final = _named("Difference", shape({"id": _ID, "before": or_null(ITEM), "after": or_null(ITEM)}))
UNDONE: Final = _named("Undone", shape({"seq": whole("The commit that was taken back."), "receipt": RECEIPT}))
BRANCH: Final = _named(
    "Branch",
    shape(
        {
            "name": text(),
            "of": or_null(text("The branch it comes off; null for the memory itself.")),
            "base": whole("The commit that it reads that one at."),
            "seq": whole("The last commit on it."),
            "understood": flag(),
        }
    ),
)
_SIDE: Final = {"anyOf": [ITEM, LINK, {"type": "null"}]}
MERGE: Final = _named(
    "Merge",
    shape(
        {
            "seq": or_null(whole("The commit it is; null where nothing was written.")),
            "dry_run": flag(),
            "ids": _IDS,
            "links": whole(),
            "prefer": _NAME,
            "repeated": flag(),
            "conflicts": many(shape({"id": _ID, "base": _SIDE, "branch": _SIDE, "parent": _SIDE})),
        }
    ),
)
SESSION: Final = _named(
    "Session",
    shape(
        {
            "session": text(),
            "budget": whole("Tokens of its window."),
            "policy": text(),
            "turns": whole(),
            "references": whole(),
            "seq": whole(),
            "open_until": _MAYBE_TIME,
        }
    ),
)
PAGE: Final = _named(
    "Page",
    shape(
        {
            "id": _ID,
            "tier": text(among=("short", "middle")),
            "resident": flag(),
            "tokens": whole(),
            **dict.fromkeys(("born", "last_use", "uses", "arrived"), whole()),
            "pinned": flag(),
            "position": whole(),
            "segment": whole(),
            "importance": number(),
            "novelty": number(),
            "entities": whole(),
        }
    ),
)
_STATED: Final = shape(
    {
        "id": _ID,
        "text": text(),
        "by": _NAME,
        "since": text(),
        "until": _NAME,
        "evidence": many(shape({"id": _ID, "said": _TIME, "text": text()})),
    }
)
GRAPH: Final = _named(
    "Graph",
    shape(
        {
            "nodes": many(
                shape(
                    {
                        "name": text(),
                        "type": text(),
                        "ended": flag(),
                        "items": many(_STATED),
                        "notes": many(_STATED),
                    }
                )
            ),
            "edges": many(
                shape(
                    {
                        "src": whole("The place of a node."),
                        "dst": whole("The place of a node."),
                        "label": text(),
                        "made_of": text(among=("fact", "mention", "link")),
                        "ended": flag(),
                        "weight": number(),
                        "fact": or_null(_STATED),
                    }
                )
            ),
            "left_out": whole(),
        }
    ),
)
STRATEGY: Final = _named(
    "Strategy",
    shape(
        {
            "name": text(),
            "followed": flag(),
            "summary": text(),
            "reads": many(text()),
            "calls_a_run": whole(),
            "tokens_a_run": or_null(whole()),
            "calls_a_message": or_null(number()),
            "tokens_a_message": or_null(whole()),
            "own_recall": flag(),
        }
    ),
)
WORK: Final = _named(
    "Work",
    shape(
        {
            "id": or_null(whole("Of a job; null for a lane.")),
            "name": text(),
            "tenant": text(),
            "user": _NAME,
            "state": text(among=("waiting", "running", "failing", "dead", "done", "cancelled")),
            "pending": whole(),
            "lacks": or_null(text("What a strategy waits for before it takes what is left for a unit.")),
            "owner": _NAME,
            "since": _MAYBE_TIME,
            "attempts": whole(),
            "error": _NAME,
            "not_before": _MAYBE_TIME,
            "version": or_null(whole()),
            "item": _NAME,
            "branch": _NAME,
            "at": _MAYBE_TIME,
        }
    ),
)
USER: Final = _named(
    "User",
    shape({"tenant": text(), "user": _NAME, "items": whole(), "last_commit": whole()}),
)
STATS: Final = _named(
    "Stats",
    shape(
        {
            "url": text(),
            "bytes": whole(),
            "artefact_bytes": whole("Beside the store: what models have computed."),
            "format": whole(),
            "items": whole(),
            "user_count": whole(),
            "users": many(USER),
            "next": or_null(text("What `users` takes as `after`.")),
        }
    ),
)
_TIMED: Final = {
    **shape(
        {
            "count": whole(),
            "failed": whole(),
            "per_second": number(),
            **dict.fromkeys(("total", "p50", "p95", "max"), number("Milliseconds.")),
        }
    ),
    "description": "Of one name, over all processes since each opened the store.",
}
_TIMED_BY_NAME: Final = {"type": "object", "additionalProperties": _TIMED}
LANE: Final = _named(
    "Lane",
    shape(
        {
            "lane": text(),
            "embedder": _NAME,
            "pending": whole("Passages it has not read yet."),
            "error": _NAME,
            "dead": whole(),
            "begun": whole(),
            "lacks": _NAME,
        }
    ),
)
VITALS: Final = _named(
    "Vitals",
    shape(
        {
            "at": _TIME,
            "commits": whole("So many there have been."),
            "commits_per_second": number(),
            "jobs": {"type": "object", "description": "How many jobs there are in each state."},
            "windows": shape(
                {
                    **dict.fromkeys(("open", "known", "pages", "tokens", "budget"), whole()),
                    **dict.fromkeys(
                        ("references", "hits", "faults", "evictions", "write_backs"),
                        whole("Since each process opened the store."),
                    ),
                }
            ),
            "engine_prompts": shape(
                {
                    **dict.fromkeys(
                        (
                            "prompts",
                            "prefilled",
                            "prefilled_ahead",
                            "reused",
                            "hits",
                            "restored",
                            "misses",
                            "saved",
                            "evicted",
                        ),
                        whole("Since each process opened the store."),
                    ),
                    "missed": {"type": "object", "description": "How many prompts were missed for each reason."},
                    "held": whole("Tokens that engines hold just now."),
                    "bytes": whole("Beside the store, as their processes know."),
                    "first_token_milliseconds": number("On average, by the clock."),
                }
            ),
            "bytes": whole(),
            "free_bytes": whole(),
            "log_bytes": whole(),
            "collected": or_null(
                shape(
                    {
                        "seq": whole(),
                        "at": _TIME,
                        "trigger": text(),
                        "items": whole(),
                        "freed": whole("Bytes; below 0 if the files grew meanwhile."),
                        "pause": number("Seconds of its longest slice."),
                    }
                )
            ),
            **dict.fromkeys(("verbs", "requests", "runs"), _TIMED_BY_NAME),
            "processes": many(
                shape({"pid": whole(), "seconds": number(), "age": number(), "gauges": _OBJECT}), "The latest first."
            ),
            "lanes": many(LANE),
        }
    ),
)
SPENDING: Final = _named(
    "Spending",
    shape(
        {
            **dict.fromkeys(("strategy", "task", "model"), text()),
            **dict.fromkeys(("calls", "failed", "unsound"), whole()),
            "answered_as": many(text()),
            **dict.fromkeys(("prompt_tokens", "answer_tokens"), whole()),
            "estimated": whole("Calls whose tokens are guessed."),
            "seconds": number(),
            "cost": or_null(number("By the setting `prices`; null without a price.")),
            "currency": _NAME,
        }
    ),
)
ACCESS_KEY: Final = _named(
    "AccessKey",
    shape(
        {
            "id": text(),
            "name": text("Who acts by it."),
            "tenant": text(),
            "user": _NAME,
            "right": text(among=RIGHTS),
            "shared": flag("Whether it may write what the tenant shares."),
            "created": _TIME,
            "expires": _MAYBE_TIME,
            "last_used": _MAYBE_TIME,
            "revoked": _MAYBE_TIME,
        }
    ),
)

HOLD: Final = _named(
    "Hold",
    shape(
        {
            "id": whole("Its number, which `release_hold` takes."),
            "user": or_null(text("Whose memory; null for what the tenant shares, and for the whole tenant.")),
            "shared": flag("Whether it is of what the tenant shares; false with no user: of the whole tenant."),
            "item": or_null(_ID),
            "session": _NAME,
            "reason": text("Why, as whoever set it said."),
            "actor": text("Who set it."),
            "at": _TIME,
            "seq": whole("The tenant's last commit then."),
        }
    ),
)


NEXT: Final = or_null(text("What to give as `after` for the next page; null on the last."))


def page_of(name: str, of: Schema, description: str = "") -> dict[str, Any]:
    """The schema of one page of a listing, and the cursor of the next."""
    return shape({name: many(of, description), "next": NEXT})
