"""What an operator does: verification, redaction, jobs, checks, and the life of memories by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from engram import operations
from engram.embedding import Embedder
from engram.operations.arguments import Read, Write
from engram.policies import MemoryPolicy
from engram.scope import Ids, Scope
from engram.values import (
    AuditEntry,
    AuditReport,
    Backlog,
    Calibration,
    Cluster,
    DecayRow,
    DoctorReport,
    EmbeddingModel,
    ErasureReport,
    ExportProgress,
    ExportReport,
    ImportProgress,
    ImportReport,
    Job,
    JobState,
    Layer,
    LifecycleRun,
    LoggedRecall,
    Page,
    PolicyReport,
    RecallDiff,
    ReembedProgress,
    ReindexProgress,
    Replay,
    ReplayDiff,
    UndoReport,
    Usage,
    VerifyReport,
)

if TYPE_CHECKING:
    from engram.client.door import Engram


class Ops:
    """The operator's door: verification, redaction, jobs and checks."""

    def __init__(self, door: Engram) -> None:
        self._door = door
        self._setup = door._setup
        self._run = door._run

    def verify_ledger(self, *, anchors: Mapping[str, Any] | None = None, **read: Unpack[Read]) -> VerifyReport:
        """Recompute the hash chain of the scope's streams from their payloads, and name the first bad position.

        `anchors` are heads kept elsewhere (`report.heads` of an earlier run): only they reveal a cut tail.
        """
        return self._run(operations.watching.verify_ledger(self._setup, anchors, read))

    def consolidate(self, *, merge: bool = False, **write: Unpack[Write]) -> LifecycleRun:
        """Run a consolidation cycle of the scope: what is reinforced rises, what is spent is put away.

        A cycle runs only where something was written since the last one (or where one was broken off): else nothing
        happens and `steps` is empty. Workers do this every 30 minutes by themselves. `merge` makes one of near
        duplicates too. Its steps run in a fixed order, each on its own: one that fails is named in `failed_steps` and
        stops no other. Three notes of sessions, memories with the tag `session-note`, become one that says where things
        stand. At level `off` everything goes by rules. A `dry_run` shows what the rules would change, up to
        500 memories a step and for 10 seconds, and asks no language model. Where two run one cycle at once, the one
        that came last goes on with it. `undo` takes the whole cycle back, but for the epoch.
        """
        return self._run(operations.cycling.consolidate(self._setup, merge, write))

    def prune(
        self,
        mode: Literal["gentle", "normal", "aggressive"] = "gentle",
        *,
        layers: Sequence[Layer] | None = None,
        **write: Unpack[Write],
    ) -> LifecycleRun:
        """Put away memories that are over or have faded; nothing is lost, and `undo` brings them back.

        `gentle` takes what has expired; `normal` also what fell under 0.01 of importance, counted by days since it was
        recorded; `aggressive` also the lowest tenth of the rest. Critical and core memories are exempt, and working
        ones where the policy's intake is `buffer`; `layers` narrows it further, and the policy's `keep` may veto.
        """
        return self._run(operations.pruning.prune(self._setup, mode, layers, write))

    def rebuild_topics(self, **write: Unpack[Write]) -> LifecycleRun:
        """Make the scope's tree of topics anew; it takes the place of the one there is unless it is worse.

        Worse is a tree that tells its memories apart less well, that was made while memories lacked their vectors, or
        that has a topic without a name. A language model names topics where the component `naming` has one, else their
        three most telling words do. No memory changes.
        """
        return self._run(operations.topics.rebuild_topics(self._setup, write))

    def archive(self, memory_ids: Sequence[str], **write: Unpack[Write]) -> LifecycleRun:
        """Put current memories away, up to 500 at once; nothing is lost, and `undo` or `restore` brings them back.

        Raises NotFound for an id the scope has not, and Conflict for a memory that is not current.
        """
        return self._run(operations.living.archive(self._setup, memory_ids, write))

    def merge_similar(
        self, *, threshold: float | None = None, use_llm: bool | None = None, **write: Unpack[Write]
    ) -> LifecycleRun:
        """Make one of those current memories of the scope that say the same, the most alike first.

        Two become one from a similarity of `threshold` on (default 0.85, or what the policy or the model says), of
        different types from 0.95, and only where one says all that the other does: a changed number, date, name, word
        or "not" keeps them apart. The more important stays, then the more used, then the newer; the other is put away.
        With a language model (`use_llm`; default: where the policy lets one merge) pairs from 0.78 on may get a new
        text, if every value and word of both is in it. Pairs that were judged are not judged again. Pinned and private
        memories take no part. A dry run shows what rules would do, and asks no model. Raises ModelRejected where
        `use_llm=True` and there is none.
        """
        return self._run(operations.merging.merge_similar(self._setup, threshold, use_llm, write))

    def find_clusters(
        self,
        *,
        max_distance: float | None = None,
        min_jaccard: float | None = None,
        min_size: int = 3,
        limit: int = 10,
        **ids: Unpack[Ids],
    ) -> tuple[Cluster, ...]:
        """Groups of current memories of the scope that are about one thing: up to `limit`, each of at least `min_size`.

        They are found greedily from the memory with the most others near it: a distance of at most `max_distance`
        (default 0.15, or what the policy or the model says) and shared words, a Jaccard similarity of `min_jaccard`
        (default 0.2) or more; without vectors by words alone (default 0.3). Memories further apart than a distance of
        0.45, or a Jaccard similarity of 0.3 where there are words alone, are never near. A memory is in one group of at
        most 40. Changes no memory.
        """
        return self._run(
            operations.consolidating.find_clusters(
                self._setup,
                max_distance=max_distance,
                min_jaccard=min_jaccard,
                min_size=min_size,
                limit=limit,
                given=ids,
            )
        )

    def consolidate_summaries(self, *, limit: int = 50, **write: Unpack[Write]) -> LifecycleRun:
        """Write one summary for each of at most `limit` groups of current memories that are about one thing.

        The summary tells all that its sources do: the text of the one the others are most like, and what the others say
        besides, or a language model's words where these lose no value and no word. Sources keep their status, leave
        default reads, and are found with `include_consolidated=True`; forgetting or archiving the summary, or `undo` of
        the run, brings them back. A source that is revised, replaced, forgotten, put away, made private or given an end
        puts its summary away. Memories with a slot or key, with an end, pinned and private ones take no part.
        """
        return self._run(operations.consolidating.consolidate_summaries(self._setup, limit, write))

    def audit(self, *, apply: bool = False, **write: Unpack[Write]) -> AuditReport:
        """What could be put in order in the scope, each with its reason; nothing is done without `apply=True`.

        Proposed are merges of memories that say the same with a similarity of 0.65 to 0.78, moves from the core to
        working of what its gate would not let in today, and the types that rules of the policy give memories without
        one. A language model, where one is configured for it, strikes out what it doubts. At most 100 of a kind.
        """
        return self._run(operations.proposing.audit(self._setup, apply, write))

    def set_layer(self, memory_id: str, layer: Layer, **write: Unpack[Write]) -> LifecycleRun:
        """Move a memory to `buffer`, `working` or `core`; only an operator can, agents reinforce.

        Raises Conflict for a pinned memory, which stays in the core, and for one that is not current.
        """
        return self._run(operations.living.set_layer(self._setup, memory_id, layer, write))

    def decay(
        self, *, limit: int = 20, profile: str | None = None, memory_id: str | None = None, **ids: Unpack[Ids]
    ) -> tuple[DecayRow, ...]:
        """What time has left of the current memories, those with least left first, up to 200.

        `profile` is the forgetting curve: `access` (by the hour since the last access), `ebbinghaus` (30 days halve it,
        accesses boost it), `retention` (accesses slow it) or `epochs` (only activity of the scope ages it); default:
        the policy's `decay`. Importance itself is never changed by time. With `memory_id` it is that memory's row
        alone, if it is current, with the points of its curve to come. Raises NotFound for an id the scope has not.
        """
        return self._run(
            operations.fading.decay_table(self._setup, limit=limit, profile=profile, memory_id=memory_id, given=ids)
        )

    def simulate_policy(
        self,
        policy: str | MemoryPolicy,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        **ids: Unpack[Ids],
    ) -> PolicyReport:
        """Run a policy over the scope's past events and say how it would have decided, without changing a memory.

        The events are derived again beside the live memories, as in a replay, compared with them, and dropped. `since`
        takes what was known then as given, `until` leaves out what came later. No language model is asked: what it
        took the first time is the estimate. Raises NotFound for a scope that nothing was ever written to.
        """
        return self._run(
            operations.simulating.simulate_policy(self._setup, policy, since=since, until=until, given=ids)
        )

    def audit_log(
        self,
        *,
        memory_id: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **ids: Unpack[Ids],
    ) -> Page[AuditEntry]:
        """Who changed which memory, why, and what undoing it would take back; newest first.

        Of all memories of the readable scopes, or of one; `actor` asks for one author, `since` and `until` for a time.
        `undo_id` of an entry is what `ops.undo` takes. Raises NotFound for an id the scope has not.
        """
        return self._run(
            operations.auditing.audit_log(
                self._setup, memory_id=memory_id, actor=actor, since=since, until=until, limit=limit, cursor=cursor,
                given=ids,
            )
        )  # fmt: skip

    def list_runs(self, *, limit: int = 50, cursor: str | None = None, **ids: Unpack[Ids]) -> Page[LifecycleRun]:
        """What the life cycle did in the scope, run by run, newest first, each with its first 1,000 changes."""
        return self._run(operations.living.list_runs(self._setup, limit, cursor, ids))

    def undo(self, run_or_event_id: str, **write: Unpack[Write]) -> UndoReport:
        """Take back what a run, a whole cycle or a single event changed in memories and relations.

        What has changed since is left as it is and listed in `left`. Nothing is deleted: a memory that the run made is
        put aside, and a relation is again as it was. The undoing is a run of its own, so it can be undone. Raises
        NotFound for an unknown id, and Conflict for a run that was taken back already, an event that was erased, or one
        of a kind that changes neither: of sessions, tasks and checkpoints. Counts of reads stay as they are.
        """
        return self._run(operations.living.undo(self._setup, run_or_event_id, write))

    def erase(
        self,
        *,
        events: Sequence[str] | None = None,
        memories: Sequence[str] | None = None,
        session: str | None = None,
        user: str | None = None,
        scope: Scope | None = None,
        source: str | None = None,
        **write: Unpack[Write],
    ) -> ErasureReport:
        """Erase what was said for ever, with all that was made of it, and look again whether it is gone.

        Exactly one of: `events` or `memories` by id (of a memory go the events it rests on, and all else they said),
        a `session` with its parts, a `user` in every namespace and of every agent of the tenant, one `scope`, or the
        memories of one `source` with their documents. What else an erased memory rested on is derived again by jobs.
        Places, ids and hashes stay, so the chain still verifies. One transaction an event: a call that broke off is
        gone on with by the same call. `dry_run` counts and erases nothing. Ids are added to the redaction list before.
        Raises NotFound for an id that the scope does not show, and for a session, user or scope that never was; of a
        source of which nothing is there `out_of_reach` says so. Raises InvalidInput, Unavailable.
        """
        targets = {
            "events": events, "memories": memories, "session": session, "user": user, "scope": scope, "source": source,
        }  # fmt: skip
        return self._run(operations.erasing.erase(self._setup, targets, write))

    def redact_event(self, event_id: str, **write: Unpack[Write]) -> ErasureReport:
        """Erase what one event said, for ever: `erase(events=[event_id])`."""
        return self._run(operations.erasing.redact_event(self._setup, event_id, write))

    def apply_redactions(self, path: str | Path, **write: Unpack[Write]) -> ErasureReport:
        """Erase again what a redaction list names, of this tenant: after an older backup was restored, before serving.

        `path` is the file that `ENGRAM_REDACTION_LIST` named. Events the database does not have are counted under
        `out_of_reach`. Raises InvalidInput for a file that is no such list, Unavailable.
        """
        return self._run(operations.erasing.apply_redactions(self._setup, path, write))

    def usage(
        self,
        *,
        since: datetime | None = None,
        group_by: Literal["component", "model", "day"] = "component",
        **ids: Unpack[Ids],
    ) -> tuple[Usage, ...]:
        """What language models took in the scope: calls, tokens, dollars, by component, model or day (UTC).

        `user_id=ALL_USERS` counts every user's. A call that was never settled counts, after 10 minutes, as the most it
        could cost. An answer that was paid for before is no call.
        """
        return self._run(operations.watching.usage(self._setup, since, group_by, ids))

    def reembed(
        self,
        model: str | Embedder,
        *,
        batch_size: int = 100,
        switch: bool = True,
        drop: bool = True,
        dry_run: bool = False,
        progress: Callable[[ReembedProgress], None] | None = None,
    ) -> ReembedProgress:
        """Change the tenant's embedding model while it is read and written: build new vectors, switch, drop the old.

        Call it again after an interruption: it goes on. `batch_size` memories (1 to 1,000) are embedded at a time;
        `progress` hears of every batch. `switch=False` stops when everything is built, to look at the `overlap`;
        `drop=False` keeps the old vectors, so that going back embeds only what was written since. With the model in use
        it makes what is missing. `dry_run` tells how many memories there are and how many have their vector. Raises
        InvalidInput, for a model this process lacks too, Unavailable when the model fails for long (`reason` is
        `space_drift` when it is not what it was), Conflict when another change came in.
        """
        return self._run(
            operations.reembedding.reembed(
                self._setup, model, batch_size=batch_size, switch=switch, drop=drop, dry_run=dry_run, progress=progress
            )
        )

    def reindex_words(
        self,
        config: str | None = None,
        *,
        dry_run: bool = False,
        progress: Callable[[ReindexProgress], None] | None = None,
    ) -> ReindexProgress:
        """Read the words of all the tenant's memories anew, by another text search configuration or its own.

        `config` is the name of one of the server's, such as `simple`, `english` or `german`; Chinese, Japanese and
        Korean are read as pairs of characters by any of them. It holds for every process from then on; while this
        runs, a memory that is not done is found by the words both configurations read alike, and by its meaning. Call
        it again after an interruption. Writers wait while a batch is read. `progress` hears of every batch; `dry_run`
        counts and writes nothing. Raises InvalidInput for a name the server does not know, Conflict when another change
        came in, Unavailable where others write for too long at once.
        """
        return self._run(operations.reindexing.reindex_words(self._setup, config, dry_run=dry_run, progress=progress))

    def calibrate(self, pairs: Sequence[Mapping[str, str]] | None = None, *, keep: bool = True) -> Calibration:
        """Measure what the cosines of the tenant's embedding model mean, and judge by that from then on.

        A cosine of .5 is much by one model and nothing by another. Engram's thresholds are those of its local model:
        what answers a question, what is a duplicate, what is merged. With any other model call this once for each
        tenant, before its first memory or after, and again after a change of model or an import: some 200 short texts
        are embedded. `pairs` are texts of your own, 20 to 500 mappings of `fact`, `paraphrase`, `changed` (the fact
        with another value) and `question`, for memories in another language than English; `keep=False` only tells.
        Raises InvalidInput for other pairs, ModelRejected where the model finds what says the same no nearer than what
        does not, Unavailable when it is out or there is none, Conflict when the model was changed meanwhile.
        """
        return self._run(operations.calibrating.calibrate(self._setup, pairs, keep=keep))

    def list_models(self) -> tuple[EmbeddingModel, ...]:
        """The tenant's embedding models, the one in use first, and how many vectors each has."""
        return self._run(operations.reembedding.list_models(self._setup))

    def run_jobs(self, *, limit: int = 10) -> int:
        """Claim due jobs of the tenant and run them here, now; how many were run."""
        return self._run(operations.running.run_jobs(self._setup, limit))

    def list_jobs(
        self, *, state: JobState | None = None, limit: int = 50, cursor: str | None = None, **ids: Unpack[Ids]
    ) -> Page[Job]:
        """The jobs of the readable scopes, oldest first, all or those in one state, such as `dead`."""
        return self._run(operations.queueing.list_jobs(self._setup, state=state, limit=limit, cursor=cursor, given=ids))

    def retry_job(self, job_id: str, **write: Unpack[Write]) -> Job:
        """Queue a dead, paused, cancelled or waiting job again, at once and with its tries at zero.

        Raises NotFound outside the scope, Conflict when the job runs or is done.
        """
        return self._run(operations.queueing.retry_job(self._setup, job_id, write))

    def cancel_job(self, job_id: str, **write: Unpack[Write]) -> Job:
        """Cancel a job; one that runs loses its lease, and its effect is refused.

        What it was to derive is not taken from it: the next job of the stream reads the same events. Raises NotFound
        outside the scope, Conflict when the job is done.
        """
        return self._run(operations.queueing.cancel_job(self._setup, job_id, write))

    def backlog(self, **ids: Unpack[Ids]) -> tuple[Backlog, ...]:
        """What each deriver has yet to read of each readable stream, oldest first, at most 1,000; empty is derived.

        An event is shown here until it is derived, whether a job is left for it or not.
        """
        return self._run(operations.queueing.backlog(self._setup, ids))

    def replay(
        self,
        *,
        since: datetime | None = None,
        derivers: Sequence[str] | None = None,
        policy: str | MemoryPolicy | None = None,
        progress: Callable[[int, int], object] | None = None,
        **write: Unpack[Write],
    ) -> ReplayDiff:
        """Derive the scope's memories again from its ledger, beside the live ones, and show how they differ.

        `policy` and `derivers` (by name) are those to derive by, otherwise the door's own and those each event asked
        for; `since` leaves what was known at that moment as it is. Direct changes are made again where they were made.
        The live memories stay untouched until `switch_replay`. Killed, it goes on where it was when it is called
        again; `progress` is told the steps done and all there are. A `dry_run` drops the shadow after the comparison.
        Raises NotFound for a scope nobody wrote to, Conflict when it has four shadows, Unavailable.
        """
        return self._run(
            operations.replaying.replay(
                self._setup, since=since, derivers=derivers, policy=policy, progress=progress, given=write
            )
        )

    def compare_replay(self, shadow_id: str, **ids: Unpack[Ids]) -> ReplayDiff:
        """How a shadow differs from the live memories as both stand now; NotFound outside the scope."""
        return self._run(operations.replaying.compare(self._setup, shadow_id, ids))

    def switch_replay(
        self,
        shadow_id: str,
        *,
        policy: str | MemoryPolicy | None = None,
        progress: Callable[[int, int], object] | None = None,
        **write: Unpack[Write],
    ) -> Replay:
        """Make a shadow the live memories, in one transaction; those that were live are the shadow then.

        It first catches up with what was written since; writers wait for the moment of the switch, and ids stay good.
        To go back, switch to the same shadow again. `policy` is needed for one that is not built in. Raises NotFound,
        Conflict when the shadow was derived by another policy than the one given, Unavailable.
        """
        return self._run(
            operations.replaying.switch(self._setup, shadow_id, policy=policy, progress=progress, given=write)
        )

    def drop_replay(self, shadow_id: str, **write: Unpack[Write]) -> int:
        """Drop a shadow, for ever; how many memories it held. The live memories and the ledger are not touched."""
        return self._run(operations.replaying.drop(self._setup, shadow_id, write))

    def list_replays(self, **ids: Unpack[Ids]) -> tuple[Replay, ...]:
        """The shadows of exactly one scope, oldest first, and how far each has come."""
        return self._run(operations.replaying.list_replays(self._setup, ids))

    def list_recalls(self, *, limit: int = 50, cursor: str | None = None, **ids: Unpack[Ids]) -> Page[LoggedRecall]:
        """What was recalled in the readable scopes, newest first: questions, plans, ids and scores, versions, times.

        A page of at most 200; its `cursor` continues it. What is logged, and for how long, the settings RECALL_LOG,
        RECALL_LOG_SAMPLE and RECALL_LOG_KEPT say.
        """
        return self._run(operations.explaining.list_recalls(self._setup, limit=limit, cursor=cursor, given=ids))

    def get_recall(self, recall_id: str, **ids: Unpack[Ids]) -> LoggedRecall:
        """One logged recall, by the `recall_id` of its answer; NotFound when the scope does not know it."""
        return self._run(operations.explaining.get_recall(self._setup, recall_id, ids))

    def replay_recall(self, recall_id: str, **ids: Unpack[Ids]) -> RecallDiff:
        """Make a logged recall again, as of what was known then, and show what comes out differently.

        The plan is the logged one, so no language model is asked. Scores may differ a little: the rarity of words and
        how often a memory was returned are those of today. Raises NotFound where its question was erased.
        """
        return self._run(operations.explaining.replay_recall(self._setup, recall_id, ids))

    def export(
        self,
        path: str | Path,
        *,
        format: Literal["jsonl", "markdown", "csv"] = "jsonl",
        user: str | None = None,
        vectors: bool = False,
        progress: Callable[[ExportProgress], None] | None = None,
        **ids: Unpack[Ids],
    ) -> ExportReport:
        """Write everything the readable scopes hold to a file, as it is at one moment; all of it or nothing.

        `jsonl` is lossless: events with what they said, memories with lineage, states, times and citations, history,
        relations, sessions, task runs, checkpoints; `vectors=True` adds the vectors of the model in use. `markdown`
        and `csv` are the current memories, for people. `user` takes everything of that user, whatever the namespace
        and agent. Private rows are shown to their own scope only, erased payloads stay erased. `progress` hears of
        every 500 lines. A file that is there is replaced. Raises InvalidInput for a path that cannot be written to,
        Conflict where an event was changed behind the ledger's back, Damaged where a checkpoint was, Unavailable.
        """
        return self._run(
            operations.exporting.export(
                self._setup, path, format=format, user=user, vectors=vectors, progress=progress, given=ids
            )
        )

    def import_(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        on_conflict: Literal["skip", "overwrite", "keep_both"] = "skip",
        strict: bool = False,
        progress: Callable[[ImportProgress], None] | None = None,
        **write: Unpack[Write],
    ) -> ImportReport:
        """Read a file into memory: an export of Engram, what another product remembers, or conversations.

        `format` is `engram`, `mem0`, `zep`, `letta`, `langmem`, `jsonl`, `csv`, `markdown` or `transcript`; `auto`
        tells them by their shape. An export comes back as it was, ids and times too, into scopes of this tenant that
        are empty; where they hold all of it already nothing is added. Facts of others keep their times and rest on an
        event each, with the id they had, so that a file read twice adds nothing. `on_conflict` is about an entry that
        says something else than before, or contradicts what is known: leave it out, revise, or store both. An entry
        nobody can read is a problem of the report, with its place; with `strict=True` it refuses the whole file.
        Raises InvalidInput for a file that is damaged or of no known form, before anything is written, and for an
        export that names ids of other scopes, with nothing written; Conflict where a scope of an export holds
        something else; Unavailable.
        """
        return self._run(
            operations.importing.import_(
                self._setup, path, format=format, on_conflict=on_conflict, strict=strict, progress=progress, given=write
            )
        )

    def doctor(self) -> DoctorReport:
        """Check server, schema, roles, row-level security, indexes, jobs, vectors and, where one is set, Redis."""
        return self._run(operations.watching.doctor(self._setup))
