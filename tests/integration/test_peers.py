"""The comparison with other libraries: its contract kept by Engram and by numpy, its scores, and what it says in words.

The other libraries are not installed here; whatever holds for these two adapters they are held to by the same process.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from engram.embedded import EmbeddedServer

FOLDER = Path(__file__).parents[2] / "benchmarks"
PARTS = ("contract", "work", "child", "verdicts", "run", "labelled")


@pytest.fixture(scope="module")
def peers() -> Iterator[Any]:
    """The scripts of the comparison, which are no part of the package."""
    places = [str(FOLDER / "peers"), str(FOLDER)]
    sys.path[:0] = places
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in PARTS})
    for place in places:
        sys.path.remove(place)


@pytest.fixture(scope="module")
def work(peers: Any) -> Any:
    """The memories of the big user and of the first small ones, and the questions about them."""
    made, few = peers.work.made_up(400, asked=4, dimensions=16), 100
    return replace(made, users=made.users[:few], texts=made.texts[:few], vectors=made.vectors[:few])


@pytest.fixture(scope="module")
def answers(
    peers: Any, work: Any, server: EmbeddedServer, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """What Engram and numpy say of them, in a database that gets a graph of their model."""
    place = tmp_path_factory.mktemp("work")
    work.save(place)
    superuser = plain(server.superuser_url)
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE peers TEMPLATE {migrated}")  # type: ignore[arg-type]
    owner_url = server.url(user="postgres", database="peers")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("adapters.engram"), "tidy", lambda _: None)
        for name in ("engram", "numpy, exact"):
            folder = tmp_path_factory.mktemp("data")
            job = {
                "peer": name, "work": str(place), "folder": str(folder), "k": 10, "singles": 5, "patience": 60.0,
                "url": plain(server.url(database="peers")), "owner_url": plain(owner_url),
            }  # fmt: skip
            found[name] = peers.child.measure(job) | {"disk": 1_000}
    yield found
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute("DROP DATABASE peers WITH (FORCE)")


def plain(url: str) -> str:
    """An address as other libraries write it."""
    return url.replace("postgresql+psycopg://", "postgresql://")


def test_the_same_work_is_read_that_was_written(peers: Any, work: Any, tmp_path: Path) -> None:
    work.save(tmp_path)
    again = peers.work.Work.load(tmp_path)
    assert again.digest == work.digest
    assert again.questions == work.questions


def test_made_up_work_is_the_same_for_a_seed(peers: Any) -> None:
    one, again, other = (peers.work.made_up(100, asked=2, dimensions=4, seed=seed) for seed in (7, 7, 8))
    assert one.digest == again.digest != other.digest
    assert one.users.count("big") == 20


def test_a_batch_has_one_user_and_no_more_than_five_hundred(peers: Any) -> None:
    items = [peers.contract.Item(row, "a" if row < 600 else "b", "", None) for row in range(700)]
    found = peers.child.batches(items)
    assert [len(batch) for batch in found] == [500, 100, 100]
    assert all(len({item.user for item in batch}) == 1 for batch in found)
    assert [item for batch in found for item in batch] == items


@pytest.mark.parametrize("name", ["engram", "numpy, exact"])
def test_every_memory_of_the_work_is_kept_and_found_by_its_vector(
    name: str, peers: Any, work: Any, answers: Mapping[str, Any]
) -> None:
    exact = peers.work.truth(work, 10)
    (row, *_) = peers.run.speed_rows(name, answers[name], work, exact)
    assert row.mode == "vector"
    assert answers[name]["many_rows"] + len(answers[name]["one_ms"]) == len(work.texts)
    assert answers[name]["unknown_texts"] <= 3  # Engram's probes
    assert row.recall["big"] >= 0.95
    assert row.recall["small"] == 1.0
    assert row.target >= 0.95


def test_nobody_is_shown_memories_of_other_users(peers: Any, work: Any, answers: Mapping[str, Any]) -> None:
    for told in answers.values():
        for found in told["found"].values():
            assert len(found) == len(work.questions)
            assert peers.run.strangers(found, work) == 0
    foreign = work.users.index("small")
    assert peers.run.strangers([{"question": 0, "rows": [0, foreign]}], work) == 1  # question 0 is the big user's


@pytest.fixture
def own(peers: Any) -> Any:
    """What Engram needs to search by vector, made up."""
    return peers.verdicts.Speed(
        peer="engram", mode="vector", one_rate=100, many_rate=1_000, settle_seconds=0.0, p50={"big": 2.0, "small": 1.0},
        p95={"big": 3.0, "small": 2.0}, recall={"big": 0.98, "small": 1.0}, target=1.0, strangers=0, memory_mib=50.0,
        disk_bytes=5_000.0, pace=(10.0, 0.2),
    )  # fmt: skip


def test_a_rival_that_is_better_is_named_and_one_that_finds_less_is_not_called_faster(peers: Any, own: Any) -> None:
    quick = replace(own, peer="quick", p50={"big": 1.0, "small": 1.5}, one_rate=300, disk_bytes=6_000.0)
    blind = replace(own, peer="blind", p50={"big": 0.5, "small": 0.5}, recall={"big": 0.4, "small": 0.1})
    leaky = replace(own, peer="leaky", strangers=3, many_rate=900)
    said = peers.verdicts.speeds([own, replace(own, mode="hybrid"), quick, blind, leaky])
    text = "\n".join(said)
    assert "the big user: Engram has 2.0 ms and recall 0.980. Faster at equal or better recall: quick 1.0 ms" in text
    assert "the small user: Engram has 1.0 ms and recall 1.000, the fastest at equal or better recall" in text
    assert "the big user: faster, but finding less than Engram: blind 0.5 ms, recall 0.400." in text
    assert "Engram writes 100 a second, not fewer than 2 of 3. More: quick 300 (3.0 times)." in text
    assert "Engram writes 1,000 a second, not fewer than 3 of 3." in said[-2]
    assert "leaky (vector) returned 3 memories of other users." in text
    assert "disk" not in text


def test_how_quick_the_machine_was_is_told_beside_each(peers: Any, own: Any) -> None:
    rows = [own, replace(own, peer="late", pace=(15.0, 0.1)), replace(own, peer="old", pace=None)]
    assert peers.verdicts.paces(rows) == ["1.00 / 2.00", "1.50 / 1.00", "–"]
    assert peers.verdicts.paces([rows[2]]) == ["–"]


def test_nobody_is_the_fastest_whom_a_rival_is_below(peers: Any, own: Any) -> None:
    near = replace(own, peer="near", p50={"big": 1.95, "small": 1.0})
    big, small = peers.verdicts.speeds([own, replace(own, mode="hybrid"), near])[:2]
    assert big == "vector search, the big user: Engram has 2.0 ms and recall 0.980, as fast as near, 1.9 ms."
    assert "the fastest at equal or better recall; next is near, 1.0 ms." in small


def test_a_rival_whose_machine_was_slower_is_said_to_have_had_one(peers: Any, own: Any) -> None:
    quick = replace(own, peer="quick", p50={"big": 1.0, "small": 1.1}, pace=(14.0, 0.2), one_rate=300, many_rate=800)
    steady = replace(own, peer="steady", pace=(11.0, 0.22), p50={"big": 2.0, "small": 1.1}, many_rate=990)
    said = peers.verdicts.speeds([own, replace(own, mode="hybrid"), quick, steady])
    slow = "quick (machine up to 40 % slower)"
    assert f"Faster at equal or better recall: {slow} 1.0 ms (2.0 times)." in said[0]
    assert said[2] == f"vector search, the small user: may be faster on an equal machine: {slow} 1.1 ms."
    assert f"More: {slow} 300 (3.0 times)." in said[3]
    assert said[5] == f"memories in bulk: may be more on an equal machine: {slow} 800."
    assert not any("steady (" in one for one in said)


def test_the_pace_of_the_machine_is_measured_before_and_after(peers: Any, work: Any, server: EmbeddedServer) -> None:
    class Stage(peers.run.Stage):  # type: ignore[misc, name-defined]
        def run(self, *_: object) -> dict[str, Any]:
            return {"found": {}}

    with tempfile.TemporaryDirectory() as folder:
        told = peers.run.compare(Stage(Path(folder), server, Path()), ["engram"], work, 0, 1.0, lambda *_: None)
    worked, asked = told["engram"]["pace"]
    assert worked > asked > 0


def test_quality_says_who_is_above_whom(peers: Any) -> None:
    rows = [
        peers.verdicts.Quality("engram", "hybrid", {"R@10": 0.8, "MRR@10": 0.5}, 1.0),
        peers.verdicts.Quality("other", "vector", {"R@10": 0.7, "MRR@10": 0.6}, 1.0),
    ]
    assert peers.verdicts.qualities(rows) == [
        "R@10: engram (hybrid) has 80.0, the best rival other (vector) 70.0.",
        "MRR@10: other (vector) is above Engram, 60.0 against 50.0.",
    ]


def test_a_labelled_conversation_becomes_memories_with_their_speakers_and_questions_with_their_rows(peers: Any) -> None:
    sets = importlib.import_module("sets")
    turns = [
        sets.Turn("1", "s", {"role": "user", "name": "Rosa", "content": "I signed a lease."}),
        sets.Turn("2", "s", {"role": "user", "content": "Where?"}),
    ]
    case = sets.Case("rosa", turns)
    case.ask("Who signed a lease?", "single", ["1"])
    work = peers.labelled.as_work("tiny", [case], _Letters())
    assert work.texts == ["Rosa: I signed a lease.", "Where?"]
    assert [one.evidence for one in work.questions] == [(0,)]
    model = work.model()
    assert model.passage("I signed a lease.").shape == (3,)  # what is embedded without the name is known, too
    assert not model.unknown


def test_a_peer_that_is_not_installed_says_so(peers: Any, work: Any, tmp_path: Path, monkeypatch: Any) -> None:
    work.save(tmp_path)
    monkeypatch.setitem(sys.modules, "chromadb", None)
    job = {"peer": "Chroma", "work": str(tmp_path), "folder": str(tmp_path), "answer": str(tmp_path / "answer.json")}
    job |= {"k": 10, "url": "", "owner_url": "", "singles": 0, "patience": 1.0}  # type: ignore[dict-item]
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["child.py", str(tmp_path / "job.json")])
    peers.child.main()
    told = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert "chromadb" in told["missing"]
    assert any("Chroma did not take part" in note for note in peers.run.settings_table({"Chroma": told}).notes)


def test_the_page_shows_every_figure_with_its_words_and_plots(
    peers: Any, work: Any, answers: Mapping[str, Any], tmp_path: Path
) -> None:
    exact = peers.work.truth(work, 10)
    rows = [row for name, told in answers.items() for row in peers.run.speed_rows(name, told, work, exact)]
    found = [row for name, told in answers.items() for row in peers.run.quality_rows(name, told, work)]
    tables = [peers.run.speed_table(rows, work), peers.run.quality_table(found, work)]
    tables.append(peers.run.settings_table(answers))
    plots = [peers.run.speed_plot(rows, work), peers.run.quality_plot(found, work)]
    report = peers.run.report
    report.save("peers", title="Peers", about="", versions={}, tables=tables, plots=plots, folder=tmp_path)
    page = report.page(report.runs(tmp_path))
    assert "### 100 memories" in page
    assert "| engram | hybrid |" in page
    assert "| numpy, exact | in memory" not in page  # its version stands between
    assert "Zep is not here: it is a cloud service" in page
    assert page.count(".svg)") == 2


def test_large_sizes_are_given_to_the_peers_that_are_named_for_them(peers: Any) -> None:
    chosen = SimpleNamespace(only=None, large="engram; sqlite-vec")
    assert peers.run.sized(chosen, 100_000) == ["engram", "sqlite-vec"]
    assert set(peers.run.sized(chosen, 10_000)) == {
        name for name, entry in peers.contract.PEERS.items() if not entry.quality_only
    }
    with pytest.raises(SystemExit, match="no such peer: nobody"):
        peers.run.chosen_names("nobody", False)


class _Letters:
    """An embedder of three dimensions."""

    def embed(self, texts: list[str], kind: str) -> list[list[float]]:
        return [[1.0, len(text), text.count("e")] for text in texts]
