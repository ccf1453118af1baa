"""One peer in a process of its own: opens it, fills it, asks it, and writes down what it found and how long that took.

python child.py JOB.json        started by run.py, in the environment the peer is installed in
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from contract import PEERS, Item, Peer, Place, make
from work import Work

BATCH = 500
WARM = 3  # questions of each mode that are asked before the clock runs


def memory() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def batches(items: Sequence[Item]) -> list[list[Item]]:
    """Runs of one user, at most 500 each."""
    found = []
    for _, mine in groupby(items, key=lambda item: item.user):
        together = list(mine)
        found += [together[start : start + BATCH] for start in range(0, len(together), BATCH)]
    return found


def fill(peer: Peer, items: Sequence[Item], singles: int, patience: float) -> dict[str, Any]:
    """Write most of it in batches and some one at a time, and let the peer settle after each; rates and seconds."""
    step = max(1, len(items) // max(1, singles))
    alone = set(range(0, step * singles, step))
    many = [item for place, item in enumerate(items) if place not in alone]
    one_by_one = [items[place] for place in sorted(alone)]
    start, kept = time.perf_counter(), 0
    for batch in batches(many):
        peer.add_many(batch)
        kept += len(batch)
        if time.perf_counter() - start > patience:
            return {"gave_up": f"after {kept} of {len(many)} rows and {patience:.0f} s of writing"}
    bulk = time.perf_counter() - start
    settled = _timed(peer.settle)
    took = [_timed(lambda item=item: peer.add(item)) for item in one_by_one]  # type: ignore[misc]
    again = _timed(peer.settle) if took else 0.0
    return {
        "many_rows": kept, "many_seconds": bulk, "settle_seconds": settled, "settle_again_seconds": again,
        "one_ms": [1000 * one for one in took],
    }  # fmt: skip


def ask(peer: Peer, work: Work, mode: str, k: int, patience: float) -> list[dict[str, Any]]:
    """What each question found, and its milliseconds; those there was no time for are left out."""
    pairs = list(zip(work.questions, work.question_vectors, strict=True))
    for question, vector in pairs[:WARM]:
        peer.search(question.user, question.text, vector, k, mode)
    found, begun = [], time.perf_counter()
    for number, (question, vector) in enumerate(pairs):
        start = time.perf_counter()
        rows = peer.search(question.user, question.text, vector, k, mode)
        ms = 1000 * (time.perf_counter() - start)
        found.append({"question": number, "rows": [int(row) for row in rows], "ms": ms})
        if time.perf_counter() - begun > patience and number % 2:
            break
    return found


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Everything that is measured of one peer."""
    work = Work.load(Path(job["work"]))
    items, model = work.items(), work.model()
    gc.collect()
    before = memory()
    peer = make(PEERS[job["peer"]])
    peer.open(Place(Path(job["folder"]), job["url"], job["owner_url"], model))
    try:
        told: dict[str, Any] = {"version": peer.version(), "settings": peer.settings, "modes": list(peer.modes)}
        told |= fill(peer, items, job["singles"], job["patience"])
        if "gave_up" not in told:
            told["found"] = {mode: ask(peer, work, mode, job["k"], job["patience"]) for mode in peer.modes}
        return {
            **told,
            "memory_bytes": memory() - before,
            "unknown_texts": len(model.unknown),
            "degraded": getattr(peer, "degraded", 0),
        }
    finally:
        peer.close()


def _told(error: Exception) -> str:
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first[:200]}"


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        told = measure(job)
    except ImportError as error:
        told = {"missing": str(error)}
    except Exception as error:  # noqa: BLE001 - one peer that fails must not end the comparison
        told = {"failed": _told(error)}
        if os.environ.get("PEERS_TRACE"):
            traceback.print_exc()
    Path(job["answer"]).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
