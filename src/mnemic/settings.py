"""Settings: every option with its unit, and the only reader of the environment."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.core.checking import clean_name, did_you_mean
from mnemic.core.clock import time_zone
from mnemic.errors import Invalid
from mnemic.registry import POLICIES

PREFIX: Final = "MNEMIC_"

LEAST_WINDOW: Final = 256
"""Tokens below which a session's window holds next to nothing."""

MOST_WINDOW: Final = 100_000_000
"""Tokens beyond which no model's window goes: a larger number is a slip."""

PACK_ROWS: Final = 4_096
"""Entries of a pack that is not made of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its unit; `from_environment` reads each from `MNEMIC_<NAME>`.

    Raises:
        Invalid: a value of another type, a number that is not finite, or a time zone that is not known here.
    """

    home: Path = dataclasses.field(default_factory=lambda: Path.home() / ".mnemic")
    """Folder of the default store."""
    store: str = dataclasses.field(default="", repr=False)  # a URL may hold a password
    """File or URL of the default store; left empty, `memory.db` in `home`."""
    tenant: str = "default"
    """The tenant, where none is named."""
    user: str = "me"
    """The user whose memory the command line works on."""
    timezone: str = "UTC"
    """Time zone of times that carry none, when asking and when writing; of imported ones only dates in front matter."""
    item_limit: int = 32 * 1024
    """Bytes above which a text is split into a document and its chunks."""
    input_limit: int = 10 * 1024 * 1024
    """Bytes one input may have."""
    k: int = 10
    """Items a recall returns."""
    k_limit: int = 200
    """Most items a recall may be asked for."""
    budget: int = 2_000
    """Tokens in a context block."""
    window: int = 4_000
    """Tokens of a session's window."""
    policy: str = "lru"
    """Replacement policy, which chooses the page that leaves a session's window: a name of `mnemic bench paging`."""
    catalogue_bytes: int = 384 * 1024 * 1024
    """Memory that the catalogues of all users together may take, vectors included; the one asked last may exceed it."""
    pack_rows: int = PACK_ROWS
    """Entries that are packed at once, so that a new process need not read them one by one; 0 for never."""
    busy_timeout: float = 30.0
    """Seconds to wait for another process's write."""
    use_flush_seconds: float = 1.0
    """Seconds for which what recalls have shown is counted in memory before the counts of all users are written."""
    indexed: tuple[str, ...] = ()
    """Slots that filters ask for, by commas: an index finds their values, where others are read item by item."""
    embedder: str = "auto"
    """Embedder for search by meaning: `auto` (the local model, if installed), `none`, `openai:MODEL`, ..."""
    embedder_key: str = dataclasses.field(default="", repr=False)
    """The key of an embeddings endpoint that asks for one (OpenAI's: or OPENAI_API_KEY); never stored, never shown."""
    model: str = ""
    """The language model of strategies and of `mnemic chat`: `openai:MODEL[@URL]`, the path of a GGUF file; or none."""
    small_model: str = ""
    """The language model of what a small one can do, where a strategy says so; left empty, `model` does that too."""
    model_key: str = dataclasses.field(default="", repr=False)
    """The key of a chat endpoint, or `@FILE` that holds it (OpenAI's: or OPENAI_API_KEY); never stored, never shown."""
    kv_bytes: int = 1024 * 1024 * 1024
    """Bytes beside the store that what a local model has computed of prompts may take, for each user."""
    background: bool = True
    """Run strategies and embedder in a thread after each write; off, only `flush` and `mnemic flush` run them."""
    strategies: str = "house"
    """Strategies that derive items from evidence: `house` (rules), or yours as `package.module:Class`, by commas."""
    hour_calls: int = 1_000
    """Calls of the language model that strategies may make within an hour, for each user, in each process."""
    hour_tokens: int = 1_000_000
    """Tokens that those calls may take within an hour, prompts and answers together."""
    prices: str = ""
    """What models cost, for `mnemic stats --models`: a file of lines `MODEL PROMPT ANSWER USD`, of a million tokens."""
    keep_answers: bool = False
    """Keep a language model's answers after the run that asked, so that a rerun does not pay for them again."""
    backlog_limit: int = 2_000
    """Passages of one user that strategies and embedder may have before them until receipts warn (`Receipt.behind`)."""
    always_share: float = 0.4
    """Most of a context's budget that standing instructions, pinned items and the profile may take from evidence; what
    bears on the question but loosely gives them as much again."""
    profiler: str = ""
    """File for a log of verbs and their cost, without any text; CSV if its name ends so, else JSON. Empty: none."""
    profiler_users: bool = False
    """Name the user in the profiler log, as a hash under a key that only the writing process knows."""
    trace: bool = False
    """Make OpenTelemetry spans and metrics (extra `otel`); what the program has set up receives them."""
    trace_content: bool = False
    """Put questions and what was recalled for them on the spans."""
    retention: str = "ephemeral=1 day, normal=never, keep=never"
    """Retention classes and when the items of each expire. A tag `retain:<class>` puts an item into one."""
    retention_kinds: str = ""
    """The class of a kind of items, such as `turn=ephemeral, summary=normal`; kinds that are not named are `normal`."""
    keep_past: str = "all"
    """How much of the past collecting keeps: `all`, `30 days`, `10000 commits`; it drops the past before that."""
    collectors: str = "ttl, sweep, duplicates"
    """Collectors, which choose what is collected; `generations` takes what was derived long ago and never used."""
    gc_auto: bool = True
    """Whether a worker (`mnemic worker`) begins collecting by itself, by one of the four reasons that follow."""
    gc_seconds: float = 6 * 3600
    """Reason `periodic`: seconds since the last run. For each of the four reasons, 0 is never."""
    gc_share: float = 0.5
    """Reason `fragmentation`: the share of versions that are closed or retired, or of pages that are free."""
    gc_growth: float = 0.5
    """Reason `growth`: the share by which the file has grown since the last run."""
    gc_idle: float = 60.0
    """Reason `load`: seconds without a write, when a twentieth of all versions is closed or retired, or is free."""
    seal: str = ""
    """File with the key that seals the store, or `!` and a command that prints it; see `SECURITY.md`. Empty: none."""
    key_requests: int = 600
    """Requests a minute that one access key may make of a server, in each process."""
    key_writes: int = 100_000
    """Writes a day that one access key may make of a server, in each process."""
    erase_needs_admin: bool = False
    """Whether over a server only the right `admin` erases for good; else `write` does too, in the memory it opens."""
    jwt_issuer: str = ""
    """Issuer (`iss`) of an identity provider whose tokens (JWT) a server takes beside access keys; empty for none."""
    jwt_audience: str = ""
    """Audience (`aud`) that those tokens must be for; there is no default, so that no other program's are taken."""
    jwt_keys: str = ""
    """The provider's public keys (JWKS): a file, or an https URL."""
    jwt_secret: str = dataclasses.field(default="", repr=False)
    """In their place a secret shared with the provider, or `@FILE` that holds it; never stored, never shown."""
    jwt_algorithms: tuple[str, ...] = ()
    """Algorithms that sign those tokens; empty: RS256, ES256 and EdDSA, or with `jwt_secret` HS256."""
    jwt_user: str = "sub"
    """The claim that names the user of a token."""
    jwt_tenant: str = ""
    """The claim that names its tenant; empty: all are of the setting `tenant`."""
    jwt_right: str = "mnemic_right"
    """The claim that names its right: `read`, `write` or `admin`, alone or among others, as a list or by spaces."""
    mask_secrets: bool = True
    """Mask keys, tokens, private keys and card numbers before the journal."""

    def __post_init__(self) -> None:
        if isinstance(self.home, str):
            object.__setattr__(self, "home", Path(self.home).expanduser())
        for several in ("indexed", "jwt_algorithms"):
            if isinstance(given := getattr(self, several), list):
                object.__setattr__(self, several, tuple(given))
        for field in dataclasses.fields(self):
            value, kinds = getattr(self, field.name), _TYPES[str(field.type)]
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Invalid(field.name, f"is {type(value).__name__}", f"Give {_KINDS[str(field.type)]}.")
            if isinstance(value, float) and not math.isfinite(value):
                raise Invalid(field.name, f"is {value}", "Give a number.")
        object.__setattr__(self, "indexed", tuple(dict.fromkeys(clean_name("indexed", slot) for slot in self.indexed)))
        time_zone(self.timezone)

    @classmethod
    def from_environment(cls) -> Settings:
        """Read the settings from this process's environment (`MNEMIC_<NAME>`), as the command line does.

        Raises:
            Invalid: as `from_env`.
        """
        return cls.from_env(os.environ)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings from the variables `MNEMIC_<NAME>` of `environ`.

        Raises:
            Invalid: an unknown name (with the nearest known one), or a value that is of the wrong type, too small a
                number, or none of the choices there are; or empty, where that is no value: an empty `MNEMIC_USER` must
                not lead to somebody else's memory.
        """
        fields = {f.name: f for f in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for variable, raw in environ.items():
            if not variable.startswith(PREFIX):
                continue
            name = variable.removeprefix(PREFIX).lower()
            if name not in fields:
                import difflib

                near = difflib.get_close_matches(name, fields, n=1)
                hint = f"Did you mean {PREFIX}{near[0].upper()}?" if near else "`mnemic doctor` lists the settings."
                raise Invalid(variable, "is not a setting", hint)
            if raw.strip() or name not in _LEFT_OUT:
                values[name] = _parse(variable, raw, str(fields[name].type))
        try:
            return cls(**values)
        except Invalid as error:
            raise Invalid(PREFIX + error.field.upper(), error.problem, error.remedy) from error

    @classmethod
    def readable(cls, environ: Mapping[str, str]) -> tuple[Settings, list[Invalid]]:
        """Settings with those `MNEMIC_<NAME>` of `environ` that can be taken, and what is wrong with the others."""
        good: dict[str, str] = {}
        wrong: list[Invalid] = []
        for variable, raw in environ.items():
            try:
                cls.from_env({variable: raw})
            except Invalid as error:
                wrong.append(error)
            else:
                good[variable] = raw
        return cls.from_env(good), wrong

    @property
    def where(self) -> str:
        """The place of the default store: a file's path or a URL."""
        return self.store or str(self.home / "memory.db")


