"""Tells whether a model's answer is what was asked for: JSON that fits its schema, or at least something."""

from __future__ import annotations

import json
import re
from typing import Final

from mnemic.core.json_schema import check
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Reply, Schema

_FENCED: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", re.DOTALL)


class Unfit(ModelError):
    """A model answered in something else than the JSON that was asked for; the message says what is wrong with it."""


def is_sound(ask: Ask, reply: Reply) -> bool:
    """Whether a reply may be recorded, and be given to whoever asks the same again.

    A call of a tool is as good as an answer: what its arguments are worth, the tool says.
    """
    if reply.calls:
        return True
    if not reply.text.strip():
        return False
    if ask.schema is not None:
        try:
            fitting(reply.text, ask.schema)
        except Unfit:
            return False
    return ask.sound is None or ask.sound(reply.text)


def fitting(text: str, schema: Schema) -> object:
    """Read an answer as JSON, with or without a fence of Markdown around it, and hold it to its schema.

    Raises:
        Unfit: it is no JSON, or does not fit. What the message quotes of the answer is short.
    """
    fenced = _FENCED.fullmatch(text)
    try:
        value: object = json.loads(text if fenced is None else fenced[1])
        check(schema, value, "answer")
    except Invalid as error:
        raise Unfit(f"the answer does not fit its schema: {error.field} {error.problem}") from None
    except (ValueError, RecursionError):
        raise Unfit("the answer is no JSON") from None  # the error quotes all of it
    return value
