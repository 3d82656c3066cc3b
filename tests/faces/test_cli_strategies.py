"""What people see of strategies on the command line: the profile, the graph, whence an item is, which there are."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commandline import Run

from mnemic.registry import STRATEGIES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ada(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A memory that four strategies have read: somebody moved, may have left a job, and has a friend."""
    monkeypatch.setenv("MNEMIC_USER", "ada")
    monkeypatch.setenv("MNEMIC_EMBEDDER", "none")
    for text, said in (
        ("I live in Paris.", "2025-01-02T10:00:00Z"),
        ("I work at Acme.", "2025-01-03T10:00:00Z"),
        ("I moved to Lisbon on 15 March.", "2025-04-06T10:00:00Z"),
        ("Handed in my badge, Acme is behind me.", "2025-05-06T10:00:00Z"),
        ("Ben lives in Oslo.", "2025-05-07T10:00:00Z"),
    ):
        run("add", text, "--role", "user", "--said", said)
    run("follow", "house", "zep", "mem0", "hippo2")
    run("flush")
    return run


def test_the_profile_says_since_when_by_whom_and_from_what(ada: Run) -> None:
    told = ada("profile", "--json").lines
    (home,) = [one for one in told if one["matter"] == "residence"]
    assert "Lisbon" in home["text"]
    assert home["since"].startswith("2025-03-1")
    assert {"rules", "zep"} <= set(home["by"])
    assert [one["text"] for one in home["evidence"]] == ["I moved to Lisbon on 15 March."]
    assert home["former"] == []
    seen = ada("profile").out
    assert seen.index("you") < seen.index("residence") < seen.index("Lisbon") < seen.index("since 2025-03-1")
    assert "I moved to Lisbon on 15 March." in seen
    assert "Oslo" not in "".join(one["text"] for one in told if one["subject"] == "user")


def test_the_profile_marks_what_review_doubts(ada: Run) -> None:
    (doubt,) = ada("review", "--json").lines
    doubted = [one for one in ada("profile", "--json").lines if one["doubt"]]
    assert [one["ids"][0] for one in doubted] == [doubt["fact"]["id"]]
    assert doubted[0]["doubt"]["sentence"] == doubt["sentence"]
    assert 'in doubt: "Handed in my badge, Acme is behind me."' in ada("profile").out


def test_the_profile_with_its_history_says_what_was_so_before(ada: Run) -> None:
    (home,) = [one for one in ada("profile", "--history", "--json").lines if one["matter"] == "residence"]
    assert {"Paris" in old["text"] for old in home["former"]} == {True}
    assert re.search(r"before, 2025-01-02 to 2025-03-1\d: .*Paris", ada("profile", "--history").out)
    job = next(one["ids"][0] for one in ada("profile", "--json").lines if one["doubt"])
    ada("settle", job, "--ended")
    assert job not in {id for one in ada("profile", "--json").lines for id in one["ids"]}
    (over,) = [one for one in ada("profile", "--history", "--json").lines if job in one["ids"]]
    assert over["ended"]
    assert "Acme" in over["text"]


def test_the_profile_of_a_day_is_what_was_known_then(ada: Run) -> None:
    (home,) = [one for one in ada("profile", "--as-of", "2025-02-01", "--json").lines if one["matter"] == "residence"]
    assert "Paris" in home["text"]
    assert home["until"] is None
    assert "Lisbon" not in ada("profile", "--as-of", "2025-02-01", "--history").out


def test_an_empty_profile_says_how_it_is_filled(run: Run) -> None:
    run("add", "It rains.", "--user", "cat")
    found = run("profile", "--user", "cat")
    assert found.out == ""
    assert "mnemic follow" in found.err


def test_what_somebody_goes_by_is_read_from_their_profile(run: Run) -> None:
    run("add", "My name is Ada.", "--role", "user", "--user", "u17")
    run("fact", "Ada plays the cello.", "--user", "u17")
    run("fact", "Adam plays the flute.", "--user", "u17")
    told = [one["text"] for one in run("profile", "--user", "u17", "--json").lines]
    assert "Ada plays the cello." in told
    assert "Adam plays the flute." not in told


