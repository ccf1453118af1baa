"""The loaders of the public sets, on made-up files laid out as the published ones are, with the faults these have."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import script

ROOT = Path(__file__).parents[2]
FRIENDS = ROOT / "tests" / "fixtures" / "two_friends.json"


@pytest.fixture(scope="module")
def sets() -> Iterator[Any]:
    """The loaders, which are a script beside the benchmarks and no part of the package."""
    yield from script("sets")


@pytest.fixture(scope="module")
def cases() -> Iterator[Any]:
    """What the loaders make."""
    yield from script("cases")


def written(path: Path, value: Any) -> Path:
    """A file with this value as JSON, in a folder that is made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=4), encoding="utf-8")
    return path


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    """The conversation of two friends with questions, some of whose evidence is written badly."""
    data = json.loads(FRIENDS.read_text(encoding="utf-8"))
    data[0]["qa"] = [
        {"question": "Where did Rosa sign a lease?", "category": 4, "evidence": ["D1:1"], "answer": "by the river"},
        {"question": "What about the bakery?", "category": 1, "evidence": ["D1:2; D1:03", "D:2:1"], "answer": 2022},
        {"question": "Nothing that is there?", "category": 2, "evidence": ["D9:1", "D"]},
        {"question": "Half of it?", "category": 3, "evidence": ["D1:4", "D77:1"]},
        {"question": "Something nobody said?", "category": 5, "evidence": ["D1:5"], "adversarial_answer": "no"},
    ]
    return written(tmp_path / "friends.json", data)


# --- LoCoMo and LoCoMo-Plus


def test_locomo_becomes_turns_and_questions_and_bad_evidence_is_mended_or_counted(sets: Any, friends: Path) -> None:
    (case,) = sets.read_locomo(friends)
    assert (case.name, len(case.turns)) == ("studio", 20)
    assert [(one.category, sorted(one.evidence), one.answer) for one in case.questions] == [
        ("single-hop", ["D1:1"], "by the river"),
        ("multi-hop", ["D1:2", "D1:3", "D2:1"], "2022"),
        ("open-domain", ["D1:4"], ""),
    ]
    assert (case.repaired, case.dropped) == (3, 3)  # "D9:1" and "D77:1" name no turn, "D" is no id


def test_locomo_evidence_that_is_a_text_is_one_entry_and_none_is_none(sets: Any, friends: Path) -> None:
    data = json.loads(friends.read_text(encoding="utf-8"))
    data[0]["qa"] = [
        {"question": "One?", "category": 4, "evidence": "D1:1"},
        {"question": "Two?", "category": 1, "evidence": "D1:2; D1:03"},
        {"question": "None?", "category": 2, "evidence": None},
    ]
    [case] = sets.read_locomo(written(friends, data))
    assert [sorted(one.evidence) for one in case.questions] == [["D1:1"], ["D1:2", "D1:3"]]
    assert (case.repaired, case.dropped) == (2, 0)


@pytest.mark.parametrize("category", [6, "4", None])
def test_a_locomo_question_of_an_unknown_category_is_named(sets: Any, friends: Path, category: object) -> None:
    data = json.loads(friends.read_text(encoding="utf-8"))
    data[0]["qa"][1]["category"] = category
    named = rf"question 2 of .+ has category {category!r}, expected 1, 2, 3, 4, 5"
    with pytest.raises(SystemExit, match=named):
        list(sets.chosen(f"locomo={written(friends, data)}").cases())


def test_adversarial_questions_are_asked_when_their_category_is(sets: Any, friends: Path) -> None:
    (case,) = sets.chosen(f"locomo={friends}").cases(adversarial=True)
    assert [one.category for one in case.questions][-1] == "adversarial"
    (case,) = sets.chosen(f"locomo={friends}").cases()
    assert "adversarial" not in {one.category for one in case.questions}


