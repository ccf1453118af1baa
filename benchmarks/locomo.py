"""Retrieval on LoCoMo against its labels: no language model, no judge; which share of the evidence is found.

    python benchmarks/locomo.py locomo10.json                    an embedded PostgreSQL in a temporary folder
    python benchmarks/locomo.py locomo10.json --url URL          a migrated database, as the application role

Every turn becomes a verbatim memory of one user's scope, with what was said around it in the word index; every question
of categories 1 to 4 is one search. The data set is not part of the project (CC BY-NC 4.0): give the path of your copy.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engram import Engram, Scope, ingest, migrations
from engram.embedded import EmbeddedServer
from engram.ids import new_id
from engram.settings import load

CUTS = (5, 10, 50)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DIALOGUE_ID = re.compile(r"D(\d+):0*(\d+)")


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """The given database, or an embedded one that is gone afterwards."""
    if url is not None:
        yield url
        return
    folder = Path(tempfile.mkdtemp(prefix="engram-locomo-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data") as server:
        migrations.upgrade(server.superuser_url)
        yield server.url()
    shutil.rmtree(folder, ignore_errors=True)


def add_turns(memory: Engram, path: Path, name: str) -> dict[str, str]:
    """Remember every turn of one conversation; which dialogue id each event has."""
    turns: dict[str, str] = {}
    for batch in ingest.read(path, format="locomo"):
        if not batch.session_id.startswith(f"{name}-session-"):
            continue
        turns |= {str(one["event_id"]): str(one["metadata"]["dia_id"]) for one in batch.messages}
        memory.remember(list(batch.messages), session_id=batch.session_id, derive="verbatim", wait=True)
    return turns


def questions(conversation: Any, known: set[str]) -> tuple[list[tuple[str, int, set[str]]], int]:
    """The questions with evidence among the turns, and how many evidence ids had to be dropped."""
    found, dropped = [], 0
    for item in conversation["qa"]:
        if item["category"] not in CATEGORIES:
            continue
        named = [match for text in item.get("evidence", ()) for match in DIALOGUE_ID.findall(text)]
        evidence = {f"D{session}:{turn}" for session, turn in named}
        dropped += len(evidence - known)
        if evidence & known:
            found.append((item["question"], item["category"], evidence & known))
    return found, dropped


def ask(
    memory: Engram, asked: Sequence[tuple[str, int, set[str]]], turns: dict[str, str], mode: str
) -> list[dict[str, Any]]:
    """One search a question: what share of its evidence each cut holds, and how long the first ten took."""
    rows = []
    for question, category, evidence in asked:
        started = time.perf_counter()
        memory.search(question, mode=mode, limit=10, track=False)  # type: ignore[arg-type]
        took = time.perf_counter() - started
        results = memory.search(question, mode=mode, limit=max(CUTS), track=False)  # type: ignore[arg-type]
        order = [turns[one.memory.event_id] for one in results]
        shares = {f"R@{cut}": len(evidence & set(order[:cut])) / len(evidence) for cut in CUTS}
        rows.append(
            {**shares, "hit@10": float(bool(evidence & set(order[:10]))), "category": category, "ms": 1000 * took}
        )
    return rows


def report(mode: str, rows: Sequence[dict[str, Any]]) -> str:
    """The figures of one mode in a line a measure."""
    if not rows:
        return f"{mode}: no questions"
    means = "  ".join(
        f"{name} {100 * statistics.fmean(r[name] for r in rows):.1f}" for name in ("R@5", "R@10", "R@50", "hit@10")
    )
    by_category = "  ".join(
        f"{label} {100 * statistics.fmean(r['R@10'] for r in rows if r['category'] == category):.1f}"
        for category, label in CATEGORIES.items()
        if any(r["category"] == category for r in rows)
    )
    times = sorted(r["ms"] for r in rows)
    return (
        f"{mode:9} {len(rows)} questions  {means}\n          R@10 by category: {by_category}\n"
        f"          a search of ten: p50 {times[len(times) // 2]:.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--modes", default="keyword,semantic,hybrid")
    parser.add_argument("--conversations", type=int, help="only so many of the conversations")
    chosen = parser.parse_args()
    conversations = json.loads(chosen.path.read_text(encoding="utf-8"))[: chosen.conversations]
    rows: dict[str, list[dict[str, Any]]] = {mode: [] for mode in chosen.modes.split(",")}
    tenant, added, dropped, spent = f"locomo-{new_id()}", 0, 0, 0.0
    with database(chosen.url) as url:
        for conversation in conversations:
            name = conversation["sample_id"]
            with Engram(url, scope=Scope(tenant, user_id=name), settings=load({})) as memory:
                started = time.perf_counter()
                turns = add_turns(memory, chosen.path, name)
                spent, added = spent + time.perf_counter() - started, added + len(turns)
                asked, lost = questions(conversation, set(turns.values()))
                dropped += lost
                for mode, kept in rows.items():
                    kept += ask(memory, asked, turns, mode)
    print(f"{added} turns added at {added / spent:.0f} a second; {dropped} evidence ids name no turn and are left out")
    for mode, kept in rows.items():
        print(report(mode, kept))


if __name__ == "__main__":
    main()