def test_a_graph_is_one_page_that_needs_no_network(ada: Run) -> None:
    wrote = ada("graph").out
    page = Path("mnemic-graph.html")
    assert str(page.absolute()) in wrote
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text("utf-8")
    assert "default-src 'none'" in text
    assert re.findall(r"(?:src|href)\s*=\s*[\"']|https?://(?!www\.w3\.org/2000/svg)", text) == []
    data = data_of(text)
    names = {node["name"] for node in data["nodes"]}
    assert {"Lisbon", "Paris"} <= names
    homes = {data["nodes"][edge["dst"]]["name"]: edge for edge in data["edges"] if edge["label"] == "city"}
    assert homes["Paris"]["ended"]
    assert not homes["Lisbon"]["ended"]
    assert homes["Lisbon"]["fact"]["evidence"][0]["text"] == "I moved to Lisbon on 15 March."
    ada("graph")  # a drawing is drawn again
    Path("mnemic-graph.html").write_text("my notes")
    assert "is no drawing" in ada("graph", code=4).err
    assert Path("mnemic-graph.html").read_text() == "my notes"


def data_of(page: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json" id="graph">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)  # type: ignore[no-any-return]


def test_the_graph_of_a_day_shows_what_held_then(ada: Run) -> None:
    then = ada("graph", "--as-of", "2025-02-01", "--json").json
    cities = [edge for edge in then["edges"] if edge["label"] == "city"]
    assert {then["nodes"][edge["dst"]]["name"]: edge["ended"] for edge in cities} == {"Paris": False}
    assert {edge["fact"]["until"] for edge in cities} == {None}, "that it would end was not known yet"
    later = ada("graph", "--as-of", "2025-04-10", "--json").json
    ends = {edge["fact"]["until"] for edge in later["edges"] if later["nodes"][edge["dst"]]["name"] == "Paris"}
    assert "2025-03-15" in ends


def test_a_graph_is_narrowed_by_strategy_name_steps_and_limit(ada: Run) -> None:
    every = ada("graph", "--json").json
    by_zep = ada("graph", "--by", "zep", "--json").json
    assert {edge["fact"]["by"] for edge in by_zep["edges"] if edge["fact"]} == {"zep"}
    assert {edge["fact"]["by"] for edge in every["edges"] if edge["fact"]} == {"zep", "hippo2"}
    near = ada("graph", "--around", "lisbon", "--steps", "1", "--json").json
    assert "Lisbon" in {node["name"] for node in near["nodes"]}
    assert len(near["nodes"]) < len(every["nodes"])
    one = ada("graph", "--limit", "1", "--json").json
    assert (len(one["nodes"]), one["left_out"]) == (1, len(every["nodes"]) - 1)
    assert "nothing in the graph is called 'Atlantis'" in ada("graph", "--around", "Atlantis", code=3).err
    assert "'zepp'" in ada("graph", "--by", "zepp", code=2).err


def test_graphviz_text_goes_to_standard_output_or_to_a_file(ada: Run) -> None:
    told = ada("graph", "--dot").out
    assert told.startswith("// drawn by mnemic graph\ndigraph memory {\n")
    assert re.search(r'n\d+ -> n\d+ \[label="city", tooltip="2025-01-02 to .* Paris\.", style=dashed\];', told)
    ada("graph", "--dot", "-o", "graph.dot")
    assert Path("graph.dot").read_text() == told
    assert not Path("mnemic-graph.html").exists()


def test_what_two_strategies_say_in_the_same_words_is_drawn_once(ada: Run) -> None:
    ada("add", "and so on " * 100)  # mem0 waits for so many tokens
    ada("flush")
    known = ada("graph", "--json").json["edges"]
    at_home = [one for one in known if one["fact"] and one["fact"]["text"].endswith("lives in Lisbon.")]
    assert len(at_home) > 1
    arrows = [line for line in ada("graph", "--dot").out.splitlines() if " -> " in line]
    assert sorted(set(arrows)) == sorted(arrows)
    ada("graph")
    drawn = data_of(Path("mnemic-graph.html").read_text("utf-8"))["edges"]
    (arrow,) = [one for one in drawn if one["fact"] and one["fact"]["text"].endswith("lives in Lisbon.")]
    assert set(arrow["fact"]["by"].split(", ")) == {one["fact"]["by"] for one in at_home}


def test_an_empty_graph_says_what_makes_one(run: Run) -> None:
    run("add", "It rains.")
    found = run("graph")
    assert (found.out, list(Path().iterdir())) == ("", [])
    assert "mnemic follow house zep" in found.err
    assert run("graph", "--json").json == {"nodes": [], "edges": [], "left_out": 0, "file": None}


HOSTILE = [
    "</script><script>alert(1)</script>",
    '"];evil[label="x',
    'a\\\\"b\\N',
    "<!--<script>",
    "\u202eevil\u202c \U0001f600 שלום",
    "${digest} $graph",
    "x' onload='alert(1)",
]


def test_what_was_remembered_can_end_no_element_and_no_quotation(run: Run) -> None:
    from mnemic import Kind, Memory

    with Memory(embedder="none") as memory:
        me = memory.scope(user=memory.settings.user)
        for name in HOSTILE:
            me.write(name, kind=Kind.ENTITY, slots={"entity": name, "entity_type": name})
            me.write(f"{name} knows {name}", kind=Kind.FACT, slots={"entity": name, "relation": name, "to": f"{name}!"})
    run("graph")
    page = Path("mnemic-graph.html").read_text("utf-8")
    run("add", "x", "--user", "other")
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    data = data_of(page)
    shown = {str(node["name"]) for node in data["nodes"]}  # type: ignore[attr-defined]
    assert {name for name in HOSTILE if "\u202e" not in name} <= shown
    assert "\u202e" not in page
    strings = re.compile(r'"(?:[^"\\]|\\.)*"')
    for line in run("graph", "--dot").out.splitlines()[3:-1]:
        left = strings.sub("S", line)
        assert re.fullmatch(r"  n\d+(?: -> n\d+)? \[label=S, tooltip=S(?:, style=(?:\w+|S))?\];", left), line
    named = [node["name"] for node in run("graph", "--json").json["nodes"]]
    assert set(HOSTILE) <= set(named)


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript here")
def test_the_script_of_the_page_is_sound() -> None:
    script = ROOT / "src" / "mnemic" / "faces" / "cli" / "graph_page.js"
    done = subprocess.run(["node", "--check", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = script.read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|</", text)


def test_an_item_is_shown_with_who_derived_it_from_what_and_what_ended_it(ada: Run) -> None:
    (old,) = [
        one for one in ada("list", "--by", "zep", "--state", "superseded", "--json").lines if one["kind"] == "fact"
    ]
    told = ada("show", old["id"]).out
    assert re.search(r"^(tags|channel) ", told, re.MULTILINE) is None, "no model was asked, and digests tell nothing"
    assert "derived by zep" in told
    assert re.search(r"^from +\w{26}  2025-01-02 10:00  turn: I live in Paris\.$", told, re.MULTILINE)
    assert re.search(r"^superseded by +\w{26}  2025-04-06 10:00  fact: .*Lisbon", told, re.MULTILINE)
    record = ada("show", old["id"], "--json").json
    assert (record["derived_by"], [one["text"] for one in record["evidence"]]) == ("zep", ["I live in Paris."])
    (new,) = record["superseded_by"]
    assert ada("show", new, "--json").json["supersedes"] == [old["id"]]
    assert re.search(r"^in place of +\w{26}  .*Paris", ada("show", new).out, re.MULTILINE)
    assert "as it was said" in ada("show", record["evidence"][0]["id"]).out
    then = ada("show", old["id"], "--as-of", "2025-02-01", "--json").json
    assert (then["state"], then["superseded_by"]) == ("active", [])


def test_a_chain_of_sources_is_followed_to_what_was_said(run: Run) -> None:
    from mnemic import Memory

    with Memory(embedder="none") as memory:
        me = memory.scope(user=memory.settings.user)
        turn = me.observe("It rained on Monday.").id
        fact = me.write("Monday was wet.", source=(turn,)).id
        last = me.write("The week began wet.", source=(fact,)).id
    record = run("show", last, "--json").json
    assert [(one["steps"], one["id"]) for one in record["evidence"]] == [(1, fact), (2, turn)]


def test_strategies_are_told_with_what_they_cost_and_what_waits(ada: Run) -> None:
    told = {one["name"]: one for one in ada("strategies", "--json").lines}
    assert set(told) == set(STRATEGIES)
    assert {name for name, one in told.items() if one["followed"]} == {"house", "zep", "mem0", "hippo2"}
    assert (told["house"]["calls_a_message"], told["house"]["calls_a_run"]) == (None, 0)
    of_tries = {"reflexion", "expel", "skills", "reme", "gmemory"}  # the conversation that costs are told of has none
    assert not any(told[name]["calls_a_message"] or told[name]["tokens_a_message"] for name in of_tries)
    others = [one for name, one in told.items() if name not in {"house", *of_tries}]
    assert all(one["calls_a_message"] > 0 and one["tokens_a_message"] > 0 for one in others)
    seen = ada("strategies").out
    assert re.search(r"^\* +house +never", seen, re.MULTILINE)
    assert re.search(rf"^\* +zep +{told['zep']['calls_a_message']:.2f} calls", seen, re.MULTILINE)
    assert re.search(r"^\* +mem0 .* for 2\d\d more tokens", seen, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_all_about_one_strategy_names_its_paper_and_its_page(name: str, run: Run) -> None:
    record = run("strategies", name, "--json").json
    if name == "house":
        assert record["page"] is None
    else:
        assert (ROOT / record["page"]).is_file()
        assert "arXiv:" in record["description"]
        assert record["page"] in run("strategies", name).out
    assert record["description"].splitlines()[0] in run("strategies", name).out


def test_an_unknown_strategy_is_refused_with_those_that_there_are(run: Run) -> None:
    assert "There are" in run("strategies", "zepp", code=2).err


def test_a_recall_by_a_strategy_that_never_ran_says_how_it_gets_to(run: Run) -> None:
    run("add", "We leave on Friday.")
    assert "`mnemic follow house zep`" in run("recall", "when?", "--by", "zep").out
    run("follow", "house", "zep")
    run("flush")
    assert "has not run" not in run("recall", "when?", "--by", "zep").out


def test_a_rerun_says_how_all_of_it_is_taken_back(run: Run) -> None:
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.")
    run("flush")
    run("add", "She works at Acme.")  # what still waits is read before, so that the range holds nothing of others
    told = run("rerun", "zep").out
    (taken_back,) = re.findall(r"take it back: mnemic (undo \d+\.\.\d+)$", told, re.MULTILINE)
    anew = {one["id"] for one in run("list", "--by", "zep", "--json").lines}
    run(*taken_back.split())
    before = {one["id"] for one in run("list", "--by", "zep", "--json").lines}
    assert before
    assert not before & anew
    assert run("list", "--by", "house").out
    first, last = map(int, taken_back.removeprefix("undo ").split(".."))
    assert run("rerun", "zep", "--json").json["first_commit"] > last > first


def test_a_choice_that_leaves_one_out_says_so_and_how_to_keep_it(run: Run) -> None:
    told = run("follow", "zep").out
    assert "this memory follows zep" in told
    assert "no longer house (its rules keep standing instructions and the profile): `mnemic follow house zep`" in told
    assert "no longer" not in run("follow", "house", "zep").out
    record = run("follow", "mem0", "--json").json
    assert (record["following"], record["dropped"]) == (["mem0"], ["house", "zep"])
    assert "no longer mem0: `mnemic follow mem0 house`" in run("follow", "--default").out
    run("follow", "house", "zep")
    told = run("follow", "--none").out
    assert (
        "no longer house (its rules keep standing instructions and the profile), zep: `mnemic follow house zep`" in told
    )


def test_a_strategy_of_ones_own_is_followed_once_the_setting_names_it_as_the_error_says(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("follow", "promises"), ("recall", "x", "--by", "promises"), ("strategies", "promises")):
        run("add", "x")
        assert "export MNEMIC_STRATEGIES=house,package.module:Class" in run(*command, code=2).err
    assert (
        "export MNEMIC_STRATEGIES=house,ours.promises:Promises" in run("follow", "ours.promises:Promises", code=2).err
    )
    assert "MNEMIC_STRATEGIES=house,package.module:Class" in run("strategies", "--help").out
    (Path.cwd() / "promised.py").write_text(
        "from mnemic.strategies.house import House\n\n\nclass Promises(House):\n    name = by = 'promises'\n"
    )
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.setenv("MNEMIC_STRATEGIES", "house,promised:Promises")
    assert run("follow", "house", "promises", "--json").json["following"] == ["house", "promises"]
    refused = run("follow", "promised:Promises", code=2).err
    assert "it is followed by its name" in refused


def test_after_what_a_strategy_derived_was_hidden_one_is_told_how_to_have_it_back(run: Run) -> None:
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    run("flush")
    run("forget", "--by", "zep")
    rerun = "`mnemic rerun zep` has it"
    assert rerun in run("graph").err
    assert rerun in run("graph", "--by", "zep").err
    assert f"all that zep derived here was hidden; {rerun}" in run("recall", "where?", "--by", "zep").out
    run("follow", "house")
    follow_first = "`mnemic follow house zep`, then `mnemic rerun zep` has it"
    assert follow_first in run("graph").err
    assert follow_first in run("recall", "where?", "--by", "zep").out
    run("follow", "house", "zep")
    run("rerun", "zep")
    assert "wrote" in run("graph").out
    assert "hidden" not in run("recall", "where?", "--by", "zep").out


def test_a_strategy_that_found_nothing_is_said_to_have_found_nothing(run: Run) -> None:
    run("follow", "house", "zep")
    run("add", "It rains.")
    run("flush")
    assert "zep found nothing to relate" in run("graph").err
    assert "nothing of it was known then" in run("graph", "--as-of", "2001-01-01").err


def test_a_name_that_is_a_command_of_its_own_is_pointed_to(run: Run) -> None:
    run("add", "It rains.")
    assert "mnemic rerun zep" in run("jobs", "rerun", "zep", code=2).err
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    assert "wrote" in run("graph", "--html", "-o", "it.html").out
    run("graph", "--html", "--dot", code=2)


PETS = """
from mnemic.core.items import Kind
from mnemic.strategies import Budget, Derivation, EachEvent, Edits
from mnemic.strategies.base import nothing


class Pets:
    name = by = "pets"
    reads = frozenset({Kind.TURN})
    triggers = (EachEvent(),)
    maintain = ()
    budget = Budget()
    batch = 8

    def on_write(self, given):
        yield from ()
        return Edits(
            write=tuple(
                Derivation(
                    key=f"pets:{turn.id}:0", kind=Kind.INSIGHT, text=turn.text, slots={"by": "pets"},
                    source=(turn.id,), said=turn.said,
                )
                for turn in given.evidence
            )
        )

    on_maintain = nothing
"""


def test_a_strategy_that_was_taken_out_is_named_wherever_one_looks_and_what_it_derived_can_go(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path.cwd() / "petted.py").write_text(PETS)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    with monkeypatch.context() as named:
        named.setenv("MNEMIC_STRATEGIES", "house,petted:Pets")
        run("follow", "pets")
        run("add", "I live in Lisbon.", "--role", "user")
        run("flush")
        assert run("list", "--by", "pets", "--json").lines
    run("flush")  # nothing waits for it
    run("add", "I work as a baker.", "--role", "user")
    why = "no strategy of that name is known here"
    flushed = run("flush", code=9)
    assert ("1 passage left" in flushed.out, why in flushed.out) == (True, True)
    (entry,) = run("jobs", "--json").json["entries"]
    assert (entry["name"], entry["state"], entry["pending"], why in entry["error"]) == ("pets", "failing", 1, True)
    assert "mnemic forget --by pets" in run("jobs").out
    assert why in run("follow").err
    assert run("follow", "--json").json["lost"] == ["pets"]
    recalled = run("recall", "where do I live?", "--by", "pets").out
    assert ("Lisbon" in recalled, "known here any more" in recalled) == (True, True)
    run("forget", "--by", "pets")
    assert run("list", "--by", "pets", "--json").lines == []
    assert why in run("jobs").out
    run("follow", "house")
    run("flush")
    assert "nothing is waiting" in run("jobs").out
    assert "no strategy that is known here" in run("forget", "--by", "cats", code=2).err


def test_a_list_leaves_out_what_strategies_keep_for_themselves_and_says_how_much(ada: Run) -> None:
    shown, every = ada("list", "--limit", "100"), ada("list", "--limit", "200", "--derived")
    records = ada("list", "--limit", "100", "--json").lines
    assert len(records) == len(shown.out.splitlines()) < len(every.out.splitlines())
    assert {one["kind"] for one in records} == {"turn", "profile"}
    left_out = len(every.out.splitlines()) - len(records)
    assert f"{left_out} more items for strategies' own recall: --derived, or --by NAME" in shown.err
    assert "own recall" not in every.err
    assert ada("list", "--by", "zep").out
    assert "own recall" not in ada("list", "--by", "zep").err
    assert {one["kind"] for one in ada("list", "--by", "house", "--json").lines} == {"profile"}
    assert "nothing here" in ada("list", "--kind", "entity").err
    assert "own recall" in ada("list", "--kind", "entity").err


def test_what_was_hidden_by_itself_stays_so_through_a_rerun_and_that_is_said(run: Run) -> None:
    run("follow", "house", "zep")
    run("add", "I live in Bristol.")
    run("flush")
    assert "stay hidden" not in run("rerun", "zep").out
    told = run("forget", "--by", "zep").out
    assert "bring back: mnemic undo" in told
    assert "derive anew: mnemic rerun zep" in told
    assert run("list", "--by", "zep").out == ""
    assert "stay hidden" not in run("rerun", "zep").out
    derived = run("list", "--by", "zep", "--json").lines
    run("forget", *(one["id"] for one in derived))
    told = run("rerun", "zep").out
    assert f"{len(derived)} items that you hid stay hidden: `mnemic log` shows which commit to undo" in told
    assert run("list", "--by", "zep").out == ""