def test_a_locomo_plus_dialogue_hides_in_a_history_and_is_the_evidence_of_its_remark(
    sets: Any, friends: Path, tmp_path: Path
) -> None:
    cue = {"relation_type": "causal", "cue_dialogue": "A: I gave my bicycle away.\nB: To whom?",
           "trigger_query": "A: The bus was late.", "time_gap": "two weeks later", "model_name": "m",
           "scores": {"bm25": 1.5}, "ranks": {"bm25": 3}, "final_similarity_score": 0.5}  # fmt: skip
    other = cue | {"cue_dialogue": "A: I gave my bicycle away.\\nB: To whom?", "time_gap": "about seven months later"}
    path = written(tmp_path / "locomo_plus.json", [cue, other])
    (case,) = sets.chosen(f"locomo-plus={path}", friends).cases()
    assert len(case.turns) == 24
    hidden = {turn.key: turn.message for turn in case.turns if turn.session.startswith("cue")}
    assert [(key, one["name"], one["content"]) for key, one in sorted(hidden.items())] == [
        (f"cue-{number}:{line}", *said)
        for number in (0, 1)
        for line, said in ((1, ("Rosa", "I gave my bicycle away.")), (2, ("Owen", "To whom?")))
    ]
    assert [(case.asked_at - hidden[key]["occurred_at"]).days for key in ("cue-0:1", "cue-1:1")] == [13, 209]
    times = [turn.message["occurred_at"] for turn in case.turns]
    assert times == sorted(times)
    assert [(one.text, one.category, one.evidence) for one in case.questions] == [
        ("The bus was late.", "causal", frozenset({f"cue-{n}:1", f"cue-{n}:2"})) for n in (0, 1)
    ]
    assert [one.aside for one in case.questions] == [case.questions[1].evidence, case.questions[0].evidence]


@pytest.mark.parametrize(
    ("dialogue", "said"),
    [
        ("A: I left early.\nB: Why?", [("A", "I left early."), ("B", "Why?")]),
        ("A: I left early.\\nB: Why?", [("A", "I left early."), ("B", "Why?")]),
        ("A: I left early. B: Why?", [("A", "I left early."), ("B", "Why?")]),
        ("A: We had a plan B: leave early.", [("A", "We had a plan B: leave early.")]),
        ("I left early.", []),
    ],
)
def test_who_speaks_is_read_however_the_lines_are_broken(sets: Any, dialogue: str, said: list[tuple[str, str]]) -> None:
    assert sets.spoken_by(dialogue) == said


@pytest.mark.parametrize(
    ("gap", "days"),
    [("one week later", 7), ("about a month later", 30), ("around eleven months later", 330),
     ("approximately 2 years later", 730), ("the same day", 0), ("", 0)],
)  # fmt: skip
def test_a_gap_is_read_as_days(sets: Any, gap: str, days: int) -> None:
    assert sets.days_ago(gap) == days


# --- LongMemEval


def history(name: str, **more: Any) -> dict[str, Any]:
    """An instance with two sessions, the second of which holds the answer."""
    said = [
        {"role": "user", "content": "I bought a kayak", "has_answer": True},
        {"role": "assistant", "content": "Nice", "has_answer": False},
    ]
    return {"question_id": name, "question_type": "single-session-user", "question": "What did I buy?",
            "answer": "a kayak", "question_date": "2023/05/30 (Tue) 10:00",
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00"],
            "haystack_session_ids": ["sharegpt_yywfIrx_0", "answer_4be1b6b4_2"],
            "haystack_sessions": [[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}], said],
            "answer_session_ids": ["answer_4be1b6b4_2"], **more}  # fmt: skip


def test_a_longmemeval_history_is_a_case_and_its_marked_turns_are_the_evidence(sets: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "longmemeval_s", [history("e47becba")])
    (case,) = sets.chosen(f"longmemeval={path}").cases()
    assert [turn.key for turn in case.turns] == ["sharegpt_yywfIrx_0:1", "answer_4be1b6b4_2:1", "answer_4be1b6b4_2:2"]
    assert case.turns[1].message["occurred_at"] == datetime(2023, 5, 21, 9, 0, 1, tzinfo=UTC)
    assert case.ended_at == datetime(2023, 5, 30, 10, tzinfo=UTC)  # when the question is asked
    (asked,) = case.questions
    assert (asked.evidence, asked.sessions) == ({"answer_4be1b6b4_2:1"}, {"answer_4be1b6b4_2"})
    assert (asked.category, asked.answer) == ("single-session-user", "a kayak")


def test_a_longmemeval_question_without_an_answer_has_no_evidence(sets: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "s.json", [history("0862e8bf_abs", answer="You did not say what you bought.")])
    (case,) = sets.read_longmemeval(path)
    (asked,) = case.questions
    assert (asked.labelled, asked.category, case.dropped) == (False, "abstention", 0)
    assert asked.answer == "You did not say what you bought."


