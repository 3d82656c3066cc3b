"""What `stream` makes of five turns of the bundled conversation; a person wrote the model's answers.

python examples/strategies/stream.py
"""

from typing import Any

from handwritten import HandWritten

from mnemic import Filter, Kind, Memory
from mnemic.demo import conversation
from mnemic.strategies import TurnUnit
from mnemic.strategies.stream import Stream

TURNS = ("s05:7", "s05:9", "s05:11", "s06:1", "s06:3")
WHY = "Why does Ada give up the marathon in Berlin?"
WHOM = "Whose word counts for Ada when her plans collide?"


def weigh(words: str, *scores: int) -> tuple[str, str, dict[str, Any]]:
    return "score_importance", words, {"scores": [{"of": n, "score": score} for n, score in enumerate(scores, 1)]}


def conclude(question: str, text: str, *handles: int) -> tuple[str, str, dict[str, Any]]:
    return "insights_with_evidence", question, {"insights": [{"text": text, "from": list(handles)}]}


MODEL = HandWritten(
    weigh("[1] Ada puts her", 8, 6),
    weigh("left knee hurts", 5),
    weigh("six weeks without any running", 6),
    weigh("Inès phoned today", 7),
    weigh("柏林马拉松不跑了", 8),
    weigh("一百六十欧元", 2),
    ("focal_questions", "柏林马拉松不跑了", {"questions": [WHY, WHOM]}),
    conclude(WHY, "Ada puts her sister's wedding before a race that her knee forbids her anyway.", 1, 2, 3),
    conclude(WHOM, "Ada follows those who examine her, even against her plans.", 1, 3),
)


def main() -> None:
    strategy = Stream(unit=TurnUnit(), threshold=2.5)  # 15 and 256 tokens, left out
    with Memory("memory:", strategies=[strategy], model=MODEL, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([turn for turn in conversation() if turn.key.removeprefix("demo:") in TURNS])
        memory.flush()
        for insight in reversed(me.list(where=Filter(kinds=(Kind.INSIGHT,), by=("stream",)))):
            print(
                f"importance {insight.item.slots['importance']}, depth {insight.item.slots['depth']}:",
                insight.item.text,
            )
            for turn in insight.item.source:
                print("    from:", me.get(turn).item.text)
        for hit in me.recall("Whom does Ada follow, even against her plans?", by="stream", k=2):
            print("recalled:", hit.item.text)
        print(MODEL.calls, "calls")


if __name__ == "__main__":
    main()
