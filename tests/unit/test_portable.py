"""The readers of other products' files: what each finds in a sample of its format, and what it cannot read."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from engram import InvalidInput, ingest
from engram.portable import FORMATS, READERS, letta, markdown, own, reader_of, table
from engram.portable.files import File
from engram.portable.items import Item, Problem, Said, moment
from tests.growth import assert_linear

MEM0: Final = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
            "memory": "Loves hiking in the mountains",
            "hash": "6a8f0d9f6a5e4c0c8d9f0f3a4b5c6d7e",
            "metadata": {"season": "summer"},
            "score": 0.87,
            "created_at": "2024-07-01T09:00:00-07:00",
            "updated_at": "2024-08-02T10:00:00-07:00",
            "user_id": "ada",
            "categories": ["hobbies", "sports"],
            "agent_id": "guide",
            "expiration_date": None,
        },
        {"id": 7, "memory": "Is allergic to nuts", "created_at": "2024-07-03T09:00:00Z", "user_id": "bob"},
        {"id": "x", "text": "no memory here"},
    ],
    "relations": [{"source": "ada", "relationship": "climbed_with", "target": "bob"}, {"source": "ada"}],
}
ZEP: Final = {
    "episodes": [
        {
            "uuid": "e-1",
            "name": "chat 1",
            "source": "message",
            "source_description": "support chat",
            "group_id": "g",
            "content": "Ada: I work at the harbour now.",
            "created_at": "2024-02-01T10:00:05Z",
            "valid_at": "2024-02-01T10:00:00Z",
        },
    ],
    "nodes": [
        {
            "uuid": "n-1",
            "name": "Ada",
            "labels": ["Entity", "Person"],
            "summary": "Ada is a carpenter.",
            "group_id": "g",
            "created_at": "2024-02-01T10:00:05Z",
            "name_embedding": [0.1, 0.2],
        },
        {"uuid": "n-2", "name": "Harbour", "labels": ["Entity"], "summary": "", "created_at": "2024-02-01T10:00:05Z"},
    ],
    "edges": [
        {
            "uuid": "f-1",
            "source_node_uuid": "n-1",
            "target_node_uuid": "n-2",
            "name": "WORKS_AT",
            "group_id": "g",
            "fact": "Ada works at the harbour",
            "fact_embedding": [0.3],
            "episodes": ["e-1"],
            "created_at": "2024-02-01T10:00:06Z",
            "valid_at": "2024-02-01T10:00:00Z",
            "invalid_at": "2025-01-01T00:00:00Z",
            "expired_at": "2025-01-02T08:00:00Z",
        },
        {
            "uuid": "f-2",
            "source_node_uuid": "n-1",
            "target_node_uuid": "n-2",
            "name": "LEFT",
            "fact": "Ada left the harbour",
            "episodes": [],
            "created_at": "2025-01-02T08:00:00Z",
            "valid_at": "2025-01-01T00:00:00Z",
            "invalid_at": None,
            "expired_at": None,
        },
        {
            "uuid": "f-3",
            "fact": "never",
            "source_node_uuid": "n-1",
            "valid_at": "2025-01-01T00:00:00Z",
            "invalid_at": "2024-01-01T00:00:00Z",
        },
    ],
}
LETTA: Final = {
    "agent_type": "memgpt_agent",
    "name": "boat-helper",
    "system": "You are a helper.",
    "tools": [],
    "version": "0.16.8",
    "core_memory": [
        {
            "label": "human",
            "value": "Name: Ada\n\n- Lives in Ottawa\n- Has a boat",
            "limit": 5000,
            "description": None,
            "created_at": "2025-01-01T00:00:00",
            "updated_at": "2025-03-01T00:00:00",
            "is_template": False,
            "template_name": None,
        },
        {
            "label": "persona",
            "value": "",
            "limit": 5000,
            "created_at": "2025-01-01T00:00:00",
            "updated_at": "2025-01-01T00:00:00",
        },
    ],
    "messages": [
        {
            "role": "system",
            "content": [{"type": "text", "text": "You are a helper."}],
            "created_at": "2025-01-01T00:00:00",
        },
        {
            "role": "user",
            "content": [{"type": "text", "text": "Paint it blue."}],
            "created_at": "2025-01-02T09:00:00",
            "name": "Ada",
        },
        {"role": "assistant", "content": [], "tool_calls": [{"id": "c"}], "created_at": "2025-01-02T09:00:01"},
    ],
    "passages": [
        {"id": "passage-1", "text": "The hull is oak.", "tags": ["hull"], "created_at": "2025-01-03T00:00:00Z"}
    ],
}
LANGMEM: Final = [
    {
        "namespace": ["memories", "ada"],
        "key": "k-1",
        "value": {"kind": "Memory", "content": {"content": "Ada likes jazz"}},
        "created_at": "2025-02-01T00:00:00+00:00",
        "updated_at": "2025-02-03T00:00:00+00:00",
        "score": None,
    },
    {
        "namespace": "profiles.ada",
        "key": "k-2",
        "value": {"language": "fr", "age": 41},
        "created_at": None,
        "updated_at": None,
    },
    {"namespace": ["x"], "key": "k-3", "value": "text"},
]
PLAIN: Final = [
    {
        "id": "p-1",
        "fact": "Ada sails",
        "type": "preference",
        "tags": ["sea"],
        "importance": 0.8,
        "valid_from": "2024-01-01",
        "colour": "blue",
        "metadata": {"from": "notes"},
        "user_id": "ada",
    },
    {"content": "Ada rows", "created_at": 1704067200},
    {"id": "p-3"},
]


def written(folder: Path, name: str, value: Any, *, lines: bool = False) -> File:
    text = (
        "\n".join(json.dumps(one) for one in value) if lines else value if isinstance(value, str) else json.dumps(value)
    )
    (folder / name).write_text(text, encoding="utf-8")
    return File(folder / name)


def found(file: File, format: str = "auto") -> list[Any]:
    return list(reader_of(file, format).read(file))


SAMPLES: Final[dict[str, tuple[str, Any]]] = {
    "mem0": ("mem0.json", MEM0),
    "zep": ("graph.json", ZEP),
    "letta": ("boat.af", LETTA),
    "langmem": ("store.json", LANGMEM),
    "jsonl": ("facts.json", PLAIN),
    "csv": ("facts.csv", "fact,tags\nAda sails,sea\n"),
    "markdown": ("notes.md", "- Ada sails\n"),
    "transcript": ("talk.json", [{"role": "user", "content": "hello"}]),
    "engram": ("out.jsonl", '{"kind":"engram","version":1,"tenant":"t","vectors":false}\n{"kind":"end"}\n'),
}


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_each_format_is_told_by_its_shape(tmp_path: Path, format: str) -> None:
    name, value = SAMPLES[format]
    assert format == reader_of(written(tmp_path, name, value), "auto").NAME


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES) == {reader.NAME for reader in READERS} == set(FORMATS) - {"auto"}


@pytest.mark.parametrize(
    ("format", "nothing"),
    [
        ("jsonl", []),
        ("jsonl", {"facts": [], "total": 0}),
        ("mem0", {"results": [], "relations": []}),
        ("langmem", {"items": []}),
        ("zep", {"episodes": [], "nodes": [], "edges": []}),
        ("transcript", {"messages": []}),
    ],
)
def test_an_export_without_an_entry_is_read_as_nothing(tmp_path: Path, format: str, nothing: Any) -> None:
    file = written(tmp_path, "none.json", nothing)
    assert format == reader_of(file, "auto").NAME
    if format != "transcript":
        assert found(file) == []


@pytest.mark.parametrize("other", [{}, {"results": [], "rows": [{"a": 1}]}, {"rows": []}])
def test_a_document_that_may_hold_something_else_is_not_taken_for_an_empty_export(tmp_path: Path, other: Any) -> None:
    with pytest.raises(InvalidInput):
        reader_of(written(tmp_path, "other.json", other), "auto")


@pytest.mark.parametrize(
    ("format", "entries"),
    [("mem0", MEM0["results"]), ("zep", ZEP["edges"]), ("langmem", LANGMEM), ("jsonl", PLAIN)],
    ids=["mem0", "zep", "langmem", "jsonl"],
)
def test_one_entry_a_line_is_read_like_one_document(tmp_path: Path, format: str, entries: list[Any]) -> None:
    by_lines = found(written(tmp_path, "a.jsonl", entries, lines=True))
    whole = found(written(tmp_path, "a.json", entries))
    assert format == reader_of(File(tmp_path / "a.jsonl"), "auto").NAME
    assert [getattr(one, "fact", None) for one in by_lines] == [getattr(one, "fact", None) for one in whole]
    assert len(by_lines) == len(entries)


def test_mem0_memories_keep_their_times_their_user_their_categories_and_what_else_there_is(tmp_path: Path) -> None:
    hikes, nuts, bad, climbed, half = found(written(tmp_path, "m.json", MEM0))
    assert (hikes.fact, hikes.user_id, hikes.trust) == ("Loves hiking in the mountains", "ada", "agent")
    assert hikes.occurred_at == datetime(2024, 7, 1, 16, tzinfo=UTC)
    assert hikes.memory["valid_from"] == datetime(2024, 8, 2, 17, tzinfo=UTC)
    assert hikes.memory["tags"] == ("hobbies", "sports")
    assert hikes.memory["metadata"]["season"] == "summer"
    assert hikes.memory["metadata"]["mem0"]["agent_id"] == "guide"
    assert hikes.memory["metadata"]["mem0"]["hash"]
    assert "score" not in hikes.memory["metadata"]["mem0"]
    assert (nuts.source_id, nuts.user_id) == ("7", "bob")
    assert isinstance(bad, Problem)
    assert bad.place == "entry 3"
    assert (climbed.fact, climbed.user_id) == ("ada climbed with bob", None)
    assert isinstance(half, Problem)


def test_mem0_categories_that_are_no_tags_are_kept_beside_them(tmp_path: Path) -> None:
    long = "everything about hiking and climbing"
    for categories, tagged, beside in (
        (["hobbies", "sports"], ("hobbies", "sports"), None),
        (["sports", long], ("sports", long[:32]), ["sports", long]),
        ([f"c{n}" for n in range(21)], tuple(f"c{n}" for n in range(20)), [f"c{n}" for n in range(21)]),
        ("sports", (), "sports"),
        ({"sports": "hiking"}, (), {"sports": "hiking"}),
        ([], (), None),
        (None, (), None),
    ):
        entry = {"id": "1", "memory": "Loves hiking", "categories": categories}
        (hikes,) = found(written(tmp_path, "m.json", {"results": [entry]}))
        assert hikes.memory["tags"] == tagged
        assert hikes.memory["metadata"]["mem0"].get("categories") == beside


def test_mem0_relations_are_of_the_user_they_name_or_of_the_one_the_file_is_of(tmp_path: Path) -> None:
    def users(memories: list[Any], *relations: dict[str, Any]) -> list[str | None]:
        told = [{"source": "ada", "relationship": "likes", "target": "tea", **one} for one in relations]
        path = written(tmp_path, "m.json", {"results": memories, "relations": told})
        *_, first, second = found(path, "mem0")
        return [first.user_id, second.user_id]

    ada, bob = ({"id": who, "memory": "Loves hiking", "user_id": who} for who in ("ada", "bob"))
    nobody = {"id": "x", "memory": "Rains a lot"}
    assert users([ada, {**ada, "id": "2"}], {}, {"user_id": "bob"}) == ["ada", "bob"]
    assert users([ada, bob], {}, {"user_id": "bob"}) == [None, "bob"]
    assert users([ada, nobody], {}, {}) == users([nobody], {}, {}) == users([], {}, {}) == [None, None]
    assert users([ada, {**bob, "user_id": 7}], {}, {}) == [None, None]
    wrong = {"source": "ada", "relationship": "likes", "target": "tea", "user_id": 7}
    *_, told = found(written(tmp_path, "m.json", {"results": [ada], "relations": [wrong]}))
    assert isinstance(told, Problem)


def test_a_fact_of_a_graph_ends_where_it_was_found_invalid_and_rests_on_its_episodes(tmp_path: Path) -> None:
    episode, ada, works, left, never = found(written(tmp_path, "g.json", ZEP))
    assert isinstance(episode, Said)
    assert (episode.role, episode.trust, episode.occurred_at) == ("user", "user", datetime(2024, 2, 1, 10, tzinfo=UTC))
    assert (ada.fact, ada.memory["category"]) == ("Ada is a carpenter.", "entity")
    assert "name_embedding" not in ada.memory["metadata"]["zep"]
    assert (works.memory["valid_from"], works.memory["valid_to"]) == (
        datetime(2024, 2, 1, 10, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
    )
    assert works.sources == ("e-1",)
    assert works.memory["metadata"]["zep"]["source"] == "Ada"
    assert works.memory["metadata"]["zep"]["expired_at"] == "2025-01-02T08:00:00Z"
    assert left.memory["valid_to"] is None
    assert isinstance(never, Problem)
    assert "ends before it begins" in never.message


def test_a_fact_that_only_expired_ends_when_that_was_found(tmp_path: Path) -> None:
    edge = {
        "uuid": "f",
        "source_node_uuid": "n",
        "fact": "old",
        "valid_at": "2024-01-01T00:00:00Z",
        "expired_at": "2024-06-01T00:00:00Z",
    }
    [old] = found(written(tmp_path, "e.jsonl", [edge], lines=True))
    assert old.memory["valid_to"] == datetime(2024, 6, 1, tzinfo=UTC)


def test_an_agent_file_gives_statements_of_its_blocks_words_and_passages(tmp_path: Path) -> None:
    said, passage, block, *facts = found(written(tmp_path, "boat.af", LETTA))
    assert (said.content, said.role, said.name) == ("Paint it blue.", "user", "Ada")
    assert isinstance(block, Said)
    assert [one.fact for one in facts] == ["Name: Ada", "Lives in Ottawa", "Has a boat"]
    assert {one.sources for one in facts} == {(block.source_id,)}
    assert facts[0].memory["category"] == "block:human"
    assert facts[0].occurred_at == datetime(2025, 3, 1, tzinfo=UTC)
    assert (passage.fact, passage.memory["tags"]) == ("The hull is oak.", ("hull",))


def test_an_agent_file_of_the_newer_layout_names_its_blocks_beside_its_agents(tmp_path: Path) -> None:
    newer = {
        "agents": [{"id": "agent-0", "name": "helper", "block_ids": ["block-0"], "messages": LETTA["messages"]}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Ada sails."}],
        "files": [],
        "tools": [],
        "groups": [],
    }
    said, block, fact = found(written(tmp_path, "new.af", newer))
    assert said.content == "Paint it blue."
    assert (block.content, fact.fact) == ("Ada sails.", "Ada sails.")


def test_what_only_numbers_an_entry_within_its_file_is_no_id_of_it(tmp_path: Path) -> None:
    def ids_of(*agents: tuple[str, str, str]) -> list[str]:
        file = {"agents": [], "blocks": []}
        for number, (name, said, human) in enumerate(agents):
            message = {"id": f"message-{number}", "role": "user", "content": said, "created_at": "2025-01-01T00:00:00Z"}
            file["agents"].append(
                {"id": f"agent-{number}", "name": name, "block_ids": [f"block-{number}"], "messages": [message]}
            )
            file["blocks"].append({"id": f"block-{number}", "label": "human", "value": human})
        return [one.source_id for one in found(written(tmp_path, "a.af", file))]

    boat, garden = ("boat", "Paint it", "Has a boat"), ("garden", "Water it", "Has roses")
    assert ids_of(boat, garden) == ids_of(boat, garden)
    assert sorted(ids_of(boat, garden)) == sorted([*ids_of(boat), *ids_of(garden)])
    assert sorted(ids_of(garden, boat)) == sorted(ids_of(boat, garden)), "whatever number they have"
    assert len(set(ids_of(boat, boat))) == 6, "agents of one name are two"


def test_a_block_that_was_rewritten_is_another_text_its_statements_rest_on(tmp_path: Path) -> None:
    def block_of(value: str) -> list[Any]:
        return found(written(tmp_path, "a.af", {"agents": [], "blocks": [{"label": "human", "value": value}]}))

    before, after = block_of("Lives in Ottawa"), block_of("Lives in Oslo")
    assert before[0].source_id != after[0].source_id
    assert before[1].source_id == after[1].source_id, "what it says now is compared with what it said"
    assert after[1].sources == (after[0].source_id,)


def test_two_places_of_a_store_have_two_ids(tmp_path: Path) -> None:
    one = {"namespace": ["users", "ada"], "key": "k", "value": {"text": "Ada sails"}}
    other = {"namespace": ["users"], "key": "ada/k", "value": {"text": "Ada rows"}}
    assert len({item.source_id for item in found(written(tmp_path, "s.json", [one, other]))}) == 2


def test_a_value_of_a_store_is_its_text_or_its_fields_as_words(tmp_path: Path) -> None:
    jazz, profile, bad = found(written(tmp_path, "s.json", LANGMEM))
    assert (jazz.fact, jazz.memory["category"]) == ("Ada likes jazz", "Memory")
    assert jazz.source_id == "memories/ada/k-1"
    assert jazz.memory["valid_from"] == datetime(2025, 2, 3, tzinfo=UTC)
    assert profile.fact == "age: 41; language: fr"
    assert profile.memory["metadata"]["langmem"]["namespace"] == ["profiles", "ada"]
    assert isinstance(bad, Problem)


def test_plain_entries_keep_what_nobody_knows_in_their_metadata(tmp_path: Path) -> None:
    sails, rows, bad = found(written(tmp_path, "p.jsonl", PLAIN, lines=True))
    assert sails.memory["metadata"] == {"from": "notes", "colour": "blue"}
    assert (sails.memory["memory_type"], sails.memory["importance"], sails.user_id) == ("preference", 0.8, "ada")
    assert sails.memory["valid_from"] == datetime(2024, 1, 1, tzinfo=UTC)
    assert rows.occurred_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert bad == Problem("line 3", "expected a text under fact, memory, content, text")


@pytest.mark.parametrize("field", ["user_id", "trust", "metadata"])
def test_whose_an_entry_is_how_far_it_is_trusted_and_its_metadata_are_not_passed_over(
    tmp_path: Path, field: str
) -> None:
    other: tuple[Any, ...] = (7, True, ["ada"], "a text" if field == "metadata" else {"id": "ada"})
    entries = [{"id": str(number), "fact": "Ada sails", field: value} for number, value in enumerate(other)]
    for number, told in enumerate(found(written(tmp_path, "p.jsonl", entries, lines=True)), start=1):
        assert isinstance(told, Problem)
        assert (told.place, told.message.partition(":")[0]) == (f"line {number}", field)
    none = [{"fact": "Ada sails", field: None}, {"fact": "Ada rows"}]
    assert not any(isinstance(told, Problem) for told in found(written(tmp_path, "p.jsonl", none, lines=True)))
    if field != "trust":
        mem0 = {"results": [{"id": "1", "memory": "Ada sails", field: value} for value in other]}
        assert all(isinstance(told, Problem) for told in found(written(tmp_path, "m.json", mem0)))


def test_a_line_nobody_can_read_is_a_problem_with_its_number_and_not_the_end(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"fact": "one"}\n\n{"fact": "two"\n["three"]\n{"fact": "four"}\n')
    one, two, three, four = found(File(tmp_path / "b.jsonl"))
    assert (one.fact, four.fact) == ("one", "four")
    assert (two.place, three.place, four.place) == ("line 3", "line 4", "line 5")
    assert isinstance(two, Problem)
    assert isinstance(three, Problem)


def test_a_document_on_one_line_may_be_longer_than_a_line_of_entries(tmp_path: Path) -> None:
    entries = [
        {"id": "1", "memory": "Ada sails"},
        {"id": "2", "memory": "Ada rows", "metadata": {"raw": "x" * ingest.LINE_BYTES}},
    ]
    one, two = found(written(tmp_path, "m.json", json.dumps({"results": entries})))
    assert (one.fact, two.fact) == ("Ada sails", "Ada rows")


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_line_that_is_too_long_is_a_problem_and_not_the_end(tmp_path: Path, at: int) -> None:
    lines = [json.dumps({"fact": "one"}), json.dumps({"fact": "two"})]
    lines.insert(at, json.dumps({"fact": "x" * (2 * ingest.LINE_BYTES)}))
    entries = found(written(tmp_path, "l.jsonl", "\n".join(lines)))
    assert [one.place for one in entries] == ["line 1", "line 2", "line 3"]
    assert [isinstance(one, Problem) for one in entries] == [number == at for number in range(3)]


def test_a_row_that_is_no_utf8_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("\ufeff\nfact,tags\nAda sails,sea\n".encode() + b"caf\xe9,x\nAda rows,river\n")
    sails, broken, rows = found(File(tmp_path / "t.csv"))
    assert (sails.fact, rows.fact) == ("Ada sails", "Ada rows")
    assert broken == Problem("line 4", "expected a row of CSV in UTF-8")


def test_a_point_that_is_no_utf8_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_bytes(b"# Facts\n- Ada sails\n- caf\xe9\n# Caf\xe9s\n- Ada rows\n")
    sails, broken, rows = found(File(tmp_path / "t.md"))
    assert (sails.fact, rows.fact) == ("Ada sails", "Ada rows")
    assert broken == Problem("line 3", "expected UTF-8 text")
    assert "metadata" not in rows.memory


@pytest.mark.parametrize(
    "held",
    [
        "fact,tags\nAda sails,sea\n".encode("utf-16"),
        b"fact,caf\xe9\nAda sails,sea\n",
        b"fact," + b"x" * (table.MOST_CELL + 1) + b"\nAda sails,sea\n",
        b"fact,tags,tags\nAda sails,sea,wind\n",
    ],
    ids=["utf-16", "latin-1", "endless", "twice"],
)
def test_a_table_whose_header_nobody_can_read_is_refused(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(held)
    with pytest.raises(InvalidInput):
        list(table.read(File(tmp_path / "t.csv")))


def test_a_table_names_its_cells_and_tells_rows_that_do_not_fit(tmp_path: Path) -> None:
    text = 'fact;tags;importance;metadata\n"Ada; sails";sea;0.7;"{""a"": 1}"\nshort\nBad;x;many;\n'
    sails, short, bad = found(written(tmp_path, "t.csv", text))
    assert (sails.fact, sails.memory["tags"], sails.memory["importance"]) == ("Ada; sails", ["sea"], 0.7)
    assert sails.memory["metadata"] == {"a": 1}
    assert (short.place, short.message) == ("line 3", "expected 4 cells, found 1")
    assert isinstance(bad, Problem)


@pytest.mark.parametrize("cell", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": ' + "[" * 100_000, "5"])
def test_a_cell_whose_json_would_lose_something_is_a_problem_and_not_the_end(tmp_path: Path, cell: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("fact", "metadata"), ("Ada sails", cell), ("Ada rows", "")])
    bad, rows = found(written(tmp_path, "t.csv", out.getvalue()))
    assert (bad.place, rows.fact) == ("line 2", "Ada rows")
    assert isinstance(bad, Problem)


ROW: Final = dict.fromkeys(table.COLUMNS) | {
    "memory_id": "01890000-0000-7000-8000-0000000000aa",
    "namespace": "default",
    "agent_id": "default",
    "user_id": "ada",
    "memory_type": "preference",
    "fact": "Ada sails",
    "tags": ["sea", "wind"],
    "importance": 0.5,
    "metadata": "{}",
}
FORMULAS: Final = ("'=1", "=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "'quoted", "=cmd|' /C calc'!A0", "＝1")


@pytest.mark.parametrize("fact", FORMULAS, ids=[str(number) for number in range(len(FORMULAS))])
def test_no_cell_is_a_formula_and_every_cell_is_read_as_it_was(tmp_path: Path, fact: str) -> None:
    out = io.StringIO(newline="")
    table.write([ROW | {"fact": fact}], out)
    [header, cells] = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert not any(cell.startswith(table.FORMULA) for cell in cells)
    assert table.bare(cells[header.index("fact")]) == fact


def test_markdown_is_read_by_its_points_and_headings(tmp_path: Path) -> None:
    text = "# Notes\n\nSome words.\n\n## Preferences\n\n- Ada *sails*\n  on Sundays\n1. Ada rows\n\n## Boats\n- Miez\n"
    words, sails, rows, boat = found(written(tmp_path, "n.md", text))
    assert (words.fact, words.memory["metadata"], words.place) == ("Some words.", {"heading": "Notes"}, "line 3")
    assert (sails.fact, sails.memory["memory_type"], sails.place) == ("Ada *sails*\non Sundays", "preference", "line 7")
    assert rows.fact == "Ada rows"
    assert boat.memory["metadata"] == {"heading": "Boats"}


def test_what_stands_beside_the_points_of_markdown_is_read_too(tmp_path: Path) -> None:
    text = (
        "Ada works at the harbour\nof Turku.\n\n# Preferences\nShe told me this:\n- Ada sails\non Sundays\n"
        "- Ada rows\n\n  and swims\n\nNever call before ten.\n---\n# Boats\n\n***\n\nMiez leaks.\n* Miez is red\n"
    )
    read = found(written(tmp_path, "MEMORY.md", text))
    assert [(one.place, one.fact) for one in read] == [
        ("line 1", "Ada works at the harbour\nof Turku."),
        ("line 5", "She told me this:"),
        ("line 6", "Ada sails\non Sundays"),
        ("line 8", "Ada rows\nand swims"),
        ("line 12", "Never call before ten."),
        ("line 18", "Miez leaks."),
        ("line 19", "Miez is red"),
    ]
    assert [one.memory.get("memory_type", one.memory.get("metadata")) for one in read] == [
        None, *["preference"] * 4, {"heading": "Boats"}, {"heading": "Boats"},
    ]  # fmt: skip


def test_a_text_without_points_is_read_by_its_paragraphs(tmp_path: Path) -> None:
    one, two = found(written(tmp_path, "n.txt", "Ada sails\non Sundays.\n\nAda rows.\n"))
    assert (one.fact, two.fact) == ("Ada sails\non Sundays.", "Ada rows.")


TEXTS: Final = (
    "two\n- lines",
    "two\n---\nlines",
    "two\n===",
    "two\n1. line",
    "[a](javascript:x)",
    "<script>",
    "# no heading",
    "- no point",
    "1. no point",
    "a_b*c`d`",
    "back\\slash",
    "two\nlines",
    "<!-- mem-x -->",
    "1) x",
    "a | b",
)


@pytest.mark.parametrize("fact", TEXTS, ids=[str(number) for number in range(len(TEXTS))])
def test_a_fact_comes_out_of_markdown_as_it_went_in(tmp_path: Path, fact: str) -> None:
    out = io.StringIO()
    markdown.write([ROW | {"fact": fact}], out)
    assert "<script>" not in out.getvalue()
    [item] = found(written(tmp_path, "m.md", out.getvalue()))
    assert (item.fact, item.memory["memory_type"]) == (fact, "preference")


def test_a_time_without_a_zone_is_read_as_utc() -> None:
    assert moment("2024-01-01T10:00:00", "here") == datetime(2024, 1, 1, 10, tzinfo=UTC)
    assert moment("2024-01-01", "here") == datetime(2024, 1, 1, tzinfo=UTC)
    assert moment(None, "here") is None
    with pytest.raises(InvalidInput):
        moment("yesterday", "here")
    with pytest.raises(InvalidInput):
        moment(True, "here")


def test_the_lines_of_an_export_are_checked_in_time_that_grows_with_them(tmp_path: Path) -> None:
    def check(unit: str) -> object:
        path = tmp_path / "big.jsonl"
        with path.open("wb") as file:
            writer = own.Writer(file, tenant="t", vectors=False)
            for number, _ in enumerate(unit):
                writer.put("scope", dict.fromkeys(own.KINDS["scope"]) | {"scope": number})
            writer.end()
        return own.check(File(path))

    assert_linear(check, "x", 2_000)


def export(folder: Path) -> Path:
    path = folder / "small.jsonl"
    with path.open("wb") as file:
        writer = own.Writer(file, tenant="t", vectors=False)
        writer.put("scope", dict.fromkeys(own.KINDS["scope"]) | {"scope": 1})
        writer.put("relation", dict.fromkeys(own.KINDS["relation"]))
        writer.end()
    return path


def test_a_file_of_the_first_version_is_read_with_what_it_could_not_say(tmp_path: Path) -> None:
    path = tmp_path / "first.jsonl"
    later = {"born_epoch", "layer_epoch", "marks"}
    with path.open("wb") as file:
        writer = own.Writer(file, tenant="acme", vectors=False)
        writer.put("memory", dict.fromkeys(own.KINDS["memory"]) | {"scope": 1})
        writer.end()
    header, line, _ = path.read_bytes().splitlines(keepends=True)
    said = {name: value for name, value in json.loads(line).items() if name not in later}
    old = header.replace(b'"version":3', b'"version":1') + own.dumped(said) + b"\n"
    end = {"kind": "end", "lines": {"memory": 1}, "sha256": hashlib.sha256(old).hexdigest()}
    path.write_bytes(old + own.dumped(end) + b"\n")
    assert own.check(File(path)).counts == {"memory": 1}
    [(kind, read, _)] = own.lines(File(path))
    assert kind == "memory"
    assert {name: read[name] for name in later} == {"born_epoch": 0, "layer_epoch": 0, "marks": {}}
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":3'))
    with pytest.raises(InvalidInput):
        own.check(File(path))


def test_a_file_of_the_second_version_has_runs_that_name_no_event(tmp_path: Path) -> None:
    path = tmp_path / "second.jsonl"
    with path.open("wb") as file:
        writer = own.Writer(file, tenant="acme", vectors=False)
        writer.put("run", dict.fromkeys(own.KINDS["run"]) | {"scope": 1})
        writer.end()
    header, line, _ = path.read_bytes().splitlines(keepends=True)
    said = {name: value for name, value in json.loads(line).items() if name != "tied"}
    old = header.replace(b'"version":3', b'"version":2') + own.dumped(said) + b"\n"
    end = {"kind": "end", "lines": {"run": 1}, "sha256": hashlib.sha256(old).hexdigest()}
    path.write_bytes(old + own.dumped(end) + b"\n")
    assert own.check(File(path)).counts == {"run": 1}
    [(kind, read, _)] = own.lines(File(path))
    assert (kind, read["tied"]) == ("run", ())
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":3'))
    with pytest.raises(InvalidInput):
        own.check(File(path))


def test_an_export_is_whole_or_it_is_refused(tmp_path: Path) -> None:
    path = export(tmp_path)
    whole = path.read_bytes()
    assert own.check(File(path)).counts == {"scope": 1, "relation": 1}
    lines = whole.splitlines(keepends=True)
    damaged = {
        "cut": b"".join(lines[:-1]),
        "half a line": whole[:-10],
        "a line less": b"".join([lines[0], *lines[2:]]),
        "a line more": b"".join([*lines[:2], *lines[1:]]),
        "other order": b"".join([lines[0], lines[2], lines[1], lines[3]]),
        "another version": whole.replace(b'"version":3', b'"version":4'),
        "more behind": whole + b"{}\n",
        "a field of another tenant": whole.replace(b'"scope":1,', b'"tenant_id":"other","scope":1,'),
    }
    for data in damaged.values():
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            own.check(File(path))


def test_an_export_with_a_right_hash_is_refused_where_its_lines_are_not_what_they_should_be(tmp_path: Path) -> None:
    scope = dict.fromkeys(own.KINDS["scope"]) | {"scope": 1}
    relation = dict.fromkeys(own.KINDS["relation"])
    wrong: list[list[dict[str, Any]]] = [
        [{"kind": "relation", **relation}, {"kind": "scope", **scope}],
        [{"kind": "scope", **scope, "tenant_id": "other"}],
        [{"kind": "scope", "scope": 1}],
        [{"kind": "wish", **scope}],
    ]
    for lines in wrong:
        with (tmp_path / "crafted.jsonl").open("wb") as file:
            writer = own.Writer(file, tenant="t", vectors=False)
            for line in lines:
                writer.counts[line["kind"]] += 1
                writer._line(line)
            writer.end()
        with pytest.raises(InvalidInput):
            own.check(File(tmp_path / "crafted.jsonl"))


def test_no_byte_of_an_export_can_be_flipped(tmp_path: Path) -> None:
    path = export(tmp_path)
    whole = bytearray(path.read_bytes())
    for place in range(len(whole) - 1):
        whole[place] ^= 1
        path.write_bytes(whole)
        with pytest.raises(InvalidInput):
            own.check(File(path))
        whole[place] ^= 1


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("one\ntwo", ["one two"]),
        ("- one\n- two", ["one", "two"]),
        ("# Title\n- one\n\nA paragraph.", ["one", "A paragraph."]),
        ("1. one\n2) two", ["one", "two"]),
    ],
    ids=["lines", "points", "mixed", "numbers"],
)
def test_a_block_is_told_in_statements(block: str, said: list[str]) -> None:
    assert list(letta.statements(block)) == said


def test_every_item_says_where_it_stands(tmp_path: Path) -> None:
    for name, value in SAMPLES.values():
        file = written(tmp_path, name, value)
        if reader_of(file, "auto").NAME not in ("engram", "transcript"):
            assert all(one.place for one in found(file) if isinstance(one, Item | Said | Problem))
