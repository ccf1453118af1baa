"""Events a second from the ledger to memories, by the derivers that need no model, with one and with two workers.

    python benchmarks/derivation.py        an embedded PostgreSQL in a temporary folder
    python benchmarks/derivation.py URL    a migrated database, as the application role

The events are those of the demonstration, many times over, each copy in a tenant of its own. The clock runs over all
of a job: claim, read, derive, judge, embed, write, index, cursor, done. Appending is not counted.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import resources
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from machine import address

from engram import Engram
from engram.ids import new_id
from engram.settings import load
from engram.values import Derive

READY = 4.0  # seconds the workers have to start and load the embedder
COPIES = 4  # tenants a worker works through


def messages() -> list[dict[str, str]]:
    """The messages of the demonstration, in their order."""
    lines = (resources.files("engram") / "demo" / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {"role": said["role"], "content": said["content"]}
        for said in map(json.loads, lines)
        if said.get("role") in ("user", "assistant") and said.get("content")
    ]


def work(url: str, tenants: list[str], begin: float) -> float:
    """Run every job of some tenants from a moment on; when the last was done."""
    with Engram(url, settings=load({}, dispatch="doorbell")) as engram:
        engram.search("warm", tenant_id=f"warm-{new_id()}")
        time.sleep(max(0.0, begin - time.time()))
        for tenant in tenants:
            while engram.scoped(tenant_id=tenant).ops.run_jobs(limit=100):
                pass
    return time.time()


def measure(url: str, name: str, derive: Derive, workers: int) -> None:
    """Append the events, then let the workers derive them; prints the rates."""
    said, tenants = messages(), [f"bench-{new_id()}" for _ in range(COPIES * workers)]
    with Engram(url, settings=load({}, dispatch="doorbell")) as engram:
        for tenant in tenants:
            for start in range(0, len(said), 100):
                engram.remember(said[start : start + 100], derive=derive, tenant_id=tenant, session_id="bench")
        with ProcessPoolExecutor(workers) as pool:
            begin = time.time() + READY
            shares = [tenants[n::workers] for n in range(workers)]
            seconds = max(pool.map(partial(work, url, begin=begin), shares)) - begin
        memories = sum(engram.stats(tenant_id=tenant).memories for tenant in tenants)
    events = len(said) * len(tenants)
    print(f"{name:<34}{workers:>8}{events:>9,}{memories:>10,}{events / seconds:>12,.0f}{memories / seconds:>14,.0f}")


def main() -> None:
    """Run every measurement."""
    with address() as url:
        print(f"{'derivers':<34}{'workers':>8}{'events':>9}{'memories':>10}{'events/s':>12}{'memories/s':>14}")
        for workers in (1, 2):
            measure(url, "verbatim", "verbatim", workers)
            measure(url, "verbatim and rules", "rules", workers)


if __name__ == "__main__":
    main()
