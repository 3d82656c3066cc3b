"""Every command once: its name, the group it is listed in, where it lives, and its first sentence.

Lazy loading, the list in `mnemic --help` and shell completion are all made from this table, so that none of them
imports a command that is not run. A test holds each sentence against the command's own help.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import click


class Listed(NamedTuple):
    """A command that is not imported yet.

    Attributes:
        place: `module:attribute`, the module below `mnemic.faces`.
        summary: The first sentence of its help.
    """

    name: str
    place: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        module, _, attribute = self.place.partition(":")
        command: click.Command = getattr(importlib.import_module(f"mnemic.faces.{module}"), attribute)
        return command


GROUPS: Final = {
    "Writing": (
        Listed("add", "cli.commands.remember:add", "Remember something, in the words it was given."),
        Listed(
            "import",
            "cli.commands.importing:import_",
            "Remember a file, a folder or a zip: chats, exports, documents, code.",
        ),
        Listed("fact", "cli.commands.remember:fact", "Write a statement, something held to be true."),
        Listed("supersede", "cli.commands.remember:supersede", "Say that the world has changed."),
        Listed("revise", "cli.commands.remember:revise", "Correct what a statement says."),
        Listed("pin", "cli.commands.remember:pin", "Keep items at hand, whatever a policy says."),
        Listed("unpin", "cli.commands.remember:unpin", "Let pinned items go again."),
    ),
    "Asking": (
        Listed(
            "recall",
            "cli.commands.asking:recall",
            "The best evidence for a question, best first, with reasons.",
        ),
        Listed("context", "cli.commands.asking:context", "A block ready for a prompt."),
        Listed(
            "ask",
            "cli.commands.asking:ask",
            "An answer in the words of the evidence, cited; or that memory does not hold it.",
        ),
        Listed("why-not", "cli.commands.asking:why_not", "At which stage a recall lost an item, and why."),
        Listed("list", "cli.commands.asking:list_", "What was written last, newest first."),
        Listed("show", "cli.commands.asking:show", "One item with all that is known about it."),
    ),
    "A window": (
        Listed(
            "session",
            "cli.commands.sessions:session",
            "The windows of an agent's talks: say something in one, ask it, move its pages, see what it costs.",
        ),
    ),
    "The past": (
        Listed("log", "cli.commands.changes:log", "The journal: every commit of this user, newest first."),
        Listed("history", "cli.commands.changes:history", "Every version of an item, oldest first."),
        Listed("diff", "cli.commands.changes:diff", "What differs between two commits."),
        Listed("undo", "cli.commands.changes:undo", "Take a commit back, with its consequences."),
        Listed(
            "revert",
            "cli.commands.branch:revert",
            "Bring this memory back to what it was after a commit, by a commit more.",
        ),
    ),
    "Branches": (
        Listed(
            "branch",
            "cli.commands.branch:branch",
            "Make a branch of this memory, where things can be tried out.",
        ),
        Listed("branches", "cli.commands.branch:branches", "Every branch of this memory."),
        Listed("merge", "cli.commands.branch:merge", "Take over what a branch has changed, in one commit."),
        Listed(
            "drop-branch",
            "cli.commands.branch:drop_branch",
            "Take a branch out for good, with what was written to it alone.",
        ),
    ),
    "Taking out": (
        Listed("forget", "cli.commands.erasing:forget", "Hide items; `undo` brings them back."),
        Listed("erase", "cli.commands.erasing:erase", "Take out for good: items, a session, a source, everything."),
        Listed(
            "gc",
            "cli.commands.gc:gc",
            "Collect garbage: hide what collectors choose, drop the past that is not kept.",
        ),
        Listed("hold", "cli.commands.gc:hold", "Legal holds: what may not be erased, collected or dropped."),
    ),
    "Meaning": (
        Listed(
            "flush",
            "cli.commands.worker:flush",
            "Finish what follows a write: read it by rules, and make its vectors.",
        ),
        Listed("reindex", "cli.commands.worker:reindex", "Make every vector anew, with another embedder."),
    ),
    "Behind the writer": (
        Listed(
            "worker",
            "cli.commands.worker:worker",
            "Understand what is written, for every user of the store, until it is told to stop.",
        ),
        Listed(
            "jobs",
            "cli.commands.worker:jobs",
            "What waits to be done, what runs, who does it and since when, and what went wrong.",
        ),
        Listed(
            "dead",
            "cli.commands.worker:dead",
            "What could not be understood and was given up, so that the rest could go on.",
        ),
        Listed("retry", "cli.commands.worker:retry", "Try what was given up once more: one, or all."),
        Listed(
            "rerun",
            "cli.commands.worker:rerun",
            "Take back what STRATEGY made of your memory, and have it read everything again.",
        ),
    ),
    "Watching": (
        Listed(
            "watch",
            "cli.commands.watch:watch",
            "What is committed to this memory and the shared one, as it happens.",
        ),
        Listed("top", "cli.commands.top:top", "What the programs that use this store do just now."),
    ),
    "Care": (
        Listed("stats", "cli.commands.maintenance:stats", "How much is remembered, and how big it is."),
        Listed("verify", "cli.commands.maintenance:verify", "Check everything in the store against everything else."),
        Listed(
            "doctor", "cli.commands.maintenance:doctor", "Look at what the store stands on: engine, disk, settings."
        ),
        Listed("backup", "cli.commands.copies:backup", "Copy the whole store to a new file, while it is in use."),
        Listed(
            "restore",
            "cli.commands.copies:restore",
            "Put a backup or a checkpoint in the store's place, or with --to bring the store itself back to an earlier "
            "commit.",
        ),
        Listed(
            "checkpoint",
            "cli.commands.copies:checkpoint",
            "Copy the whole store to `checkpoints` beside it, while it is in use.",
        ),
        Listed("checkpoints", "cli.commands.copies:checkpoints", "The checkpoints that are kept, by commit."),
        Listed("export", "cli.commands.copies:export", "The journal with all it holds, as lines of JSON."),
        Listed("load", "cli.commands.copies:load", "Bring an exported journal into an empty store."),
        Listed("settings", "cli.commands.maintenance:settings", "Every setting: its value, where from, what it means."),
        Listed("completion", "cli.commands.maintenance:completion", "Print what makes a shell complete commands."),
    ),
    "Agents": (
        Listed(
            "install",
            "installing.command:install",
            "Give an agent or editor this memory: its MCP server, and hooks where it has them.",
        ),
        Listed(
            "uninstall",
            "installing.command:uninstall",
            "Take this memory out of an agent or editor again; nothing that was remembered is lost.",
        ),
        Listed(
            "clients",
            "installing.command:clients",
            "List the agents and editors that `install` knows, and which of them are here.",
        ),
        Listed("chat", "chat.command:chat", "Talk, and be remembered."),
        Listed(
            "mcp",
            "mcp.command:serve",
            "Serve this memory to an agent: the Model Context Protocol on standard input and output.",
        ),
        Listed("hook", "hooks.command:hook", "Answer one event of a client, which pipes it in as JSON."),
    ),
    "More": (
        Listed("demo", "cli.commands.demo:demo", "The main job in a minute, on a year of made-up talk."),
        Listed("bench", "cli.bench.command:bench", "Measure how much evidence is found, and how fast."),
    ),
}
"""The groups of `mnemic --help`, in its order."""

COMMANDS: Final = {command.name: command for commands in GROUPS.values() for command in commands}