def test_longmemeval_is_read_with_the_faults_it_has(sets: Any, tmp_path: Path) -> None:
    """A number as answer, a session twice, a turn of nothing, characters no database holds, a session not there."""
    said = [{"role": "user", "content": "a\x00b \ud83d"}, {"role": "assistant", "content": None}]
    item = history("q", answer=3, haystack_sessions=[said, said], haystack_session_ids=["s", "s"],
                   answer_session_ids=["s", "s9"])  # fmt: skip
    path = tmp_path / "s.json"
    path.write_text(json.dumps([item]), encoding="utf-8")
    (case,) = sets.read_longmemeval(path)
    assert [(turn.key, turn.message["content"]) for turn in case.turns] == [("s:1", "a\ufffdb \ufffd")] * 2
    (asked,) = case.questions
    assert (asked.evidence, asked.sessions, asked.answer, case.dropped) == (frozenset(), {"s"}, "3", 1)


def test_a_list_larger_than_what_is_read_at_a_time_is_read_item_by_item(
    sets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "LETTERS", 7)
    rows = [{"a": "ä" * length, "b": [1, {"c": "]}, {"}]} for length in (0, 3, 50)]
    for indent in (None, 2):
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(rows, indent=indent, ensure_ascii=False), encoding="utf-8")
        assert list(sets.items(path)) == rows
    for cut in ('[{"a": 1}, {"a"', '{"a": 1}', "", "[1, 2"):
        path.write_text(cut, encoding="utf-8")
        with pytest.raises(ValueError, match=r"no list|delimiter|value"):
            list(sets.items(path))


# --- BEAM


def said(number: int, role: str, **more: Any) -> dict[str, Any]:
    """A message of a chat."""
    return {"role": role, "id": number, "content": f"message {number}", **more}


ABILITIES = {
    "abstention": [{"question": "no evidence", "ideal_response": "It was not said.", "rubric": []}],
    "contradiction_resolution": [
        {"question": "which is true", "ideal_answer": "You said both.",
         "source_chat_ids": {"first_statement": [2], "second_statement": [0]}}],
    "event_ordering": [{"question": "which first", "answer": "one, two", "source_chat_ids": [0, 2, 2, 99]}],
    "instruction_following": [{"question": "how", "expected_compliance": "with dates", "source_chat_ids": [3]}],
    "summarization": [{"question": "all of it", "ideal_summary": "It went well.", "source_chat_ids": ["--"]}],
}  # fmt: skip
SESSIONS = [
    {"batch_number": 1, "turns": [[said(0, "user", time_anchor="March-15-2024", index="1,1", question_type="main") |
                                   {"content": "message 0 ->-> 1,1"}, said(1, "assistant")]]},
    {"batch_number": 2, "turns": [[said(2, "user", time_anchor="April-02-2024")],
                                  [said(3, "assistant"), said(4, "user") | {"content": " "}]]},
]  # fmt: skip
MESSAGES = [[one for turn in batch["turns"] for one in turn] for batch in SESSIONS]


def check_beam(case: Any) -> None:
    """What each layout of the chat above is read as."""
    assert [(turn.key, turn.message["content"]) for turn in case.turns] == [(f"{n}", f"message {n}") for n in range(4)]
    assert [turn.session for turn in case.turns[:2]] != [turn.session for turn in case.turns[2:]]
    assert len({turn.session for turn in case.turns}) == 2
    days = [turn.message["occurred_at"].date().isoformat() for turn in case.turns]
    assert days == ["2024-03-15", "2024-03-15", "2024-04-02", "2024-04-02"]
    assert [(one.category, sorted(one.evidence), one.answer) for one in case.questions] == [
        ("abstention", [], "It was not said."),
        ("contradiction_resolution", ["0", "2"], "You said both."),
        ("event_ordering", ["0", "2"], "one, two"),
        ("instruction_following", ["3"], "with dates"),
        ("summarization", [], "It went well."),
    ]
    assert case.dropped == 1


