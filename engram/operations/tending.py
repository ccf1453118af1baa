"""Tending: the jobs that keep vectors, words and graphs in step with the memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from engram import jobs, writing
from engram.channels import events, keyword, semantic, upkeep
from engram.database import Connection, execute, fetch_all
from engram.errors import ModelRejected, Unavailable
from engram.jobs import Job
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.recall import log

EMBED_BATCH: Final = 100
PURGE: Final = "purge"  # the kind that removes what nobody asks about any more
PURGE_BATCH: Final = 1_000
FIRST: Final = "00000000-0000-0000-0000-000000000000"


def embed(setup: Setup, job: Job) -> Operation[None]:
    """Give the memories that wait for a vector theirs; one that the model cannot embed holds up no other."""
    embedder = setup.embedder
    if embedder is None:
        raise ModelRejected("this process has no embedding model", retry_after=60.0, reason="model_missing")
    after, failed, last = FIRST, 0, False
    while not last:
        asked = {"tenant_id": job.tenant_id, "scope_id": job.scope_id, "after": after, "limit": EMBED_BATCH}
        rows = yield from steps.read(job.tenant_id, partial(_waiting, asked=asked))
        vectors = yield from steps.think(partial(embedder.embed_each, [row.fact for row in rows]), job)
        spoken = zip(rows, vectors, strict=True)
        made = [(row.memory_id, row.fact, vector) for row, vector in spoken if vector is not None]
        long = [row.memory_id for row in rows if embedder.is_long(row.fact)]
        failed += len(rows) - len(made)
        last = len(rows) < EMBED_BATCH
        after = after if last else rows[-1].memory_id

        def effect(
            conn: Connection, made: Any = made, long: Any = long, done: bool = last and not failed
        ) -> None:  # fmt: skip
            jobs.hold(conn, job)
            writing.share(conn, job.tenant_id, int(job.scope_id or 0))
            active, _ = semantic.ensure_model(conn, job.tenant_id, embedder)
            if setup.model_of(job.tenant_id, active) is None:
                raise Unavailable("the tenant's embedding model changed meanwhile", retry_after=0.0)
            ids = semantic.store_built(conn, job.tenant_id, embedder.model_id, made, long=long)
            if ids:
                execute(conn, "mark_embedded", tenant_id=job.tenant_id, memory_ids=ids)
            if done:
                jobs.finish(conn, job)
                if setup.policy.links == "write" and job.scope_id is not None and job.scope_id > 0:
                    writing.queue_links(conn, job.scope_id)

        yield from steps.write(job.tenant_id, effect, key=job.job_id)
    if failed:
        raise Unavailable(f"the embedding model cannot embed {failed} memories", reason="embedding_failed")


def tend(setup: Setup, job: Job) -> Operation[None]:
    """Count the words of a scope that has grown large, and put its new vectors into the graph, batch by batch."""

    def batch(conn: Connection) -> bool:
        model_id = setup.embedder.model_id if setup.embedder is not None and setup.embedder.is_measured else None
        return upkeep.tend(conn, job.tenant_id, int(job.scope_id or 0), model_id)

    yield from _in_batches(job, batch)


def index_events(setup: Setup, job: Job) -> Operation[None]:
    """Write the words of a scope's events to the index, batch by batch, until none waits."""
    default = setup.settings.text_search_config

    def batch(conn: Connection) -> bool:
        semantic.hold_models(conn)  # while the words of a tenant are read anew, nobody writes by what they were
        config = keyword.config_of(conn, job.tenant_id, default)
        return events.index(conn, job.tenant_id, int(job.scope_id or 0), config=config)

    yield from _in_batches(job, batch)


def purge(setup: Setup, job: Job) -> Operation[None]:
    """Remove finished jobs and old logs of recalls, of every tenant, batch by batch."""
    kept = setup.settings.recall_log_kept

    def batch(conn: Connection) -> bool:
        purged = jobs.purge(conn, PURGE_BATCH), log.purge(conn, PURGE_BATCH, kept=kept)
        return PURGE_BATCH in purged

    yield from _in_batches(job, batch)


def _in_batches(job: Job, batch: Callable[[Connection], bool]) -> Operation[None]:
    """Run a job a transaction a batch, for as long as the batch says that there is more."""

    def effect(conn: Connection) -> bool:
        jobs.hold(conn, job)
        more = batch(conn)
        (jobs.extend if more else jobs.finish)(conn, job)
        return more

    while (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
        pass


def _waiting(conn: Connection, asked: Mapping[str, Any]) -> list[Any]:
    return list(fetch_all(conn, "list_unembedded", **asked))