def client_variables(company: str, own: str) -> tuple[str, str]:
    """Where the variables of a company's own clients say that its API is, and the key for there; "" for none.

    They are read where a model is named without an address, and for no other address.

    Args:
        company: The first word of the variables.
        own: Where its API is if they do not say.
    """
    return (os.environ.get(f"{company}_BASE_URL") or own).rstrip("/"), os.environ.get(f"{company}_API_KEY", "")


_LEFT_OUT: Final = ("model", "small_model", "model_key", "embedder_key", "prices")
"""Settings that an empty variable leaves out: no model and no key are what they say."""

_LEAST: Final = {f"{PREFIX}WINDOW": LEAST_WINDOW}
_MOST: Final = {f"{PREFIX}WINDOW": MOST_WINDOW}
_ONE_OF: Final = {f"{PREFIX}POLICY": tuple(POLICIES)}
_KINDS: Final = {
    "bool": "yes or no",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "Path": "a path",
    "tuple[str, ...]": "a list of names",
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "int": (int,), "float": (float, int), "str": (str,), "Path": (Path,),
    "tuple[str, ...]": (tuple,),
}  # fmt: skip


def _parse(variable: str, raw: str, type_name: str) -> object:
    if not raw.strip():
        raise Invalid(variable, "is empty", "Give it a value, or unset it.")
    value = _read(variable, raw, type_name)
    least = _LEAST.get(variable, 1)
    if type_name == "int" and isinstance(value, int) and value < least:
        raise Invalid(variable, f"is {value}", f"Give a number of at least {least:,}.")
    if type_name == "int" and isinstance(value, int) and value > _MOST.get(variable, value):
        raise Invalid(variable, f"is {value}", f"Give a number of at most {_MOST[variable]:,}.")
    if variable in _ONE_OF and raw.lower() not in _ONE_OF[variable]:
        raise Invalid(variable, f"{raw!r} is not one", did_you_mean(raw, _ONE_OF[variable]))
    if isinstance(value, float) and not 0 <= value < math.inf:
        raise Invalid(variable, f"is {raw}", "Give a number, at least 0.")
    return value


def _read(variable: str, raw: str, type_name: str) -> object:
    try:
        match type_name:
            case "bool":
                return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[raw.lower()]
            case "int":
                return int(raw)
            case "float":
                return float(raw)
            case "Path":
                return Path(raw).expanduser()
            case "tuple[str, ...]":
                return tuple(filter(None, map(str.strip, raw.split(","))))
            case _:
                return raw
    except (KeyError, ValueError) as error:
        raise Invalid(variable, f"{raw!r} is not {_KINDS.get(type_name, type_name)}", "Correct or unset it.") from error
