"""Every command once: its name, the group it is listed in, where it lives, and its first sentence.

Lazy loading, the list in `mnemic --help` and shell completion are all made from this table, so that none of them
imports a command that is not run. A test holds each sentence against the command's own help.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import click

_TABLE: Final = """
Writing
  add         remember           Remember something, in the words it was given.
  import      importing          Remember a file, a folder or a zip: chats, exports, documents, code.
  fact        remember           Write a statement, something held to be true.
  supersede   remember           Say that the world has changed.
  revise      remember           Correct what a statement says.
  settle      doubts             Say whether a fact about you is so.
  pin         remember           Keep items at hand, whatever a policy says.
  unpin       remember           Let pinned items go again.
  files       folders            Your memory as a folder of Markdown: write it, edit it, bring it back.
Asking
  recall      asking             The best evidence for a question, best first, with reasons.
  context     asking             A block ready for a prompt.
  ask         asking             An answer in the words of the evidence, cited; or that memory does not hold it.
  read        reading_files      Read files of any length for a question, segment by segment, with cited notes.
  graph       drawing            Draw what is known as a graph of who and what is related how, on a page of its own.
  why-not     asking             At which stage a recall lost an item, and why.
  profile     doubts             What memory believes of you: since when, derived by whom, from what, what is in doubt.
  review      doubts             Facts about you that something said later puts in doubt, with both sentences.
  list        asking             What was said and written, and what everybody sees of what was derived, newest first.
  show        provenance         One item with all that is known about it: who derived it, from what, what has ended it.
A window
  session     sessions           The windows of talks: say and ask in one, move its pages, see what it costs.
The past
  log         changes            The journal: every commit of this user, newest first.
  history     changes            Every version of an item, oldest first.
  diff        changes            What differs between two commits.
  undo        changes            Take a commit back, a range of them, or an import, with the consequences.
  revert      branch             Bring this memory back to what it was after a commit, by a commit more.
Branches
  branch      branch             Make a branch of this memory, where things can be tried out.
  branches    branch             Every branch of this memory.
  merge       branch             Take over what a branch has changed, in one commit.
  drop-branch branch             Take a branch out for good, with what was written to it alone.
Taking out
  forget      erasing            Hide items; `undo` brings them back.
  erase       erasing            Take out for good: items, a session, a source, everything.
  gc          gc                 Collect garbage: hide what collectors choose, drop the past that is not kept.
  hold        gc                 Legal holds: what may not be erased, collected or dropped.
Meaning
  flush       worker             Finish what follows a write: read it by rules, and make its vectors.
  reindex     worker             Make every vector anew, with another embedder.
Behind the writer
  worker      worker             Understand what is written, for every user of the store, until it is told to stop.
  jobs        worker             What waits to be done, what runs, who does it and since when, and what went wrong.
  dead        worker             What could not be understood and was given up, so that the rest could go on.
  retry       worker             Try what was given up once more: one, or all.
  rerun       worker             Take back what STRATEGY made of your memory, and have it read everything again.
  strategies  understanding      What can understand what you say: which of them do, and what each may ask a model.
  neural      neural             What models have computed from this memory, kept and erased like any other.
  follow      understanding      Choose which strategies alone understand what you say; without a name, list them.
Watching
  watch       watch              What is committed to this memory and the shared one, as it happens.
  top         top                What the programs that use this store do just now.
Care
  stats       maintenance        How much is remembered, and how big it is.
  verify      maintenance        Check everything in the store against everything else.
  seal        maintenance        Seal the store with a key, without which nobody writes to it unseen.
  migrate     maintenance        Bring the store to this version's format; in an empty database, make it.
  doctor      maintenance        Look at what the store stands on: engine, disk, settings, language model.
  backup      copies             Copy the whole store to a new file, while it is in use.
  restore     copies             Put a backup or a checkpoint in the store's place; --to goes back to a commit.
  checkpoint  copies             Copy the whole store to `checkpoints` beside it, while it is in use.
  checkpoints copies             The checkpoints that are kept, by commit.
  export      copies             The journal with all it holds, as lines of JSON; with --user, all of one person.
  cube        containers         One memory as one file: its text, and what models have computed of it.
  load        copies             Bring an exported journal into a store, as a tenant beside those that are there.
  move        copies             Move tenants from one store to another: a file to a PostgreSQL server, or back.
  place       place              Which PostgreSQL server keeps which tenants, and moving them while they are used.
  keys        access_keys        Access keys: who may use this memory through a server.
  settings    maintenance        Every setting: its value, where from, what it means.
  completion  maintenance        Print what makes a shell complete commands.
Agents
  install     installing.command Give an agent or editor this memory: its MCP server, and hooks where it has them.
  uninstall   installing.command Take this memory out of an agent or editor again; nothing that was remembered is lost.
  clients     installing.command List the agents and editors that `install` knows, and which of them are here.
  chat        chat.command       Talk, and be remembered.
  serve       server.command Serve this store over HTTP, until it is told to stop.
  dashboard   server.command Open the dashboard of this store in a browser.
  mcp         mcp.command        Serve this memory to an agent: the Model Context Protocol on standard input and output.
  gateway     gateway.command    Remember between any application and its model, over OpenAI's API.
  hook        hooks.command      Answer one event of a client, which pipes it in as JSON.
More
  demo        demo               The main job in a minute, on a year of made-up talk.
  bench       cli.bench.command  Measure how much evidence is found, and how fast.
"""
"""The groups of `mnemic --help`, in its order; below each its commands: name, module, first sentence.

A module without a dot is one of `faces/cli/commands`. The command is the module's attribute of that name, with `_` for
`-`, and with `_` behind it where Python has the name.
"""


class Listed(NamedTuple):
    """A command that is not imported yet.

    Attributes:
        module: Where it lives, below `mnemic.faces`.
        summary: The first sentence of its help.
    """

    name: str
    module: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        module = importlib.import_module(f"mnemic.faces.{self.module}")
        attribute = self.name.replace("-", "_")
        command: click.Command = vars(module).get(f"{attribute}_") or vars(module)[attribute]
        return command


def _read(table: str) -> dict[str, list[Listed]]:
    groups: dict[str, list[Listed]] = {}
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            commands = groups[line] = []
            continue
        name, module, summary = line.split(maxsplit=2)
        commands.append(Listed(name, module if "." in module else f"cli.commands.{module}", summary))
    return groups


GROUPS: Final = _read(_TABLE)
COMMANDS: Final = {command.name: command for commands in GROUPS.values() for command in commands}

SYNONYMS: Final = {
    "remember": "add",
    "save": "add",
    "observe": "add",
    "store": "add",
    "search": "recall",
    "query": "recall",
    "find": "recall",
    "get": "show",
    "ls": "list",
    "facts": "profile",
    "update": "revise",
    "edit": "revise",
    "delete": "forget",
    "remove": "forget",
    "rm": "forget",
    "init": "add",
    "sync": "flush",
    "start": "serve",
    "server": "serve",
    "proxy": "gateway",
    "status": "doctor",
    "info": "stats",
    "checkout": "revert",
    "reset": "revert",
}
"""What other programs, or our own library, call a command: whoever types it is told our name of it."""
