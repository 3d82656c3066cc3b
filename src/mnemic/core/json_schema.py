"""The part of JSON schema that tools and answers of models are held to: written short, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mnemic.errors import Invalid

Schema = Mapping[str, Any]

KEYWORDS: Final = frozenset(
    {
        *("type", "title", "description", "properties", "required", "additionalProperties", "items", "enum"),
        *("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "anyOf"),
    }
)
"""All that `check` knows; what else a schema says is not looked at."""
ANNOTATIONS: Final = frozenset({"pattern", "format", "not"})
"""What ours say besides, to callers: the verbs behind hold it, and refuse in words of their own."""

_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}


def shape(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> dict[str, Any]:
    """The schema of an object that has these fields and no others."""
    fields = {name: dict(field_schema) for name, field_schema in {**required, **(optional or {})}.items()}
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def text(description: str = "", *, among: Iterable[str] = (), **bounds: int | str) -> dict[str, Any]:
    """The schema of a string; `among` its only values, `bounds` its lengths, and its `pattern` (ECMA 262)."""
    return _described(
        {"type": "string", **({"enum": [str(choice) for choice in among]} if among else {}), **bounds}, description
    )


def whole(description: str = "", *, low: int | None = None, high: int | None = None) -> dict[str, Any]:
    """The schema of a whole number."""
    bounds = {name: value for name, value in (("minimum", low), ("maximum", high)) if value is not None}
    return _described({"type": "integer", **bounds}, description)


def flag(description: str = "") -> dict[str, Any]:
    """The schema of a truth value."""
    return _described({"type": "boolean"}, description)


def number(description: str = "", *, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """The schema of a number."""
    bounds = {name: value for name, value in (("minimum", low), ("maximum", high)) if value is not None}
    return _described({"type": "number", **bounds}, description)


def or_null(schema: Schema) -> dict[str, Any]:
    """The schema of a value that may be left empty by `null`."""
    if "enum" in schema or not isinstance(schema.get("type"), str) or schema["type"] == "object":
        return {"anyOf": [dict(schema), {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def many(of: Schema, description: str = "", **bounds: int) -> dict[str, Any]:
    """The schema of a list."""
    return _described({"type": "array", "items": dict(of), **bounds}, description)


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description} if description else schema


def check(schema: Schema, value: object, field: str = "") -> None:
    """Hold a value against a schema.

    Raises:
        Invalid: it does not fit; the field is named by its path, such as `entities[0].name`.
    """
    if alternatives := schema.get("anyOf"):
        _check_any(alternatives, value, field)
    if not _is_of(schema, value):
        raise Invalid(
            field or "arguments", f"is {_called(value)}, not {' or '.join(_kinds(schema))}", "See the schema."
        )
    if "enum" in schema and value not in schema["enum"]:
        raise Invalid(field, f"is {value!r}", f"One of: {', '.join(map(str, schema['enum']))}.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        _check_bounds(schema, value, "minimum", "maximum", field, "")
    elif isinstance(value, str):
        _check_bounds(schema, len(value), "minLength", "maxLength", field, " long")
    elif isinstance(value, list):
        _check_bounds(schema, len(value), "minItems", "maxItems", field, " long")
        for place, element in enumerate(value):
            check(schema.get("items", {}), element, f"{field}[{place}]")
    elif isinstance(value, Mapping):
        _check_object(schema, value, field)


def with_whole_numbers(schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    """Make whole numbers of floats such as 564.0 where an object's schema takes an integer: to JSON they are one."""
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    others = others if isinstance(others, Mapping) else {}
    return {name: _with_whole_number(fields.get(name, others), part) for name, part in value.items()}


def _with_whole_number(schema: Schema, value: object) -> object:
    if isinstance(value, float) and value.is_integer() and "integer" in _kinds(schema):
        return int(value)
    return with_whole_numbers(schema, value) if isinstance(value, Mapping) else value


def _check_any(alternatives: Sequence[Schema], value: object, field: str) -> None:
    """Hold a value against alternatives; the error is of the one of its type that it comes closest to."""
    refusals: list[Invalid] = []
    for alternative in alternatives:
        try:
            return check(alternative, value, field)
        except Invalid as error:
            if _is_of(alternative, value):
                refusals.append(error)
    if refusals:
        raise max(refusals, key=lambda error: error.field.count("."))
    raise Invalid(field or "arguments", "fits none of its alternatives", "See the schema.")


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", ())
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _is_of(schema: Schema, value: object) -> bool:
    """Whether a value is of the type that a schema names, if it names one."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return _TYPES[kinds](value)
    return not kinds or any(_TYPES[kind](value) for kind in kinds)


def _check_bounds(schema: Schema, value: float, low: str, high: str, field: str, unit: str) -> None:
    least, most = schema.get(low), schema.get(high)
    if (least is None or value >= least) and (most is None or value <= most):
        return
    remedy = f"Give {least} or more." if most is None else f"Give {most} or less." if least is None else ""
    raise Invalid(field, f"is {value}{unit}", remedy or f"Give {least} to {most}.")


def _check_object(schema: Schema, value: Mapping[str, object], field: str) -> None:
    known = schema.get("properties", {})
    closed = schema.get("additionalProperties") is False
    path = f"{field}." if field else ""
    for name in schema.get("required", ()):
        if name not in value:
            strange = [str(each) for each in value if each not in known] if closed else []
            instead = f"; {', '.join(strange)} is not known" if strange else ""
            raise Invalid(path + name, "is missing", f"Needed: {', '.join(schema['required'])}{instead}.")
    for name, field_value in value.items():
        if name in known:
            check(known[name], field_value, path + name)
        elif closed:
            raise Invalid(path + str(name), "is not known", f"Known: {', '.join(known) or 'none'}.")
        elif isinstance(others := schema.get("additionalProperties"), Mapping):
            check(others, field_value, path + str(name))


def _called(value: object) -> str:
    return next((kind for kind, fits in _TYPES.items() if fits(value)), type(value).__name__)