def test_beam_folders_are_read_at_whatever_depth(sets: Any, tmp_path: Path) -> None:
    plans = [{"plan-1": SESSIONS[:1], "plan-2": None}, {"plan-1": None, "plan-2": SESSIONS[1:]}]
    for folder, chat in (("100K/7", SESSIONS), ("100K/10", MESSAGES), ("10M/1", plans)):
        written(tmp_path / "chats" / folder / "chat.json", chat)
        written(tmp_path / "chats" / folder / "probing_questions" / "probing_questions.json", ABILITIES)
    written(tmp_path / "chats" / "10M" / "1" / "plan-1" / "chat.json", SESSIONS)  # a part of the chat above it
    found = list(sets.chosen(f"beam={tmp_path / 'chats'}").cases())
    assert [case.name for case in found] == ["chats-10M-1", "chats-100K-7", "chats-100K-10"]
    for case in found:
        check_beam(case)
    (one,) = sets.chosen(f"beam={tmp_path / 'chats' / '10M'}").cases()
    assert one.name == "10M-1"


def test_a_beam_chat_that_was_cut_is_read_as_it_was_asked_about(sets: Any, tmp_path: Path) -> None:
    written(tmp_path / "1" / "chat.json", [*SESSIONS, {"turns": [[said(9, "user")]]}])
    written(tmp_path / "1" / "chat_trunecated.json", SESSIONS)
    written(tmp_path / "1" / "probing_questions" / "probing_questions.json", ABILITIES)
    (case,) = sets.read_beam(tmp_path)
    check_beam(case)


