"""What `mem0` keeps of seven turns of the bundled conversation; a person wrote the model's answers.

python examples/strategies/mem0.py
"""

from datetime import UTC, datetime
from typing import Any

from handwritten import HandWritten

from mnemic import Filter, Kind, Memory
from mnemic.demo import conversation
from mnemic.strategies import TurnUnit
from mnemic.strategies.mem0 import Mem0

TURNS = ("s01:3", "s01:9", "s01:11", "s03:1", "s03:3", "s03:9", "s03:11")


def extract(words: str, text: str, since: str = "") -> tuple[str, str, dict[str, Any]]:
    return "extract_items", words, {"facts": [{"text": text, "from": [1], "since": since, "until": ""}]}


def decide(words: str, do: str, old: int = 0, text: str = "") -> tuple[str, str, dict[str, Any]]:
    return "merge_decide", words, {"decisions": [{"new": 1, "do": do, "old": old, "text": text}]}


CAT = "Ada's grey cat, adopted in February 2025 as Biscuit, is called Pastel."
HOME = "Ada lives on the third floor in Graça, Lisbon, where she moved from Paris on 15 March 2025."
MODEL = HandWritten(
    extract("near the Canal", "Ada lives in Paris near the Canal Saint-Martin."),
    extract("getting married", "Ada's sister Inès marries on 14 June 2025 in Annecy."),
    extract("adopted a grey kitten", "Ada adopted a grey kitten called Biscuit.", since="2025-02-08"),
    extract("moved from Paris to Lisbon", "Ada moved from Paris to Lisbon.", since="2025-03-15"),
    extract("Graça, third floor", "Ada's flat is in Graça, on the third floor."),
    extract("instead of 14 June", "Ada's sister Inès marries on 5 July 2025 in Annecy."),
    extract("renamed her Pastel", "Ada's kitten Biscuit is now called Pastel."),
    decide("[1] Ada's sister Inès marries on 14 June 2025 in Annecy.\n</memory>", "add"),
    decide("[1] Ada adopted a grey kitten", "add"),
    decide("[1] Ada moved from Paris to Lisbon.", "delete", old=1),
    decide("[1] Ada's flat is in Graça", "update", old=3, text=HOME),
    decide("[1] Ada's sister Inès marries on 5 July", "delete", old=2),
    decide("[1] Ada's kitten Biscuit is now", "update", old=1, text=CAT),
)


def main() -> None:
    strategy = Mem0(unit=TurnUnit())  # each turn by itself; 256 tokens together, left out
    with Memory("memory:", strategies=[strategy], model=MODEL, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([turn for turn in conversation() if turn.key.removeprefix("demo:") in TURNS])
        memory.flush()
        facts = Filter(kinds=(Kind.FACT,), by=("mem0",))
        for fact in reversed(me.list(where=facts)):
            print(f"{len(fact.item.source)} turns: {fact.item.text}")
        (home, *_) = me.recall("Where does Ada live?", by="mem0")
        print("now:", home.item.text)
        (home, *_) = me.as_of(datetime(2025, 3, 1, tzinfo=UTC)).recall("Where does Ada live?", by="mem0")
        print("as of 1 March 2025:", home.item.text)
        print(MODEL.calls, "calls")


if __name__ == "__main__":
    main()
