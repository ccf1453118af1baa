"""Jobs a second of the queue: claimed and finished, in batches, by one worker and by four; and behind a long queue.

    python benchmarks/jobs.py              an embedded PostgreSQL in a temporary folder
    python benchmarks/jobs.py URL          a migrated database, as the application role

Every job is of a stream of its own and does nothing: what is measured is the claim, its commit, and the effect, which
holds and finishes each job of the batch in one transaction. Workers are processes, so that one Python does not limit
them.
"""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

import report
from machine import address, asked_for, versions

from engram import jobs
from engram.database import Connection, Database
from engram.ids import new_id
from engram.settings import load

READY = 3.0  # seconds the workers have to start and connect
EACH = 1_500  # jobs for one worker in batches of one; larger batches have more
LONG = 200_000
KIND = "bench"


def add(conn: Connection, many: int, kind: str) -> None:
    """Queue jobs as one statement."""
    conn.exec_driver_sql(
        "INSERT INTO engram.memory_jobs (tenant_id, job_id, kind, stream_id, position, dedup_key)"
        " SELECT engram.current_tenant(), gen_random_uuid(), %s, gen_random_uuid(), n, sha256((%s || n)::bytea)"
        " FROM generate_series(1, %s) n",
        (kind, new_id(), many),
    )


def work(url: str, tenant: str, size: int, begin: float) -> tuple[int, float]:
    """Claim and finish batches until nothing is left; how many jobs, and when the last was done."""
    database, ran = Database(url, load({})), 0
    database.run(tenant, lambda conn: jobs.count(conn), read_only=True)
    time.sleep(max(0.0, begin - time.time()))
    while True:
        token = new_id()
        taken = database.run(
            tenant, lambda conn, token=token: jobs.claim(conn, [KIND], size, tenant_id=tenant, token=token), key=token
        )
        if not taken:
            return ran, time.time()

        def effect(conn: Connection, taken: list[jobs.Job] = taken) -> None:
            jobs.hold(conn, *taken)
            jobs.finish(conn, *taken)

        database.run(tenant, effect, key=token)
        ran += len(taken)


def measure(url: str, *, workers: int, size: int) -> list[report.Cell]:
    """Let the workers empty a queue; their row, which is printed too."""
    tenant, many = f"bench-{new_id()}", EACH * workers * min(size, 10)
    with Database(url, load({})).transaction(tenant) as conn:
        add(conn, many, KIND)
    with ProcessPoolExecutor(workers) as pool:
        begin = time.time() + READY
        tasks = [pool.submit(work, url, tenant, size, begin) for _ in range(workers)]
        done = [task.result() for task in tasks]
    assert sum(ran for ran, _ in done) == many
    seconds = max(at for _, at in done) - begin
    name = f"{workers} worker{'s' if workers > 1 else ''}, batches of {size}"
    print(f"{name:<52}{many / seconds:>10,.0f} jobs/s", flush=True)
    return [name, round(many / seconds)]


def behind_a_long_queue(url: str) -> list[list[report.Cell]]:
    """How long a claim takes while another tenant, or the same, has a long queue; a row each."""
    rows: list[list[report.Cell]] = []
    database, crowd, few = Database(url, load({})), f"bench-{new_id()}", f"bench-{new_id()}"
    with database.transaction(crowd) as conn:
        add(conn, LONG, KIND)
    for name, tenant in (("the tenant of the queue itself", crowd), ("another tenant, one job each time", few)):
        took = []
        for _ in range(100):
            if tenant == few:
                with database.transaction(few) as conn:
                    add(conn, 1, KIND)
            start = time.perf_counter()
            taken = database.run(few, lambda conn: jobs.claim(conn, [KIND], 1))
            took.append((time.perf_counter() - start) * 1000)
            assert tenant == crowd or [job.tenant_id for job in taken] == [few]
        took.sort()
        middle, late = statistics.median(took), took[94]
        print(f"{f'claim, {LONG:,} queued, {name}':<72}{middle:>8.2f} ms, p95 {late:.2f} ms", flush=True)
        rows.append([name, f"{middle:.2f}", f"{late:.2f}"])
    return rows


ABOUT: Final = (
    "Jobs of a stream each that do nothing: claimed, held and finished in batches, by processes that share a queue; and"
    " a claim of one job while another tenant, or the same, has a long queue."
)


def main() -> None:
    """Run every measurement, and save."""
    with address(asked_for(__doc__)) as url:
        ran = [measure(url, workers=workers, size=size) for workers in (1, 4) for size in (1, 10, 50)]
        claimed = behind_a_long_queue(url)
        tables = [
            report.Table("Workers of one queue", ["who", "jobs a second"], ran),
            report.Table(f"A claim beside {LONG:,} queued jobs, ms", ["whose job", "p50", "p95"], claimed),
        ]
        made = report.generated(__file__, f"jobs without effect; {LONG:,} in the long queue")
        report.save("queue", title="Queue", about=ABOUT, versions=versions(url), tables=tables, data=[made])


if __name__ == "__main__":
    main()
