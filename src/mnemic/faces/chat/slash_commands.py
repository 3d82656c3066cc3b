"""What can be typed within a chat beside messages: a slash and a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid, NotFound
from mnemic.faces.chat.turn_views import short
from mnemic.faces.cli.commands.asking import print_recalled
from mnemic.faces.cli.item_ids import resolve_all
from mnemic.faces.cli.output import indented, many
from mnemic.operations.records import context_record, receipt_record

if TYPE_CHECKING:
    from mnemic.faces.chat.conversation import Conversation, Turn
    from mnemic.faces.cli.output import Output

MARK: Final = "/"


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command: what follows its name, what it does, and how."""

    takes: str
    summary: str
    run: Callable[[Output, Conversation, str], None]


def is_command(line: str) -> bool:
    """Whether a line is a command; a blank before the slash makes it a message."""
    return line.startswith(MARK)


def run_command(output: Output, talk: Conversation, line: str) -> bool:
    """Run the command that a line names; return whether the chat goes on.

    Raises:
        MnemicError: there is no such command, or it cannot be done.
    """
    name, _, argument = line.removeprefix(MARK).partition(" ")
    if name == "quit":
        return False
    if name not in SLASH_COMMANDS:
        problem = f"{MARK}{name[:40]} is no command"
        raise Invalid("line", problem, "/help lists them; a blank before the slash makes it a message.")
    command = SLASH_COMMANDS[name]
    if bool(command.takes) is not bool(argument.strip()):
        problem = f"wants {command.takes}" if command.takes else "stands alone"
        raise Invalid("line", f"{MARK}{name} {problem}", "/help shows how.")
    command.run(output, talk, argument.strip())
    return True


def _help(output: Output, talk: Conversation, argument: str) -> None:
    rows = [(f"{MARK}{name} {command.takes}".strip(), command.summary) for name, command in SLASH_COMMANDS.items()]
    rows.append(("/quit", "leave, as Ctrl-D does; Ctrl-C stops an answer"))
    if output.json:
        output.record({"command": "help", "commands": dict(rows)})
    else:
        output.table(rows)


def _why(output: Output, talk: Conversation, argument: str) -> None:
    context = _last(talk).context
    if output.json:
        output.record({"command": "why", **context_record(context)})
    else:
        print_recalled(output, context, explain=True)


def _context(output: Output, talk: Conversation, argument: str) -> None:
    turn = _last(talk)
    if output.json:
        messages = [{"role": message.role, "content": message.content} for message in turn.prompt]
        output.record({"command": "context", "messages": messages, "recalled": turn.context.text})
        return
    if not turn.prompt:
        output.line("no model was asked; this is what one would have been given")
        output.line(indented(turn.context.text or "(nothing)"))
    for message in turn.prompt:
        output.line(output.bold(message.role))
        output.line(indented(message.content))


def _recall(output: Output, talk: Conversation, argument: str) -> None:
    context = talk.me.recall(argument)
    if output.json:
        output.record({"command": "recall", **context_record(context)})
    else:
        print_recalled(output, context, explain=False)


def _forget(output: Output, talk: Conversation, argument: str) -> None:
    receipt = talk.forget(*resolve_all(talk.me, argument.split()))
    if output.json:
        output.record({"command": "forget", **receipt_record(receipt)})
    else:
        hidden = ", ".join(short(id) for id in receipt.ids)
        output.line(f"hidden: {hidden}, commit {receipt.seq}; /undo brings back")


def _undo(output: Output, talk: Conversation, argument: str) -> None:
    seqs, turn = talk.undo()
    if output.json:
        output.record({"command": "undo", "undone": seqs, "said": None if turn is None else turn.message})
    else:
        what = "the forgetting" if turn is None else "the last turn and its answer" if turn.reply else "the last turn"
        output.line(f"{what} is taken back ({many(len(seqs), 'commit')}: {', '.join(map(str, seqs))})")


def _last(talk: Conversation) -> Turn:
    if not talk.turns:
        raise NotFound("nothing has been said in this conversation yet")
    return talk.turns[-1]


SLASH_COMMANDS: Final = {
    "help": SlashCommand("", "this list", _help),
    "why": SlashCommand("", "all that was recalled for the last answer, with every score and reason", _why),
    "context": SlashCommand("", "what the model was given for it", _context),
    "recall": SlashCommand("QUERY", "what memory holds on something", _recall),
    "forget": SlashCommand("ID", "hide an item: the id as it is shown here, or `last`; several may be named", _forget),
    "undo": SlashCommand("", "take back the last turn with its answer, or the last /forget", _undo),
}
