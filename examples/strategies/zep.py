"""What `zep` keeps of seven turns of the bundled conversation, one of which arrives late; a person wrote the answers.

python examples/strategies/zep.py
"""

from datetime import timedelta
from typing import Any

from handwritten import HandWritten

from mnemic import Filter, Kind, Memory, State
from mnemic.demo import conversation

TURNS = ("s01:3", "s01:9", "s01:11", "s03:1", "s05:11", "s03:9", "s03:11")


def extract(words: str, *triples: tuple[str, str, str, str, str]) -> tuple[str, str, dict[str, Any]]:
    parts = ("subject", "predicate", "object", "fact", "since")
    return (
        "extract_triples",
        words,
        {"triples": [{**dict(zip(parts, one, strict=True)), "from": 1, "until": ""} for one in triples]},
    )


def match(
    words: str, new: int, same: tuple[int, ...] = (), over: tuple[int, ...] = ()
) -> tuple[str, str, dict[str, Any]]:
    return "match_facts", words, {"matches": [{"new": new, "same_as": list(same), "contradicts": list(over)}]}


def marries(day: str) -> tuple[str, str, str, str, str]:
    return "Inès", "marries on", day, f"Inès marries Karim on {day}.", ""


MODEL = HandWritten(
    extract("[1] 2025-02-09 19:04", ("Ada", "lives in", "Paris", "Ada lives in Paris.", "")),
    extract("[1] 2025-02-09 19:09", marries("14 June 2025")),
    extract("[1] 2025-02-09 19:11", ("Ada", "has the cat", "Biscuit", "Ada has a grey kitten called Biscuit.", "")),
    extract("[1] 2025-04-06 21:30", ("Ada", "lives in", "Lisbon", "Ada lives in Lisbon.", "2025-03-15")),
    extract("[1] 2025-04-06 21:37", marries("5 July 2025")),
    extract("[1] 2025-04-06 21:39", ("Ada", "has the cat", "Pastel", "Ada's cat is called Pastel.", "")),
    extract("[1] 2025-06-15", marries("20 September 2025")),
    ("match_entities", "20 September 2025: In", {"matches": [{"name": 1, "same_as": 0}]}),
    ("match_entities", "5 July 2025: In", {"matches": [{"name": 1, "same_as": 0}]}),
    ("summarize", "Ada", {"summary": "Ada moved from Paris to Lisbon, where her cat Biscuit became Pastel."}),
    ("summarize", "In", {"summary": "Inès marries Karim on 20 September 2025, later than first planned."}),
    match("[3] Ada lives in Lisbon.\n</memory>", new=3, over=(1,)),
    match("[3] Ada's cat is called Pastel.\n</memory>", new=3, over=(1,)),
    match("[3] Inès marries Karim on 5 July 2025.\n</memory>", new=3, over=(1, 2)),
    match("[2] Inès marries Karim on 20 September 2025.\n</memory>", new=2, over=(1,)),
    match("[2] Ada has a grey kitten called Biscuit.\n</memory>", new=2),
)


def main() -> None:
    turns = {turn.key.removeprefix("demo:"): turn for turn in conversation()}
    with Memory("memory:", strategies=["zep"], model=MODEL, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([turns[key] for key in TURNS])
        memory.flush()
        every = Filter(kinds=(Kind.FACT,), by=("zep",), states=(State.ACTIVE, State.SUPERSEDED))
        facts = (version.item for version in me.list(where=every))
        for fact in sorted(facts, key=lambda one: (one.slots["relation"], one.valid_from or one.said)):
            at_home = timedelta(minutes=fact.said_offset)
            since = (fact.valid_from or fact.said) + at_home
            until = f"{fact.valid_to + at_home:%Y-%m-%d}" if fact.valid_to else "now"
            print(f"{since:%Y-%m-%d} to {until:10}  {fact.text}")
        for handle, when in ((me, "now"), (me.as_of("2025-05-01"), "as of 1 May 2025")):
            (wedding, *_) = handle.recall("When does Inès marry?", by="zep")
            print(f"{when}: {wedding.item.text} ({wedding.reasons[0]})")
        print(MODEL.calls, "calls")


if __name__ == "__main__":
    main()
