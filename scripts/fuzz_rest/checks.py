"""What schemathesis has to know of mnemic: what is there to be asked for, and what a schema cannot say."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.specs.openapi.checks import positive_data_acceptance

KNOWN: dict[str, Any] = json.loads(Path(os.environ["MNEMIC_FUZZ_KNOWN"]).read_text())
DICE = random.Random(7)
MOMENTS = ("2026-02-01", "2999-01-01T00:00:00+02:00", "last March", "yesterday")

BEYOND_A_SCHEMA = {
    "a time in words has a grammar that no pattern describes": r"^(at|as_of|valid_at): .* is not a time in years",
    "a checksum says whether a cursor is one, and of which listing": r"^after: (.* is no|is a) cursor",
    "the past is known to the store alone": r"commit \d+ is not between|^(at|after): commit|^at: .* come yet|^at: no",
    "an item is evidence, a fact of the profile, or neither": r"^(id|replaced_by): \S+ is (evidence|no fact)",
    "any JSON is taken, with numbers of 64 bits": r"^body: holds .* is over 64 bits|^body: holds .* no computer",
    "the clock says whether a time has passed": r"(expires|expiration_date): .* (has passed already|is past)",
    "two fields are compared": r"^valid_to: is not after valid_from|^last: is \d+\. Give at least|^by: .* `where\.by`",
    "two fields go not together": r"^default: is given beside|^right: admin goes over everybody|^user: comes with",
    "one of several fields is needed": (
        r"^outcome: is (missing|more than one)|^user: is missing|^ids: names nothing to erase"
    ),
    "one of several is to be changed": r"^text: is missing. Give text, metadata",
    "several keys may have one name": r"^key: .* is the name of several",
    "strategies are of the store and its settings": r"^(by|strategy|strategies)\b.* is (not followed|no strategy)",
    "a header and the body say the same": r"^(Idempotency-Key|If-Match): says otherwise",
    "a zone may carry a time out of the years there are": r"leaves years 1-9999",
    "any JSON is taken, at any depth, but for a NUL in its texts": r"slots: holds a NUL|slots(\[\d+\])?: .*NUL",
    "filters of mem0 have a grammar of their own": r"^filters\b|^start_date: |^end_date: |^metadata\b",
    "names of mem0 may be left blank, and hold no control character": r"^(user|agent|run|app)_id: holds a control",
    "one of mem0's entities is needed, and what was judged cannot be unsaid": r"^(user_id|feedback): is missing",
    "what is to be kept word for word has words": r"^messages\[\d+\]\.content: is no text\. With `infer`",
    "an instruction is settled by being kept alone": r"^keep: is all that settles",
    "all parts of a message may be empty, each for itself": r"^messages\[\d+\]\.text: is empty",
}
"""Why a request that fits the schema may still be refused with 400, and the words that say so."""


@schemathesis.check
def valid_is_taken(ctx: Any, response: Any, case: Any) -> bool | None:
    """Hold that what fits the schema is taken, but for what no schema can say."""
    try:
        return positive_data_acceptance(ctx, response, case)
    except RejectedPositiveData:
        told = response.json().get("detail", "")
        if response.status_code == 400 and any(re.search(words, told) for words in BEYOND_A_SCHEMA.values()):
            return None
        raise


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    """Ask two times of three for what is there: what is drawn at random hardly ever is."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not DICE.randrange(3):
        return
    user = DICE.choice(list(KNOWN["ids"]))
    for given in (case.body, case.query, case.path_parameters):
        if isinstance(given, dict) and _made_real(given, user, KNOWN["ids"][user]):
            case.headers["Mnemic-User"] = user


def _made_real(given: dict[str, Any], user: str, ids: list[str]) -> bool:
    """Put what is there in the place of what is named; say whether an item is among it."""
    before = dict(given)
    for name in before:
        if name in ("id", "item", "memory_id", "src", "dst", "replaced_by") and isinstance(given[name], str):
            given[name] = DICE.choice(ids)
        elif name == "memories" and isinstance(given[name], list):
            given[name] = [{**one, "memory_id": DICE.choice(ids)} for one in given[name] if isinstance(one, dict)]
        elif name in ("ids", "source", "besides", "evidence") and isinstance(given[name], list):
            given[name] = [DICE.choice(ids) for _ in given[name]]
        elif name == "user" and isinstance(given[name], str):
            given[name] = user
        elif name == "at":
            given[name] = DICE.randrange(1, KNOWN["commits"])
        elif name in ("as_of", "valid_at"):
            given[name] = DICE.choice(MOMENTS)
        elif name in ("by", "strategy") and isinstance(given[name], str):
            given[name] = KNOWN["strategy"]
        elif name == "strategies" and isinstance(given[name], list):
            given[name] = [KNOWN["strategy"]] if given[name] else []
        elif name == "type":
            given[name] = "about"
        elif name == "branch":
            del given["branch"]
    return given != before
