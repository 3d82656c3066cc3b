"""What `hippo2` keeps of five passages, and how a walk answers of three together; a person wrote the model's answers.

python examples/strategies/hippo2.py
"""

from typing import Any

from handwritten import HandWritten

from mnemic import Filter, Kind, Memory
from mnemic.strategies.hippo2 import Hippo2

TURNS = (
    ("Ada", "My sister Inès married Karim in Annecy."),
    ("Karim", "I bake at the Fournil now, it is my own place."),
    ("Tom", "Careful: the Fournil is shut on Mondays and half of August."),
    ("Tom", "The museum near the station is closed on Tuesdays."),
    ("Ada", "I closed the window, a day like in winter."),
)
QUESTION = "On which day does the husband of Inès not work?"


def stated(words: str, *triples: tuple[str, str, str, str]) -> tuple[str, str, dict[str, Any]]:
    names = ("subject", "predicate", "object", "fact")
    found = [{**dict(zip(names, one, strict=True)), "from": 1, "since": "", "until": ""} for one in triples]
    return "extract_triples", words, {"triples": found}


MODEL = HandWritten(
    stated(
        "My sister Inès",
        ("Inès", "is the sister of", "Ada", "Inès is the sister of Ada."),
        ("Inès", "married", "Karim", "Inès married Karim in Annecy."),
    ),
    stated("my own place", ("Karim", "owns", "Fournil", "Karim bakes at the Fournil, which is his own.")),
    stated("shut on Mondays", ("Fournil", "is closed on", "Monday", "The Fournil is closed on Mondays.")),
    stated("museum", ("station museum", "is closed on", "Tuesday", "The station museum is closed on Tuesdays.")),
    stated("closed the window"),
    ("filter_evidence", QUESTION, {"keep": [1]}),
)


def main() -> None:
    with Memory("memory:", strategies=["house", Hippo2()], model=MODEL, embedder="none") as memory:
        me = memory.scope(user="ada")
        ids = [me.observe(text, speaker=speaker).id for speaker, text in TURNS]
        memory.flush()
        phrases = me.list(where=Filter(kinds=(Kind.ENTITY,), by=("hippo2",)))
        print("phrases:", ", ".join(f"{one.item.text} {len(one.item.source)}" for one in reversed(phrases)))
        print("by words and names:")
        for one in me.recall(QUESTION, k=3):
            print(f"  {one.item.text}")
        walked = me.recall(QUESTION, k=3, by="hippo2")
        print(f"{walked.items[0].reasons[0]}:")
        for one in walked:
            print(f"  {one.score:.3f} {one.item.text}")
        me.erase(ids[1])
        memory.flush()
        phrases = me.list(where=Filter(kinds=(Kind.ENTITY,), by=("hippo2",)))
        print("without Karim's turn:", ", ".join(sorted(f"{one.item.text} {len(one.item.source)}" for one in phrases)))
        print(MODEL.calls, "calls")


if __name__ == "__main__":
    main()