def test_questions_of_a_beam_chat_that_is_not_there_are_left_out_aloud(
    sets: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("1", "2"):
        written(tmp_path / name / "probing_questions" / "probing_questions.json", ABILITIES)
    written(tmp_path / "2" / "chat.json", SESSIONS)
    for _ in range(2):
        (case,) = sets.chosen(f"beam={tmp_path}").cases()
        check_beam(case)
    assert capsys.readouterr().err == f"{tmp_path / '1'} has questions and no chat.json: left out\n"


def test_rows_of_beam_are_read_as_the_hub_has_them(sets: Any, tmp_path: Path) -> None:
    row = {"conversation_id": "3", "chat": MESSAGES, "probing_questions": repr(ABILITIES), "narratives": "…"}
    (case,) = sets.chosen(f"beam={written(tmp_path / '100K-rows.json', [row])}").cases()
    assert case.name == "100K-3"
    check_beam(case)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_downloads_of_beam_are_read_by_pyarrow(sets: Any, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data" / f"100K-00000-of-00001.{kind}"
    path.parent.mkdir()
    path.write_bytes(b"")
    arrow = None
    try:
        import pyarrow as arrow  # type: ignore[import-not-found, no-redef]
    except ImportError:
        with pytest.raises(SystemExit, match="pip install pyarrow"):
            list(sets.chosen(f"beam={path.parent}").cases())
        return
    from pyarrow import ipc, parquet  # type: ignore[import-not-found]

    # Every message of a column has every field there: what one does not say is null.
    table = arrow.Table.from_pylist(
        [{"conversation_id": "3", "chat": MESSAGES, "probing_questions": repr(ABILITIES)}] * 2
    )
    table = table.set_column(0, "conversation_id", [["3", "4"]])
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        with path.open("wb") as out, ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    found = list(sets.chosen(f"beam={path.parent}").cases())
    assert [case.name for case in found] == ["100K-3", "100K-4"]
    for case in found:
        check_beam(case)


def test_a_number_that_a_beam_chat_has_twice_is_found_with_either_message(sets: Any, tmp_path: Path) -> None:
    written(tmp_path / "1" / "chat.json", [[said(0, "user"), said(0, "assistant") | {"content": "again"}]])
    asked = {"information_extraction": [{"question": "what", "answer": "a", "source_chat_ids": [0]}]}
    written(tmp_path / "1" / "probing_questions" / "probing_questions.json", asked)
    (case,) = sets.read_beam(tmp_path)
    assert [turn.key for turn in case.turns] == ["0", "0"]
    assert case.questions[0].evidence == {"0"}
    assert "occurred_at" not in case.turns[0].message


# --- MemDaily


def trajectory(**more: Any) -> dict[str, Any]:
    """Two messages and a question."""
    messages = [
        {"mid": n, "message": text, "time": f"2024年04月0{n + 1}日 周一 08:18", "place": "广东深圳"}
        for n, text in enumerate(("我姓王", "我养猫"))
    ]
    asked = {"qid": 0, "question": "我养什么？", "answer": "猫", "target_step_id": [1, 2], "ground_truth": "B",
             "choices": {"A": "狗", "B": "猫"}, "time": "2024年04月05日 周五 18:28", **more}  # fmt: skip
    return {"tid": 0, "message_list": messages, "question_list": [asked]}


def test_a_memdaily_trajectory_is_a_case_and_failed_questions_are_left_out(sets: Any, tmp_path: Path) -> None:
    rows = [trajectory(), trajectory(question="[ERRORQ]"), trajectory(answer="[ERRORA]")]
    written(tmp_path / "05_post_processing_roles.json", rows)
    good, *bad = sets.chosen(f"memdaily={tmp_path}").cases()
    assert [turn.message["content"] for turn in good.turns] == ["我姓王", "我养猫"]
    assert good.turns[1].message["occurred_at"] == datetime(2024, 4, 2, 8, 18, 1, tzinfo=UTC)
    assert good.ended_at == datetime(2024, 4, 5, 18, 28, tzinfo=UTC)
    (asked,) = good.questions
    assert (asked.category, asked.evidence, good.dropped) == ("post_processing", {"1"}, 1)  # there is no third message
    assert (asked.answer, asked.choices) == ("(B)", ("(A) 狗", "(B) 猫"))
    assert [one.questions for one in bad] == [[], []]


def test_memdaily_is_read_from_the_file_of_all_kinds_and_with_noise(sets: Any, tmp_path: Path) -> None:
    whole = trajectory()
    whole["QA"] = whole.pop("question_list")[0]
    noisy = whole | {"message_list": ["我姓王 (消息地点 广东深圳, 消息时间 2024年04月01日 周一 08:18)", "我养猫"]}
    path = written(
        tmp_path / "memdaily.json", {"simple": {"roles": [whole], "items": None}, "noisy": {"roles": [noisy]}}
    )
    found = list(sets.chosen(f"memdaily={path}").cases())
    assert [(case.name, case.questions[0].category) for case in found] == [
        ("simple_roles-0", "simple"), ("noisy_roles-0", "noisy")
    ]  # fmt: skip
    assert found[1].turns[1].message["content"] == "我养猫"


# --- PersonaMem

HEAD = (
    "persona_id", "question_id", "question_type", "topic", "context_length_in_tokens", "context_length_in_letters",
    "distance_to_ref_in_blocks", "distance_to_ref_in_tokens", "num_irrelevant_tokens",
    "distance_to_ref_proportion_in_context", "user_question_or_message", "correct_answer", "all_options",
    "shared_context_id", "end_index_in_shared_context",
)  # fmt: skip


def personas(folder: Path, size: str = "32k") -> Path:
    """The two files of a size."""
    talk = [{"role": "system", "content": "Current user persona: Kim."},
            {"role": "user", "content": "User: I like jazz"}, {"role": "assistant", "content": "Assistant: Good"},
            {"role": "system", "content": "Again."},
            {"role": "user", "content": "Patient: I like rock now"}, {"role": "assistant", "content": ""}]  # fmt: skip
    lines = "".join(json.dumps({name: talk}) + "\n" for name in ("c1", "c2"))
    (folder / f"shared_contexts_{size}.jsonl").write_text(lines, encoding="utf-8")
    with (folder / f"questions_{size}.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(HEAD)
        for kind, asked, answer, options, end in (
            ("recall_user_shared_facts", "What music?", "(b)", ["(a) none, I'm sure", '(b) "jazz"'], 3),
            ("track_full_preference_evolution", "And now?", "(a)", ["(a) rock", "(b) jazz"], 6),
        ):
            rows.writerow(("0", "q", kind, "music", *"123456", asked, answer, repr(options), "c1", end))
    return folder / f"questions_{size}.csv"


def test_personamem_is_asked_where_its_conversation_has_come_to(sets: Any, tmp_path: Path) -> None:
    path = personas(tmp_path)
    for given in (path, tmp_path):
        early, late = sets.chosen(f"personamem={given}").cases()
        assert [[turn.session for turn in case.turns] for case in (early, late)] == [
            ["session-1", "session-1"],
            ["session-1", "session-1", "session-2"],
        ]
        assert [turn.message["content"] for turn in late.turns] == ["I like jazz", "Good", "I like rock now"]
        assert [(one.answer, one.choices) for one in early.questions] == [("(b)", ("(a) none, I'm sure", '(b) "jazz"'))]
        assert not early.questions[0].labelled


def test_the_columns_of_an_earlier_personamem_are_read_too(sets: Any, tmp_path: Path) -> None:
    path = personas(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("user_question_or_message", "question"), encoding="utf-8")
    assert [case.questions[0].text for case in sets.chosen(f"personamem={path}").cases()] == ["What music?", "And now?"]


def exported(folder: Path) -> Path:
    """The same persona as the Agent Memory Benchmark exports it."""
    sessions = [
        "[SYSTEM] Current user persona: Kim.\n\n[USER] User: I like jazz\n\nA lot\n\n[ASSISTANT] Assistant: Good",
        "[SYSTEM] Again.\n\n[USER] User: I like rock now",
    ]
    documents = [
        {"id": f"c1_{n}", "content": text, "user_id": "c1", "timestamp": None} for n, text in enumerate(sessions)
    ]
    queries = [
        {"id": f"q{n}", "query": f"User: Kim\n\n{asked}\n\n(a) rock,\nloud\n(b) jazz", "gold_answers": [whole, letter],
         "gold_ids": past, "user_id": "c1", "meta": {"question_type": kind, "retrieval_query": f"User: Kim\n\n{asked}"}}
        for n, (asked, whole, letter, past, kind) in enumerate((
            ("And now?", "(a) rock,\nloud", "a", ["c1_0", "c1_1"], "track_full_preference_evolution"),
            ("What music?", "(b) jazz", "b", ["c1_0"], "recall_user_shared_facts"),
        ))
    ]  # fmt: skip
    for name, held in (("documents", documents), ("queries", queries)):
        with gzip.open(folder / f"{name}.json.gz", "wt", encoding="utf-8") as stream:
            json.dump(held, stream)
    return folder / "queries.json.gz"


def test_personamem_is_read_as_the_agent_memory_benchmark_exports_it(sets: Any, tmp_path: Path) -> None:
    path = exported(tmp_path)
    for given in (path, tmp_path):
        early, late = sets.chosen(f"personamem={given}").cases()
        assert [turn.message["content"] for turn in early.turns] == ["I like jazz\n\nA lot", "Good"]
        assert [(turn.session, turn.message["role"]) for turn in late.turns] == [
            ("session-1", "user"), ("session-1", "assistant"), ("session-2", "user")
        ]  # fmt: skip
        assert [(one.text, one.category, one.answer, one.choices) for one in late.questions] == [
            ("And now?", "track_full_preference_evolution", "(a)", ("(a) rock,\nloud", "(b) jazz"))
        ]
        assert not late.questions[0].labelled


def test_the_hash_of_personamem_holds_its_conversations_too(sets: Any, tmp_path: Path) -> None:
    csvs, packed = tmp_path / "csv", tmp_path / "packed"
    csvs.mkdir()
    packed.mkdir()
    assert [one.name for one in sets.chosen(f"personamem={personas(csvs)}").files] == [
        "questions_32k.csv", "shared_contexts_32k.jsonl"
    ]  # fmt: skip
    assert [one.name for one in sets.chosen(f"personamem={exported(packed)}").files] == [
        "queries.json.gz", "documents.json.gz"
    ]  # fmt: skip


@pytest.mark.parametrize("harm", ["cut", "gone", "no session"])
def test_a_damaged_export_of_personamem_is_said(sets: Any, tmp_path: Path, harm: str) -> None:
    path, documents = exported(tmp_path), tmp_path / "documents.json.gz"
    if harm == "cut":
        documents.write_bytes(documents.read_bytes()[:-20])
    elif harm == "gone":
        documents.unlink()
    else:
        documents.write_bytes(gzip.compress(b"[]"))
    with pytest.raises(SystemExit, match=f"personamem={path}: expected questions_32k.csv .* could not read it"):
        list(sets.chosen(f"personamem={path}").cases())


def test_a_folder_with_several_sizes_of_personamem_is_not_guessed_at(sets: Any, tmp_path: Path) -> None:
    personas(tmp_path)
    personas(tmp_path, "1M")
    with pytest.raises(SystemExit, match="several sizes"):
        list(sets.chosen(f"personamem={tmp_path}").cases())


# --- the demo, and what is chosen


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
        list(sets.chosen(f"locomo-plus={tmp_path}").cases())


def test_files_of_another_layout_are_named_with_what_was_expected(sets: Any, tmp_path: Path) -> None:
    empty, other = tmp_path / "empty", written(tmp_path / "other.json", [{"id": 1}])
    empty.mkdir()
    for name in ("beam", "memdaily", "personamem"):
        with pytest.raises(SystemExit, match=f"{name}=.*expected .* but found no conversation"):
            list(sets.chosen(f"{name}={empty}").cases())
    for name in ("locomo", "longmemeval", "beam", "memdaily", "personamem"):
        with pytest.raises(SystemExit, match=f"{name}=.*expected .* but could not read it"):
            list(sets.chosen(f"{name}={other}").cases())
    broken = tmp_path / "s.json"
    broken.write_text(json.dumps([history("one"), history("two", haystack_dates=[])]), encoding="utf-8")
    with pytest.raises(SystemExit, match="could not read it after one"):
        list(sets.chosen(f"longmemeval={broken}").cases())


def test_every_public_set_says_its_licence_and_its_layout(sets: Any) -> None:
    assert all(known.licence and known.source for known in sets.SETS.values())
    assert all(known.layout for name, known in sets.SETS.items() if name not in sets.OWN)
    assert "CC BY-NC 4.0" in sets.Chosen("locomo", Path("x")).about


# --- which questions


def test_a_look_counts_what_can_be_asked(cases: Any, sets: Any, friends: Path) -> None:
    found = cases.look(sets.read_locomo(friends), lambda question: question.category != "multi-hop")
    assert found.names == ["studio#0", "studio#2"]
    assert (found.cases, found.turns, found.others, found.repaired, found.dropped) == (1, 20, 1, 3, 3)
    assert "1 conversations, 20 turns, 2 questions (1 open-domain, 1 single-hop)" in found.told()
    with pytest.raises(SystemExit, match="'studio'"):
        cases.look([*sets.read_locomo(friends)] * 2, lambda _: True)


def test_a_draw_is_the_same_every_time_and_grows(cases: Any) -> None:
    names = [f"q{number}" for number in range(50)]
    assert cases.draw(names, 5, 1) == cases.draw(names, 5, 1) < cases.draw(names, 9, 1) < set(names)
    assert cases.draw(names, 5, 1) != cases.draw(names, 5, 2)
    assert cases.draw(names, None, 1) == set(names)


def test_only_what_was_drawn_is_asked_under_the_name_it_always_has(cases: Any) -> None:
    def case(name: str) -> Any:
        asked = [cases.Question(text, "kind", frozenset()) for text in ("a", "b")]
        return cases.Case(name, questions=asked)

    (one,) = cases.only([case("x"), case("y")], {"y#1"})
    assert [(name, question.text) for name, question in one.asked()] == [("y#1", "b")]


def test_a_path_for_a_set_of_the_projects_own_is_refused(sets: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="the project's own, and takes no path"):
        sets.chosen(f"demo={tmp_path}")


def test_each_set_says_what_was_tuned_on_it(cases: Any, sets: Any, friends: Path) -> None:
    known = sets.SETS
    assert "none is held out" in known["demo"].tuned_on(["demo"])
    assert known["advice"].tuned_on(["a"]) == known["cues"].tuned_on(["cues"]) == sets.HALF_TUNED
    assert known["beam"].tuned_on(["1"]) == "Nothing was tuned on this set."
    assert "1 of the 2 conversations measured here" in known["locomo"].tuned_on(["conv-26", "conv-44"])
    found = cases.look(sets.read_locomo(friends), lambda question: question.labelled)
    assert len(found.conversations) == found.cases


@pytest.mark.parametrize("name", ["advice", "cues", "demo", "locomo"])
def test_the_page_says_what_was_tuned_on_a_set(sets: Any, name: str) -> None:
    record = json.loads((ROOT / "benchmarks" / "results" / f"quality-{name}.json").read_text(encoding="utf-8"))
    assert record["notes"][0].startswith(sets.SETS[name].tuned)
