"""What `memoryos` makes of eleven turns of the bundled conversation; a person wrote the model's answers.

python examples/strategies/memoryos.py
"""

from typing import Any

from handwritten import HandWritten

from mnemic import Filter, Kind, Memory
from mnemic.demo import conversation
from mnemic.strategies.memoryos import MemoryOS

TURNS = ("s01:9", "s01:10", "s02:3", "s03:9", "s05:7", "s05:9", "s05:10", "s05:11", "s05:12", "s06:1")


def about(words: str, topic: str, *keywords: str, continues: int = 0) -> tuple[str, str, dict[str, Any]]:
    return "page_topic", words, {"topic": topic, "keywords": list(keywords), "continues": continues}


def fact(text: str, *handles: int, since: str = "") -> dict[str, Any]:
    return {"text": text, "from": list(handles), "since": since, "until": ""}


MARATHON = "Ada's first marathon, in Berlin", "Berlin", "马拉松", "marathon", "knee"
WEDDING = "the wedding of Inès in Annecy", "Inès", "wedding", "Annecy"

MODEL = HandWritten(
    about("妹妹的婚礼", *MARATHON),
    about("Inès phoned today", *WEDDING),
    about("six weeks without any running", "six weeks without running", "physiotherapist", "tendon", continues=1),
    about("left knee hurts", *MARATHON),
    about("The wedding has moved", *WEDDING),
    about("九月二十一号的柏林马拉松", *MARATHON),
    about("younger sister Inès", *WEDDING),
    ("extract_slots", "柏林马拉松", {"slots": []}),
    ("extract_items", "柏林马拉松", {"facts": [
        fact("Ada has signed up for the Berlin marathon on 21 September.", 1),
        fact("Ada may not run for six weeks because of a tendon in her left knee.", 3, 2)]}),
    ("extract_slots", "younger sister Inès", {"slots": [
        {"subject": "Ada", "slot": "sister", "value": "Inès", "from": [1], "ended": False}]}),
    ("extract_items", "younger sister Inès", {"facts": [
        fact("Inès, Ada's sister, marries on 20 September in Annecy.", 4, 1),
        fact("Ada is the witness at the wedding of Inès.", 1)]}),
    ("merge_decide", "marries on 20 September", {"decisions": [
        {"new": n, "do": "add", "old": 0, "text": ""} for n in (1, 2, 3)]}),
)  # fmt: skip


def main() -> None:
    strategy = MemoryOS(hot=4.0)  # 5 left out
    with Memory("memory:", strategies=[strategy], model=MODEL, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([turn for turn in conversation() if turn.key.removeprefix("demo:") in TURNS])
        memory.flush()
        for segment in reversed(me.list(where=Filter(kinds=(Kind.SUMMARY,), by=("memoryos",)))):
            slots = segment.item.slots
            print(f"segment: {segment.item.text}; turns of its pages {slots['pages']}, {slots['promoted']} promoted")
        for learned in me.list(where=Filter(kinds=(Kind.PROFILE, Kind.FACT), by=("memoryos",))):
            print(f"{learned.item.kind}: {learned.item.text}")
        for hit in me.recall("When does Inès, Ada's sister, marry in Annecy?", by="memoryos", k=3):
            print("recalled:", hit.item.text)
        print(MODEL.calls, "calls")


if __name__ == "__main__":
    main()
