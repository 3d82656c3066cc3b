"""Memories to look at: a lively one of a few people, one of 100,000 items, one of hostile texts, one as a graph."""

from __future__ import annotations

import itertools
import threading
from datetime import UTC, datetime, timedelta

from mnemic import Memory, Message
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel
from mnemic.store.values.spending import Spending

BEGAN = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
TALK = (
    ("Ada", "home", "I moved to Lisbon in May, near the Miradouro da Graça."),
    ("Ada", "home", "My sister Ana visits every Friday; she works at the Gulbenkian museum."),
    ("Ben", "trip", "The ferry to Oban leaves at nine from pier three."),
    ("Ada", "food", "I am allergic to peanuts, so please never suggest satay."),
    ("Ada", "home", "Please always answer me in metric units."),
    ("Ben", "trip", "We booked the cottage in Oban from 12 to 19 October."),
    ("Ada", "food", "My favourite tea is oolong from Alishan."),
    ("小林", "trip", "我下个月要去大阪出差，住在心斋桥附近。"),
    ("Ada", "work", "I work as a marine biologist at the Oceanário."),
    ("Ada", "work", "The deadline of the plankton report is 3 December."),
    ("Ben", "home", "Ana's birthday is on 14 November; she wants a telescope."),
    ("Ada", "work", "I quit the Oceanário; since Monday I work at the Hydrographic Institute."),
    ("Ada", "home", "I no longer live in Lisbon; I live in Porto now."),
)
RELATIONS = (
    ("Ada", "sister of", "Ana"),
    ("Ana", "works at", "Gulbenkian museum"),
    ("Ada", "works at", "Hydrographic Institute"),
    ("Ada", "lives in", "Porto"),
    ("Ben", "friend of", "Ada"),
    ("Ben", "travels to", "Oban"),
    ("Ada", "travels to", "Oban"),
    ("Oban", "lies in", "Scotland"),
    ("Porto", "lies in", "Portugal"),
    ("Lisbon", "lies in", "Portugal"),
    ("Gulbenkian museum", "lies in", "Lisbon"),
    ("Hydrographic Institute", "lies in", "Porto"),
    ("Ana", "lives in", "Lisbon"),
    ("小林", "travels to", "大阪"),
    ("小林", "colleague of", "Ada"),
    ("Ada", "studies", "copepods"),
    ("copepods", "live in", "plankton"),
    ("plankton report", "about", "plankton"),
    ("Ada", "writes", "plankton report"),
    ("Ben", "owns", "the blue boat"),
    ("the blue boat", "lies in", "Oban"),
    ("Ana", "wants", "telescope"),
    ("Ada", "drinks", "oolong tea"),
    ("oolong tea", "grows in", "Alishan"),
)
TYPES = {
    "person": ("Ada", "Ana", "Ben", "小林"),
    "place": ("Porto", "Lisbon", "Oban", "Scotland", "Portugal", "大阪", "Alishan"),
    "organisation": ("Gulbenkian museum", "Hydrographic Institute"),
}


def lively(memory: Memory) -> None:
    """A few weeks of talk; statements that changed, a doubt, a graph, a window, jobs, what a model took."""
    me = memory.scope(user="me")
    for place, (who, session, text) in enumerate(TALK):
        me.shelf(session=session).observe(text, speaker=who, said=BEGAN + timedelta(hours=31 * place))
    tea = me.write("Ada drinks her tea without sugar.", tags=["taste"]).id
    me.revise(tea, "Ada drinks her tea without milk.")
    me.supersede(tea, "Ada drinks her tea with a little honey.")
    me.pin(me.write("Ada's blood type is 0 negative.", tags=["health"]).id)
    me.branch("what if", understand=False)
    me.on_branch("what if").write("Ada moves to Braga next year.")
    memory.admin.hold(user="me", item=ItemId(tea), reason="case 7", actor="counsel")
    me.forget(me.write("The key of the cottage hangs behind the blue door.").id)
    for kind, names in TYPES.items():
        for name in names:
            me.write(name, kind="entity", slots={"entity_type": kind})
    for src, relation, dst in RELATIONS:
        slots = {"subject": src, "relation": relation, "object": dst}
        me.write(f"{src} {relation} {dst}.", slots=slots, valid_from="2026-09-01")
    memory.flush()
    with memory.session("survey", user="me", budget=900) as window:
        for n in range(26):
            window.observe(f"Sample {n}: {n * 31} copepods at station {n}, and cold water.", speaker="Ada")
            if n % 5 == 4:
                window.context("Where does Ada work, and what does she drink?")
    me.spend(
        Spending(
            strategy="mem0",
            task="extract",
            model="small-model",
            calls=41,
            prompt_tokens=52_000,
            answer_tokens=6_100,
            seconds=48.2,
        )
    )
    me.spend(
        Spending(
            strategy="zep",
            task="entities",
            model="small-model",
            calls=17,
            failed=1,
            prompt_tokens=21_400,
            answer_tokens=3_900,
            seconds=21.7,
        )
    )
    memory.admin.gc()
    memory.admin.rerun("house", user="me")
    memory.scope(user="ben").observe("I keep a blue boat in Oban.", speaker="Ben")


def at_work(memory: Memory, stop: threading.Event) -> None:
    """An agent at work until it is told to stop: it says, asks, and its window pages; now and then a collection."""
    me = memory.scope(user="me")
    with memory.session("survey", user="me", budget=900) as window:
        for n in itertools.count():
            window.observe(f"Sample {n}: {n * 31 % 977} copepods at station {n % 13}; clear and cold.", speaker="Ada")
            if n % 3 == 0:
                window.context(f"How many copepods at station {n % 13}?")
            if n % 25 == 24:
                memory.admin.gc()
            me.recall("Where does Ada work now?")
            if stop.wait(0.1 + 0.3 * abs((n % 40) / 20 - 1)):
                return


def many(memory: Memory, count: int = 100_000) -> None:
    """As many items as a few years bring."""
    me = memory.scope(user="me")
    for first in range(0, count, 2_000):
        lines = [
            Message(
                text=f"Line {n}: buoy {n % 977} counted {n * 7 % 4001} copepods near station {n % 61}.", key=f"many:{n}"
            )
            for n in range(first, min(first + 2_000, count))
        ]
        me.observe(lines, channel=Channel.IMPORT)


def tangled(memory: Memory, nodes: int = 5_000, edges: int = 10_000) -> None:
    """A graph of so many nodes and edges, each with a relation; some have many, most a few."""
    me = memory.scope(user="me")
    for n in range(edges):
        src, dst = n % nodes, (n * n * 31 + n // nodes + 1) % (nodes if n % 3 else 40)
        dst = dst if dst != src else (dst + 1) % nodes
        slots = {"subject": f"thing {src}", "relation": "next to", "object": f"thing {dst}"}
        me.write(f"thing {src} is next to thing {dst} ({n}).", slots=slots)
