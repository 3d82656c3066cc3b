"""Read the export of ChatGPT: trees of messages, of which the branch that was open last is the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Final

from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.jsonio import elements
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_SPEAKERS: Final = ("user", "assistant")
_ASIDE: Final = (
    "thoughts",
    "reasoning_recap",
    "code",
    "execution_output",
    "system_error",
    "tether_quote",
    "tether_browsing_display",
)
_INSTRUCTIONS: Final = "user_editable_context"
_TEXTS: Final = ("text", "result", "content", "summary", "user_profile", "user_instructions")
_OTHER: Final = "is on a branch that was left; --branches takes it in"
_UNSPOKEN: Final = "is of a tool, of the system, or a thought; --tools takes it in"

Tree = Mapping[str, object]


def read_chatgpt(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each that a person or the model spoke, conversation by conversation, in the order of its tree.

    A conversation is a session; its title goes into the slot `title`; a message without a time has that of the one
    before it. Pictures and files leave their names in the slot `attachments`. Custom instructions are taken once.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    instructions_seen: set[bytes] = set()
    for number, conversation in enumerate(elements(source), start=1):
        tree = conversation.get("mapping") if isinstance(conversation, Mapping) else None
        if isinstance(conversation, Mapping) and isinstance(tree, Mapping):
            yield from _conversation(conversation, tree, number, options, instructions_seen)
        else:
            yield Skipped(where=f"conversation {number}", why="has no `mapping` of messages")


def _conversation(
    conversation: Mapping[str, object], tree: Tree, number: int, options: Options, instructions_seen: set[bytes]
) -> Iterator[Message | Skipped]:
    intake = Intake("chatgpt", options)  # one a conversation: what it remembers of ids ends with it
    name = conversation.get("conversation_id") or conversation.get("id") or f"conversation-{number}"
    order = _preorder(tree)
    open_last = _branch(tree, conversation.get("current_node"), order)
    time = conversation.get("create_time")
    for node in order:
        message = _object(_object(tree[node]).get("message"))
        if not message:
            continue
        where = f"conversation {number}, message {node}"
        time = message.get("create_time") or time
        on_branch = node in open_last
        if not on_branch and not options.branches:
            yield Skipped(where=where, why=_OTHER)
            continue
        record = _raw_record(message, node, where, name, conversation.get("title"), time, on_branch)
        yield _taken(record, message, intake, options, instructions_seen)


def _taken(
    record: RawRecord, message: Mapping[str, object], intake: Intake, options: Options, instructions_seen: set[bytes]
) -> Message | Skipped:
    if _object(message.get("content")).get("content_type") == _INSTRUCTIONS:
        return _instructions(record, options, instructions_seen)
    if not options.tools and not _is_spoken(message):
        return Skipped(where=record.where, why=_UNSPOKEN if record.text else "is empty")
    return intake.take(record) if record.text else Skipped(where=record.where, why="is empty")


def _instructions(record: RawRecord, options: Options, instructions_seen: set[bytes]) -> Message | Skipped:
    """What the person asked of every conversation: it stands in each, and is taken from the first."""
    digest = blake2b(str(record.text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    if digest in instructions_seen:
        return Skipped(where=record.where, why="repeats the custom instructions")
    instructions_seen.add(digest)
    return Intake("chatgpt", options).take(
        RawRecord(
            where=record.where,
            place=digest.hex(),
            text=record.text,
            conversation="custom instructions",
            session="custom instructions",
            time=record.time,
            slots={"role": "user", "title": "custom instructions"},
        )
    )


def _raw_record(
    message: Mapping[str, object], node: str, where: str, name: object, title: object, time: object, on_branch: bool
) -> RawRecord:
    author = _object(message.get("author"))
    metadata = _object(message.get("metadata"))
    content = _object(message.get("content"))
    kind = content.get("content_type")
    text, attached = _content(content, metadata)
    return RawRecord(
        where=where,
        place=node,
        text=text or (f"[{', '.join(attached)}]" if attached else ""),
        id=node,
        conversation=name,
        session=name,
        time=time,
        slots={
            "role": "tool" if kind in _ASIDE and author.get("role") == "user" else author.get("role"),
            "speaker": author.get("name"),
            "title": title,
            "conversation": name,
            "attachments": list(attached),
            "model": metadata.get("model_slug"),
            "branch": None if on_branch else "left",
        },
    )


def _is_spoken(message: Mapping[str, object]) -> bool:
    role = _object(message.get("author")).get("role")
    kind = _object(message.get("content")).get("content_type")
    return role in _SPEAKERS and kind not in _ASIDE and message.get("recipient") in (None, "all")


def _content(content: Mapping[str, object], metadata: Mapping[str, object]) -> tuple[str, list[str]]:
    """The text of a message, and the names of what is no text."""
    texts = [text for name in _TEXTS if isinstance(text := content.get(name), str)]
    attached: list[str] = []
    for part in [*_list(content.get("parts")), *_list(content.get("thoughts"))]:
        if isinstance(part, str):
            texts.append(part)
            continue
        inner = [text for name in _TEXTS if isinstance(text := _object(part).get(name), str)]
        texts += inner
        if not inner:
            attached.append(_name(_object(part)))
    files = [_object(attachment) for attachment in _list(metadata.get("attachments"))]
    attached += [name for attachment in files if isinstance(name := attachment.get("name"), str)]
    return "\n".join(text for text in texts if text.strip()), list(dict.fromkeys(attached))


def _name(part: Mapping[str, object]) -> str:
    return str(part.get("asset_pointer") or part.get("name") or part.get("content_type") or "unknown")


def _preorder(tree: Tree) -> list[str]:
    """Every node of the tree, parents before children, also of what a damaged tree has lost hold of."""
    order: dict[str, None] = {}
    roots = [node for node in tree if _parent(tree, node) is None]
    for root in [*roots, *tree]:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in order:
                order[node] = None
                children = _list(_object(tree[node]).get("children"))
                waiting += [child for child in reversed(children) if isinstance(child, str) and child in tree]
    return list(order)


def _branch(tree: Tree, current: object, order: list[str]) -> set[str]:
    """The way from the message that was shown last up to the root; without one, from the tree's last leaf."""
    branch: set[str] = set()
    last = order[-1] if order else None
    node = current if isinstance(current, str) and current in tree else last
    while node is not None and node not in branch:
        branch.add(node)
        node = _parent(tree, node)
    return branch


def _parent(tree: Tree, node: str) -> str | None:
    parent = _object(tree[node]).get("parent")
    return parent if isinstance(parent, str) and parent in tree else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
