"""The door for event loops, and one that is bound to a session: `door`, awaited."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack

from engram import inputs, operations, ranking
from engram.client.async_ops import AsyncOps
from engram.client.core import ABREAST, Door, TokenCounter, naming_all
from engram.errors import EngramError, InvalidInput, NotFound
from engram.filters import Filter
from engram.longinput.media import Media
from engram.operations.arguments import (
    Artifact,
    Attributes,
    Candidate,
    Edit,
    EndorseWrite,
    Message,
    NewMemory,
    NewRelation,
    Read,
    SessionWrite,
    TaskWrite,
    ToolCall,
    Write,
)
from engram.operations.steps import Operation, Ring, Step, Think, Together, Transact
from engram.ranking import Profile, ProfileWeights
from engram.scope import Ids
from engram.values import (
    Calendar,
    Checkpoint,
    Chunk,
    Citation,
    CitationState,
    CitedText,
    ContextBlock,
    CriticalMemories,
    DecisionKind,
    Derive,
    Detail,
    Direction,
    Event,
    EventResults,
    FeedItem,
    Format,
    Grouping,
    Health,
    HistoryEntry,
    Intent,
    LifecycleRun,
    Lineage,
    LongInputProgress,
    LongInputReport,
    Memory,
    MemoryExplanation,
    Mode,
    Page,
    RecallAnswer,
    RecallTrace,
    Receipt,
    Relation,
    ResumedTask,
    Role,
    ScopeStats,
    SearchResults,
    Session,
    TaskRun,
    TaskStatus,
    Timeline,
    Topic,
    TopicMemories,
    Traversal,
    TraversalResult,
    Trigger,
    Trust,
    WhyNot,
    Window,
    WriteDecision,
)

if TYPE_CHECKING:
    from engram.sessions import Visit

T = TypeVar("T")


class AsyncEngram(Door):
    """Engram for event loops: every method of `Engram`, awaited."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, *, drain: float = 10.0) -> None:
        """Close the connections; a door made by `scoped` leaves them to the one it came from.

        What runs in the background may take `drain` seconds; what is left stays a job, for the next who opens.
        """
        seconds = inputs.number(drain, "drain", 0, 3_600)
        if self._owner:
            await self._core.close_async(seconds)

    @property
    def ops(self) -> AsyncOps:
        """What an operator does, apart from what an agent may do."""
        return AsyncOps(self)

    async def _run(self, operation: Operation[T]) -> T:
        try:
            step = next(operation)
            while True:
                try:
                    result = await self._do(step)
                except BaseException as error:  # noqa: BLE001 - the operation hears of it, and raises
                    step = operation.throw(error)
                else:
                    step = operation.send(result)
        except StopIteration as done:
            value: T = done.value
            return value
        except InvalidInput as error:
            if "known" not in error.facts:
                raise
            raise naming_all(error, sys._getframe(1).f_code) from None

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Transact):
            opened = self._core.opened
            database = opened if opened is not None else await asyncio.to_thread(self._core.database)
            return await database.run_async(
                step.tenant_id, step.work, key=step.key, read_only=step.read_only, snapshot=step.snapshot,
                any_schema=step.any_schema, patience=step.patience,
            )  # fmt: skip
        if isinstance(step, Think):
            return await asyncio.to_thread(self._core.think, step)
        if isinstance(step, Ring):
            return None if self._core.rung(step) else await asyncio.to_thread(self._core.ring, step)
        if isinstance(step, Together):
            few = asyncio.Semaphore(ABREAST)
            tasks = [asyncio.create_task(self._outcome(operation, few)) for operation in step.operations]
            try:
                return await asyncio.gather(*tasks)
            except BaseException:
                for task in tasks:
                    if not task.cancelling():  # a loop that ends has told all of them
                        task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                raise
        return await asyncio.sleep(step.seconds)

    async def _outcome(self, operation: Operation[T], few: asyncio.Semaphore) -> T | EngramError:
        try:
            async with few:
                return await self._run(operation)
        except EngramError as error:
            return error

    # Write: the ledger's roads

    async def remember(
        self,
        messages: str | Message | Sequence[Message],
        *,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append what was said to the ledger and derive memories from it.

        A text is one user message; a list is up to 500 messages of 8 MiB in all, all or nothing. Messages with an
        `event_id`, or a call with an `idempotency_key`, may be sent again: nothing happens twice. `derive` overrides
        the policy (`skip`, `verbatim`, `rules`, or `llm`, which means `rules` where there is no language model); the
        decisions are in the receipt when derivation ran in this process. Raises InvalidInput, IdempotencyMismatch,
        Unavailable. An error while it waits has `event_ids`: these are in the ledger, to be waited for by `wait_for`
        and not to be sent again.
        """
        return await self._run(
            operations.capture.remember(self._setup, messages, derive=derive, wait=wait, given=write)
        )

    async def record_event(
        self,
        content: str,
        *,
        role: Role = "agent",
        event_type: str = "observation",
        payload: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        expected_position: int | None = None,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append one event to its task's stream, else its session's, else the scope's own.

        With `expected_position` nothing is written, and StaleStream raised, unless the stream is exactly there.
        """
        return await self._run(
            operations.capture.record_event(
                self._setup,
                content,
                role=role,
                event_type=event_type,
                payload=payload,
                metadata=metadata,
                derive=derive,
                expected_position=expected_position,
                given=write,
            )
        )

    async def record_turn(
        self,
        user_message: str,
        assistant_message: str | None = None,
        *,
        tool_calls: Sequence[ToolCall] = (),
        artifacts: Sequence[Artifact] = (),
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append a whole turn in one transaction: message, tool calls with their results, artifacts, answer.

        An error while it waits has `event_ids`, as one of `remember` does.
        """
        return await self._run(
            operations.capture.record_turn(
                self._setup,
                user_message,
                assistant_message,
                tool_calls=tool_calls,
                artifacts=artifacts,
                metadata=metadata,
                derive=derive,
                wait=wait,
                given=write,
            )
        )

    async def wait_for(
        self, what: Receipt | str, *, deriver: str | None = None, timeout: float = 10.0, **read: Unpack[Read]
    ) -> tuple[WriteDecision, ...]:
        """Wait until the events of a receipt (or one event, by id) are derived; Unavailable after `timeout` seconds.

        NotFound where the read sees no such event.

        `deriver` is one of `verbatim`, `rules` and `llm`; without it every one that an event asks for, the language
        model as long as a job is on its way to it. Returns the decisions that came of the events. A dead job is not
        waited for: Unavailable comes at once, with its `error_class`.
        """
        return await self._run(
            operations.deriving.wait_for(self._setup, what, deriver=deriver, timeout=timeout, given=read)
        )

    # Write: the direct roads

    async def add(self, fact: str, **memory: Unpack[NewMemory]) -> WriteDecision:
        """Remember one fact, unless it is known; the decision says what became of it, and why.

        A fact that is known gets the tags; its other attributes stay, and the hints of the decision name what was
        stated otherwise and the call that changes it.

        `topic_key` makes it an upsert that keeps history; `dry_run` writes nothing. Sent again under its
        `idempotency_key` it gives the first decision, which is `erased` where what came of it was erased since. Raises
        InvalidInput for a list of messages (use `remember`), IdempotencyMismatch where the key came with another fact,
        Unavailable when the embedder fails. What ends before it was said needs its `valid_from`.
        """
        return await self._run(operations.joining.add(self._setup, fact, memory))

    async def add_many(self, items: Sequence[Candidate], **write: Unpack[Write]) -> tuple[WriteDecision, ...]:
        """Remember up to 500 facts in one transaction, all or nothing; a bad item fails the call, naming its index."""
        return await self._run(operations.joining.add_many(self._setup, items, write))

    async def revise(
        self,
        memory_id: str,
        fact: str | Edit | None = None,
        *,
        main_content: str | None = None,
        valid_from: datetime | None = None,
        expected_revision: int | None = None,
        **write: Unpack[Write],
    ) -> WriteDecision:
        """Write a new revision on the current head of a memory's lineage, whichever revision was named.

        Raises AlreadySuperseded when the head is not `expected_revision`,
        Conflict when nothing of the lineage is current.
        """
        return await self._run(
            operations.changing.revise(
                self._setup,
                memory_id,
                fact,
                main_content=main_content,
                valid_from=valid_from,
                expected_revision=expected_revision,
                given=write,
            )
        )

    async def annotate(self, memory_id: str, **attributes: Unpack[Attributes]) -> Memory:
        """Change attributes of a memory in place: tags, importance, category, expiry and the like. No new revision."""
        return await self._run(operations.changing.annotate(self._setup, memory_id, attributes))

    async def end_validity(self, memory_id: str, at: datetime | None = None, **write: Unpack[Write]) -> Memory:
        """Say that a memory stopped holding (at `at`, default now) without a successor.

        Raises InvalidInput where `at` is not after a `valid_from` that was stated.
        """
        return await self._run(operations.changing.end_validity(self._setup, memory_id, at, write))

    async def reinforce(self, memory_id: str, amount: float = 0.1, **write: Unpack[Write]) -> Memory:
        """Raise a memory's importance by `amount`, at most to 1."""
        return await self._run(operations.changing.reinforce(self._setup, memory_id, amount, write))

    async def endorse(self, memory_id: str, trust: Trust, **write: Unpack[EndorseWrite]) -> Memory:
        """Vouch for a memory as the user or an operator: `trust`, `"user"` or `"operator"`, says who does.

        It is trusted as they are from then on, though never less than before, and who is head of its lineage is decided
        anew: a contested memory may take the place of the head. Raises Conflict for one that is forgotten, retracted,
        quarantined or erased.
        """
        return await self._run(operations.changing.endorse(self._setup, memory_id, trust, write))

    async def feedback(
        self,
        memory_ids: str | Sequence[str],
        value: Literal[1, -1],
        *,
        recall_id: str | None = None,
        note: str | None = None,
        **write: Unpack[Write],
    ) -> tuple[Memory, ...]:
        """Say that memories helped (1) or misled (-1): their confidence rises by 0.15 or falls by 0.2, from 0 to 1.

        A memory that was rated down three times or more and has less than the policy's `feedback_floor` (0.15) left is
        archived, unless it is pinned; `ops.undo` takes a rating back. `recall_id` names the recall that gave them, and
        `note` says why, which is the `reason` of the change. Several ids are rated in one event, all or none. Raises
        NotFound for an id or a recall the scope has not. Returns the memories as they are then.
        """
        return await self._run(
            operations.rating.feedback(self._setup, memory_ids, value, recall_id=recall_id, note=note, given=write)
        )

    async def merge(self, memory_ids: Sequence[str], fact: str | None = None, **write: Unpack[Write]) -> LifecycleRun:
        """Make one of 2 to 20 current memories of one scope: the first stays, the others are put away.

        `fact` is the text that stands for all of them, as a new revision of the first; without one it is the text among
        theirs that says all that the others do. The first takes over their counts, tags, relations, the highest
        importance and layer; `undo` of the run gives everything back. Raises Conflict where none says all and no `fact`
        is given, for memories that are not current, of several scopes, what was said word for word, pinned ones and
        heads of a key (but the first), and where the first has a better source than the new text; NotFound for an id
        the scope has not.
        """
        return await self._run(operations.merging.merge(self._setup, memory_ids, fact, write))

    async def forget(self, memory_id: str, *, revision_only: bool = False, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget a fact with all its revisions, so that no older value comes back; the ids. Undone by `restore`.

        `revision_only=True` retracts one revision instead, and its predecessor may become head. A denial of what nobody
        held, which stands beside a lineage (`moot`), is a fact of its own: it is retracted alone, and stays where the
        lineage is forgotten.
        """
        return await self._run(operations.changing.forget(self._setup, memory_id, revision_only, write))

    async def restore(self, memory_id: str, **write: Unpack[Write]) -> Memory:
        """Bring back what was forgotten, retracted or archived."""
        return await self._run(operations.changing.restore(self._setup, memory_id, write))

    # The graph

    async def relate(
        self,
        source_id: str,
        target_id: str,
        relation_type: str = "related_to",
        *,
        weight: float = 1.0,
        metadata: Mapping[str, Any] | None = None,
        **write: Unpack[Write],
    ) -> Relation:
        """Say that one memory has to do with another: a typed edge from the first to the second, weighing 0 to 1.

        The same edge again takes the new weight, and the new metadata where some are given. Types are names of your
        own, such as `causes`; `part_of`, `contains`, `derived_from`, `supersedes`, `revision_of` and `summarized_by`
        are structural. Both memories must be in the scope's sight. Ended by `unrelate`.
        """
        return await self._run(
            operations.relating.relate(
                self._setup, source_id, target_id, relation_type, weight=weight, metadata=metadata, given=write
            )
        )

    async def relate_batch(self, items: Sequence[NewRelation], **write: Unpack[Write]) -> tuple[Relation, ...]:
        """Relate up to 500 pairs of memories in one transaction, all or nothing; an error names the item.

        Each item is an object of `source_id`, `target_id`, `relation_type`, `weight` and `metadata`, as `relate` takes
        them. Of two items that name the same edge the later counts.
        """
        return await self._run(operations.relating.relate_batch(self._setup, items, write))

    async def unrelate(self, source_id: str, target_id: str, relation_type: str, **write: Unpack[Write]) -> None:
        """End a relation between two memories; `as_of` and `known_at` still show it. NotFound where none stands."""
        return await self._run(operations.relating.unrelate(self._setup, source_id, target_id, relation_type, write))

    async def list_relations(
        self,
        memory_id: str,
        *,
        direction: Direction = "any",
        relation_types: Sequence[str] | None = None,
        limit: int | None = None,
        **read: Unpack[Read],
    ) -> tuple[Relation, ...]:
        """The relations of a memory that stand, the heaviest first; only those whose other end is in sight.

        All of them, or the `limit` (up to 200) heaviest. `direction` is `outbound` (from it), `inbound` (to it) or
        `any`. The other end may be superseded, not forgotten.
        """
        return await self._run(
            operations.relating.list_relations(
                self._setup, memory_id, direction=direction, relation_types=relation_types, limit=limit, given=read
            )
        )

    async def traverse(
        self,
        start_id: str,
        *,
        max_depth: int = 3,
        direction: Direction = "outbound",
        relation_types: Sequence[str] | None = None,
        min_weight: float = 0.0,
        limit: int = 50,
        query: str | None = None,
        include_superseded: bool = False,
        **read: Unpack[Read],
    ) -> Traversal:
        """The memories that relations lead to from one, each by its best path, the best score first.

        Up to `max_depth` hops (1 to 10), over relations of at least `min_weight`, the heaviest 50 of each memory. Every
        hop passes only what is in sight and current; `include_superseded=True` shows superseded, contested, archived,
        expired and ended ones too, labelled. The score is 0.7 × path weight + 0.3 × importance; with a `query`
        0.5 × path weight + 0.3 × cosine + 0.2 × importance, and relations that are not structural are followed only to
        what is near the question. `truncated` says that a limit left something out.
        """
        return await self._run(
            operations.relating.traverse(
                self._setup,
                start_id,
                max_depth=max_depth,
                direction=direction,
                relation_types=relation_types,
                min_weight=min_weight,
                limit=limit,
                query=query,
                include_superseded=include_superseded,
                given=read,
            )
        )

    async def traverse_many(
        self,
        start_ids: Sequence[str],
        *,
        max_depth: int = 2,
        direction: Direction = "any",
        relation_types: Sequence[str] | None = None,
        min_weight: float = 0.0,
        limit_per_seed: int = 25,
        limit: int = 100,
        skip_missing: bool = True,
        query: str | None = None,
        **read: Unpack[Read],
    ) -> Traversal:
        """The memories that relations lead to from any of up to 200, each once, by its best path from its best seed.

        A seed that another one leads to is found like any other memory. Ids that are not in sight are skipped, or
        NotFound with `skip_missing=False`. Scores and hops are those of `traverse`.
        """
        return await self._run(
            operations.relating.traverse_many(
                self._setup,
                start_ids,
                max_depth=max_depth,
                direction=direction,
                relation_types=relation_types,
                min_weight=min_weight,
                limit_per_seed=limit_per_seed,
                limit=limit,
                skip_missing=skip_missing,
                query=query,
                given=read,
            )
        )

    async def find_path(
        self, source_id: str, target_id: str, *, max_depth: int = 5, **read: Unpack[Read]
    ) -> TraversalResult | None:
        """The path between two memories with the largest product of weights, or None within `max_depth` hops.

        Relations are passed in either direction, and only through what is in sight and current.
        """
        return await self._run(
            operations.relating.find_path(self._setup, source_id, target_id, max_depth=max_depth, given=read)
        )

    async def render_graph_context(
        self, traversal: Traversal, *, max_tokens: int = 1000, token_counter: TokenCounter | None = None
    ) -> str:
        """What `traverse` found as lines for a prompt: each memory with its mark, its path and the path's weight.

        Text from tools, documents and the web stands in a fenced block of data, as in `build_context`. Lines that do
        not fit are left out, and counted where the count fits. Empty where nothing was found.
        """
        return operations.relating.render_graph_context(
            self._setup, traversal, max_tokens=max_tokens, token_counter=token_counter
        )

    # Read: by id, in order

    async def get(self, memory_id: str, **read: Unpack[Read]) -> Memory:
        """The memory with this id, full or short; NotFound outside the scope as for an id that does not exist."""
        return await self._run(operations.reading.get(self._setup, memory_id, read))

    async def find(self, memory_id: str, **read: Unpack[Read]) -> Memory | None:
        """The memory with this id, or None."""
        return await self._run(operations.reading.find(self._setup, memory_id, read))

    async def get_current(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Memory:
        """The head of the lineage that an id or a topic key names; NotFound when nothing of it is current."""
        return await self._run(operations.reading.get_current(self._setup, memory_id, topic_key, read))

    async def list_memories(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        sort: Literal["recent", "oldest", "importance", "accessed"] = "recent",
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """A page of memories in a total order: current ones, unless the filter names statuses."""
        return await self._run(
            operations.reading.list_memories(
                self._setup, filter=filter, sort=sort, limit=limit, cursor=cursor, given=read
            )
        )

    async def get_lineage(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Lineage:
        """All revisions of one fact, newest first, with the head of any revision named."""
        return await self._run(operations.reading.get_lineage(self._setup, memory_id, topic_key, read))

    async def get_history(
        self,
        memory_id: str | None = None,
        filter: Filter | Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_superseded: bool = True,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[HistoryEntry]:
        """The changes of one memory's lineage, or of a whole scope, newest first: what, when, why and by whom."""
        return await self._run(
            operations.reading.get_history(
                self._setup,
                memory_id=memory_id,
                filter=filter,
                since=since,
                until=until,
                include_superseded=include_superseded,
                limit=limit,
                cursor=cursor,
                given=read,
            )
        )

    async def timeline(
        self,
        *,
        filter: Filter | Mapping[str, Any] | None = None,
        around: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        group_by: Calendar = "day",
        limit: int = 50,
        **read: Unpack[Read],
    ) -> Timeline:
        """Memories by the day, week or month in which they became true, newest first, as far as they are known.

        That is their `valid_from`: the time they state, else when they were told; its day is that of the time zone in
        the settings. Superseded, contested, expired and archived ones are shown too, each with its `status` and
        `labels`, unless the filter names statuses; forgotten ones only if it does, erased ones never. `around` is the
        id of a memory: then the window of `limit` memories about that one, it among them. `since` and `until` are
        times, or text: ISO 8601 with a time zone, or a date, whose day begins in that of the settings.
        """
        return await self._run(
            operations.reading.timeline(
                self._setup,
                filter=filter,
                around=around,
                since=since,
                until=until,
                group_by=group_by,
                limit=limit,
                given=read,
            )
        )

    async def list_decisions(
        self,
        *,
        kind: DecisionKind | None = None,
        since: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[WriteDecision]:
        """A page of what became of candidates, newest first, and why: also of what was not stored.

        What a rejected or conflicting candidate said stands in the event of its decision. `as_of` leaves no decision
        out, as it leaves none of a history; `known_at` does.
        """
        return await self._run(
            operations.reading.list_decisions(
                self._setup, kind=kind, since=since, limit=limit, cursor=cursor, given=read
            )
        )

    async def explain_memory(self, memory_id: str, **read: Unpack[Read]) -> MemoryExplanation:
        """Why a memory is believed: sources and their characters, deriver, rule, lineage, decisions. No model."""
        return await self._run(operations.reading.explain_memory(self._setup, memory_id, read))

    async def verify_citation(
        self, citation: Citation | Chunk | Mapping[str, Any], **ids: Unpack[Ids]
    ) -> CitationState:
        """Check that the characters a citation names still say what they said when it was made.

        `verified`: the stored text of the event holds exactly these characters there. `changed`: it does not, or the
        citation names none. `erased`: what the event said was erased. Takes a Citation, the chunk of a long input, or
        the JSON form of either; the first 24 hex digits of its hash are enough. Raises NotFound for an event that the
        scope does not see.
        """
        return await self._run(operations.citing.verify_citation(self._setup, citation, ids))

    async def cite(self, cited_id: str, *, lines: int = 2, **read: Unpack[Read]) -> tuple[CitedText, ...]:
        """The very characters a memory rests on, each looked up in its event and shown with what stands around it.

        `cited_id` is the id of a memory or of an event, or what a context cites them by (`mem-1a2b3c4d`, `evt-…`): of
        an event everything it says is cited. `lines` (0 to 100) is how many lines are shown before and after, up to
        500 characters each. Raises NotFound for what the scope does not see, Conflict for an ambiguous mark.
        """
        return await self._run(operations.citing.cite(self._setup, cited_id, lines=lines, given=read))

    # Read: by meaning

    async def search(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        profile: str | Profile | ProfileWeights | Mapping[str, Any] = "default",
        min_score: float = 0.0,
        rerank: bool = False,
        expand: bool | None = None,
        depth: int = 1,
        cut: Literal["none", "adaptive"] = "none",
        per_session: int | None = None,
        good_enough: float | None = None,
        sort: Literal["score", "recent", "accessed"] = "score",
        include_superseded: bool = False,
        include_consolidated: bool = False,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> SearchResults:
        """The memories that answer a query best, each with every term of its score.

        `profile` names a scoring profile, or is one, or its JSON form. `rerank=True` asks the configured reranker about
        the best 5 for each result, 100 at most; InvalidInput where there is none. `cut="adaptive"` leaves out what is
        much farther away than the nearest. `per_session` takes at most so many of a session, in turn. `good_enough` is
        a score: where `limit` results are above it, no reranker is asked, and no second search made. `sort` is the
        order of what was chosen: the best first, the newest, or the last accessed. `expand` asks in several ways, as
        `deep_search` does, and keeps what that finds where its best is better: by itself where the best relevance is
        under 0.25, always with True, never with False. `depth` is how many relations the graph channel follows from
        the best hits, 0 to 3. `include_consolidated=True` finds what a summary stands for too.

        An empty list means that nothing was found; an outage raises Unavailable, and a channel or reranker that failed
        is in `degraded`.
        """
        return await self._run(
            operations.recalling.search(
                self._setup,
                query,
                mode=mode,
                limit=limit,
                filter=filter,
                profile=profile,
                min_score=min_score,
                rerank=rerank,
                expand=expand,
                depth=depth,
                cut=cut,
                per_session=per_session,
                good_enough=good_enough,
                sort=sort,
                include_superseded=include_superseded,
                include_consolidated=include_consolidated,
                tail=tail,
                track=track,
                given=read,
            )
        )

    async def deep_search(
        self,
        query: str,
        *,
        n_queries: int = 4,
        queries: Sequence[str] | None = None,
        k: float = ranking.RRF_K,
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        profile: str | Profile | ProfileWeights | Mapping[str, Any] = "default",
        rerank: bool = False,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> SearchResults:
        """What several ways to ask a question find together, for a question whose own words may not find it.

        Beside the question itself, up to `n_queries` variants of it (0 to 10) are searched for at the same time: the
        caller's own `queries`, else those a language model writes where one is configured, else its content words,
        clauses, names, and words of the corpus that mean the same. All are fused by reciprocal rank fusion with the
        constant `k`, or scored by another `profile`; `variants` of the result says what was asked. A variant that fails
        is named in `degraded`. The other arguments are those of `search`.
        """
        return await self._run(
            operations.recalling.deep_search(
                self._setup,
                query,
                n_queries=n_queries,
                queries=queries,
                k=k,
                limit=limit,
                filter=filter,
                profile=profile,
                rerank=rerank,
                tail=tail,
                track=track,
                given=read,
            )
        )

    async def recall(
        self,
        question: str,
        *,
        intent: Intent | None = None,
        window: Window | None = None,
        now: datetime | None = None,
        tz: str | None = None,
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        compose: bool = False,
        session_id: str | None = None,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> RecallAnswer:
        """Answer a question from memory: what is true now, what was before, since when, and from which characters.

        What the question is after, and the time it names, are read from its words; `intent` and `window` say it
        themselves. A window is a pair of times, the second not in it; (None, None) stands for all times. "Last week" is
        seen at `now` (default: `as_of`, `known_at`, or the database's clock) from the zone `tz` (default: the setting),
        an IANA name. With `session_id` a question that only points back is completed from what its user said last.
        `compose=True` has a language model word the answer, from the evidence alone; where it cannot, the answer stays
        as it was found and `compose` is in `degraded`. `limit` bounds the evidence shown.

        Where nothing is known of that time, `found` is False, and `trace.notes` names the nearest time something is
        known of. Raises InvalidInput, LimitExceeded, Unavailable; never because of a language model.
        """
        return await self._run(
            operations.recalling.recall_answer(
                self._setup,
                question,
                intent=intent,
                window=window,
                now=now,
                tz=tz,
                limit=limit,
                filter=filter,
                compose=compose,
                session_id=session_id,
                tail=tail,
                track=track,
                given=read,
            )
        )

    async def recall_critical(
        self,
        *,
        memory_types: Sequence[str] | None = None,
        limit: int = 50,
        max_tokens: int | None = None,
        strict: bool = False,
        **read: Unpack[Read],
    ) -> CriticalMemories:
        """Every pinned memory, in a fixed order, without vectors, models or ranking; what does not fit is `omitted`.

        `strict=True` raises LimitExceeded instead of leaving anything out.
        """
        return await self._run(
            operations.reading.recall_critical(
                self._setup, memory_types=memory_types, limit=limit, max_tokens=max_tokens, strict=strict, given=read
            )
        )

    async def recall_trigger(self, action: str, *, limit: int = 20, **read: Unpack[Read]) -> tuple[Memory, ...]:
        """The memories to read before an action, such as "git-push": those tagged `trigger:<action>`.

        Current ones, those of most weight first: importance as the epochs since have left it, and what restatements,
        accesses, type and layer add. Nothing is counted as read. An action has at most 24 characters; longer ones raise
        LimitExceeded.
        """
        return await self._run(operations.reading.recall_trigger(self._setup, action, limit=limit, given=read))

    async def list_triggers(self, **read: Unpack[Read]) -> tuple[Trigger, ...]:
        """The actions that memories are tagged with, those whose memories were read most first."""
        return await self._run(operations.reading.list_triggers(self._setup, read))

    async def list_topics(self, **ids: Unpack[Ids]) -> tuple[Topic, ...]:
        """What the memories are about: a tree of topics, the largest first, made of those that are current.

        It is an index of now that workers keep up with the writes, so that it may be a little behind, and is empty
        until a cycle or `ops.rebuild_topics` has made it. A topic with a `parent_id` is part of a wider one.
        """
        return await self._run(operations.topics.list_topics(self._setup, ids))

    async def get_topics(self, topic_ids: Sequence[str], **ids: Unpack[Ids]) -> Mapping[str, TopicMemories]:
        """Open up to 50 topics by their ids (`kb1`): the topics under each, and its newest current memories, up to 200.

        `redundant` names the pairs of these memories that say nearly the same. NotFound for an id no readable scope
        has; InvalidInput for what is no id of a topic.
        """
        return await self._run(operations.topics.get_topics(self._setup, topic_ids, ids))

    async def trace_recall(
        self,
        query: str,
        *,
        limit: int = 20,
        max_tokens: int = 2000,
        expected_terms: Sequence[str] = (),
        deep: bool = True,
        filter: Filter | Mapping[str, Any] | None = None,
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> RecallTrace:
        """See a recall from inside: what is pinned, what is found, what of it is printed in a budget, and what is not.

        Pinned memories come first, in at most half of `max_tokens` (all of it where the filter asks for critical ones
        alone); then what a deep search finds, or a plain one with `deep=False`. A line that does not fit is skipped.
        `missing_expected_terms` are those of `expected_terms` that the printed text does not hold as whole words. A
        `filter` holds for both. Nothing is counted as returned or logged. Raises what `deep_search` raises.
        """
        return await self._run(
            operations.explaining.trace_recall(
                self._setup,
                query,
                limit=limit,
                max_tokens=max_tokens,
                expected_terms=expected_terms,
                deep=deep,
                filter=filter,
                token_counter=token_counter,
                given=read,
            )
        )

    async def explain(
        self,
        query: str,
        memory_id: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        profile: str | Profile | ProfileWeights | Mapping[str, Any] = "default",
        min_score: float = 0.0,
        rerank: bool = False,
        cut: Literal["none", "adaptive"] = "none",
        per_session: int | None = None,
        max_tokens: int | None = None,
        **read: Unpack[Read],
    ) -> WhyNot:
        """Why a search does not return a memory, or that it does: one reason, with ranks and scores.

        The arguments are those of `search`; with `max_tokens` what is found must also fit in a text of so many tokens,
        as `trace_recall` prints it. Reasons: found; superseded, contested, archived, deleted, quarantined,
        consolidated, expired, not_valid_then, not_known_then, filtered, excluded_word; not_derived_yet, derived (the id
        of an event); not_embedded, missed (by every channel: `ranks` says how far off); evidence_superseded,
        below_gate, below_min_score, same_lineage, cut, reranked_out, evidence_joined, diversified, outranked; shadowed,
        over_budget. Nothing is counted as returned, and nothing is logged. Raises NotFound for an id that the scope
        does not know.
        """
        return await self._run(
            operations.explaining.explain(
                self._setup,
                query,
                memory_id,
                mode=mode,
                limit=limit,
                filter=filter,
                profile=profile,
                min_score=min_score,
                rerank=rerank,
                cut=cut,
                per_session=per_session,
                max_tokens=max_tokens,
                given=read,
            )
        )

    async def build_context(
        self,
        query: str = "",
        *,
        task_run_id: str | None = None,
        session_id: str | None = None,
        max_tokens: int = 4000,
        sections: Mapping[str, float] | None = None,
        format: Format = "markdown",
        include_graph: bool = True,
        group_by: Grouping | None = None,
        detail: Detail = "full",
        metadata: bool = False,
        min_trust: Trust = "web",
        strict: bool = False,
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> ContextBlock:
        """The block a model is given to read: critical first, all cited, untrusted text fenced, never over budget.

        With a `task_run_id` it begins with that run: its goal, its latest checkpoints and its own events; without a
        query its goal is the query. `max_tokens` is 1 to 300,000; `trimmed` names what was left out, with the reason.
        `sections` gives sections shares of 0 to 1 (0 leaves one out), the others share what is left; Topics and
        Triggers take from none. `include_graph=False` shows no relations of what was found. `group_by` puts the items
        of each section under their type, date or session.
        `detail="compact"` prints an index: the date, the type and at most 80 characters of each item, what is pinned
        whole; `metadata=True` adds the type, the age and the importance. `token_counter` is a function from text to a
        whole number, or the name of an encoding or a model of tiktoken ("o200k_base", "gpt-4o"), which
        `engram[llm]` brings; the default is an estimate.
        """
        return await self._run(
            operations.recalling.build_context(
                self._setup,
                query,
                task_run_id=task_run_id,
                session_id=session_id,
                max_tokens=max_tokens,
                sections=sections,
                format=format,
                include_graph=include_graph,
                group_by=group_by,
                detail=detail,
                metadata=metadata,
                min_trust=min_trust,
                strict=strict,
                token_counter=token_counter,
                given=read,
            )
        )

    async def resume(
        self,
        query: str = "",
        *,
        recent_epochs: int = 24,
        max_tokens: int = 4000,
        format: Format = "markdown",
        min_trust: Trust = "web",
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> ContextBlock:
        """The block an agent reads when it starts again: what is pinned, the core, what is recent, open work.

        Then an index of topics and of the triggers to ask for. What one section does not use goes to the next below.
        `recent_epochs` counts the epochs of each scope, from one consolidation cycle to the next, in which anything was
        remembered, and the hours of the latest: 24 of them may be a day or a month. With a query core memories need a
        relevance of .35 and others of .20, less for what is known of the user and for lessons. Open task runs show
        their latest checkpoint, next steps first, and what happened after it. `min_trust="user"` leaves out what no
        user or operator says. Nothing is changed, counted or logged. `max_tokens` is 1 to 300,000; `token_counter` is a
        function from text to a whole number, or the name of an encoding or a model of tiktoken; `trimmed` says what was
        left out and why.
        """
        return await self._run(
            operations.resuming.resume(
                self._setup,
                query,
                recent_epochs=recent_epochs,
                max_tokens=max_tokens,
                format=format,
                min_trust=min_trust,
                token_counter=token_counter,
                given=read,
            )
        )

    async def record_long_input(
        self,
        text: str | Path,
        *,
        title: str = "",
        media: Media = "text",
        max_chunk_tokens: int = 700,
        max_facts_per_chunk: int = 6,
        derive: Derive | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool | float = False,
        max_bytes: int = inputs.LONG_INPUT_BYTES,
        progress: Callable[[LongInputProgress], None] | None = None,
        **write: Unpack[Write],
    ) -> LongInputReport:
        """Remember a text too long for one message: a book, a contract, a log; every chunk of it can be cited.

        `text` is the text itself, or the Path of a UTF-8 file, which is read in pieces: memory stays bounded. It is
        kept to the character in parts, and cut into chunks of at most `max_chunk_tokens` (50 to 2,000) that cover it:
        each is `text[char_start:char_end]` in code points, is an event, and is found by `build_long_input_context`
        or by a filter for the category `source_chunk`, never by an ordinary search. `media` says how to cut. Facts are
        derived from the chunks in the background, or here with `wait`: at most 4 a chunk by rules and
        `max_facts_per_chunk` (0 to 20) by a language model; `derive="skip"` leaves them out. The trust is `document`
        unless given; `occurred_at` is the document's date. The same text in the same session, task or scope is
        recorded once: the report says `duplicate`. A call that was killed goes on where it was when it is made again.

        Raises LimitExceeded over `max_bytes` (50 MiB), InvalidInput for what is no text, Conflict for a file that
        changes while it is read, or a text of which no event is left to say how it was cut. An error while it waits for
        the facts has `event_ids`, those of the parts and of the manifest: all of it is in the ledger. `progress` is
        called with a LongInputProgress as it goes.
        """
        return await self._run(
            operations.recording.record_long_input(
                self._setup,
                text,
                title=title,
                media=media,
                max_chunk_tokens=max_chunk_tokens,
                max_facts_per_chunk=max_facts_per_chunk,
                derive=derive,
                metadata=metadata,
                wait=wait,
                max_bytes=max_bytes,
                progress=progress,
                given=write,
            )
        )

    async def build_long_input_context(
        self,
        query: str,
        *,
        source_event_id: str | None = None,
        task_run_id: str | None = None,
        max_tokens: int = 4000,
        source_chunk_limit: int = 6,
        expected_terms: Sequence[str] = (),
        min_trust: Trust = "web",
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> ContextBlock:
        """The passages of long inputs that answer a question, with what is remembered beside them, in one budget.

        Memories have 45 % of `max_tokens`, critical ones first, these more where all of them then fit, and in the end
        what passages leave; the rest is for the `source_chunk_limit` best chunks of all documents, or of the one that
        `source_event_id` (its manifest, a part or a chunk) belongs to, or of those of a task run. Chunks are found as
        memories are, by meaning and by words; neighbours are joined; each is printed whole or left out, with its mark,
        its characters and its heading, as data where its trust asks for it: `min_trust="user"` leaves out what no user
        or operator says. `cited(answer)` gives the event and the characters behind a mark, `trimmed` the chunks left
        out by `chunk_id`; the trace names the chunks found, kept and trimmed, and the `expected_terms` that the block
        does not hold.
        """
        return await self._run(
            operations.long_contexts.build_long_input_context(
                self._setup,
                query,
                source_event_id=source_event_id,
                task_run_id=task_run_id,
                max_tokens=max_tokens,
                source_chunk_limit=source_chunk_limit,
                expected_terms=expected_terms,
                min_trust=min_trust,
                token_counter=token_counter,
                given=read,
            )
        )

    # Work that goes on: task runs and their checkpoints

    async def start_task(
        self,
        goal: str,
        *,
        parent_task_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **write: Unpack[TaskWrite],
    ) -> TaskRun:
        """Begin a task run: work with a goal, a state and a stream of its own, that outlives a process.

        Give its `task_run_id` to `record_event` or `record_turn`, and what happens goes to its stream. `goal` is at
        most 8,192 characters. Raises NotFound when the parent is not seen, InvalidInput when it is of another scope.
        """
        return await self._run(
            operations.tasks.start_task(
                self._setup, goal, parent_task_id=parent_task_id, metadata=metadata, given=write
            )
        )

    async def update_task(
        self,
        task_run_id: str,
        *,
        status: TaskStatus | None = None,
        outcome: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **write: Unpack[TaskWrite],
    ) -> TaskRun:
        """Change the state, the outcome or the metadata of a task run; what changes nothing writes nothing.

        `active` and `paused` go back and forth; `completed`, `failed` and `cancelled` are final: Conflict names the
        state that stands. New metadata takes the place of the old. On a pause and at the end a job makes a checkpoint.
        """
        return await self._run(
            operations.tasks.update_task(
                self._setup, task_run_id, status=status, outcome=outcome, metadata=metadata, given=write
            )
        )

    async def resume_task(
        self, task_run_id: str, *, expected_position: int | None = None, **write: Unpack[TaskWrite]
    ) -> ResumedTask:
        """Take a task run up again: it is active, and you get its latest checkpoint and the events after that.

        Of two workers that give the position they saw (`get_task(...).position`) the second gets StaleStream. At most
        500 events come back, the newest. Raises Conflict when the run has ended.
        """
        return await self._run(operations.tasks.resume_task(self._setup, task_run_id, expected_position, write))

    async def forget_task(self, task_run_id: str, **write: Unpack[TaskWrite]) -> TaskRun:
        """Hide a task run with its events and checkpoints; memories made of them stay. Undone by `restore_task`."""
        return await self._run(operations.tasks.forget_task(self._setup, task_run_id, write))

    async def restore_task(self, task_run_id: str, **write: Unpack[TaskWrite]) -> TaskRun:
        """Show a forgotten task run again, with its events and checkpoints."""
        return await self._run(operations.tasks.restore_task(self._setup, task_run_id, write))

    async def get_task(self, task_run_id: str, **read: Unpack[Read]) -> TaskRun:
        """The task run with this id, or NotFound; `as_of` and `known_at` give it as its events had it by then."""
        return await self._run(operations.tasks.get_task(self._setup, task_run_id, read))

    async def list_tasks(
        self,
        *,
        status: Sequence[TaskStatus] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[TaskRun]:
        """A page of task runs, those started last first, in any of these states.

        For an earlier moment the states are those of that moment, and a page may hold fewer than `limit`.
        """
        return await self._run(
            operations.tasks.list_tasks(self._setup, status=status, limit=limit, cursor=cursor, given=read)
        )

    async def save_checkpoint(
        self,
        task_run_id: str,
        summary: str,
        *,
        completed_steps: Sequence[str] = (),
        pending_steps: Sequence[str] = (),
        decisions: Sequence[str] = (),
        blockers: Sequence[str] = (),
        artifacts: Sequence[str] = (),
        state: Mapping[str, Any] | None = None,
        source_event_ids: Sequence[str] = (),
        position: int | None = None,
        expected_version: int | None = None,
        **write: Unpack[TaskWrite],
    ) -> Checkpoint:
        """Save where a task run stands, as its next version, so that anybody can go on from there.

        `state` is JSON of at most 8 MiB, kept under a hash; lists hold up to 200 texts of 2,000 characters. `position`
        is the event of the run's stream it stands at (default: the newest). With `expected_version` (0 for none yet)
        it is saved only on top of that version, else Conflict. Name in `source_event_ids` what it rests on: redacting
        one of them erases the checkpoint, one that is erased already is a Conflict; without any it rests on everything
        up to its position.
        """
        return await self._run(
            operations.tasks.save_checkpoint(
                self._setup,
                task_run_id,
                summary,
                completed_steps=completed_steps,
                pending_steps=pending_steps,
                decisions=decisions,
                blockers=blockers,
                artifacts=artifacts,
                state=state,
                source_event_ids=source_event_ids,
                position=position,
                expected_version=expected_version,
                given=write,
            )
        )

    async def list_checkpoints(
        self, task_run_id: str, *, limit: int = 10, **read: Unpack[Read]
    ) -> tuple[Checkpoint, ...]:
        """The checkpoints of a task run, newest first, at most 50; Damaged when a stored one is not what was saved."""
        return await self._run(operations.tasks.list_checkpoints(self._setup, task_run_id, limit, read))

    # Sessions

    def session(
        self, session_id: str | None = None, *, metadata: Mapping[str, Any] | None = None, **ids: Unpack[Ids]
    ) -> AsyncSessionContext:
        """A door whose writes belong to one session, for a `with` block: entering opens the session, leaving ends it.

        An id that is known goes on; `metadata` is put beside what was noted before. Without an id Engram makes one, and
        a session that is silent for longer than the policy's `session_gap` is ended and continued by a successor.
        """
        return AsyncSessionContext(self, operations.sessions.visit(self._setup, session_id, metadata), ids)

    async def get_session(self, session_id: str, **read: Unpack[Read]) -> Session:
        """A session with its rolling summary, or NotFound; the nearest, where several readable scopes have one."""
        return await self._run(operations.sessions.get_session(self._setup, session_id, read))

    async def list_sessions(
        self, *, open_only: bool = False, limit: int = 50, cursor: str | None = None, **read: Unpack[Read]
    ) -> Page[Session]:
        """A page of sessions, the youngest first; what was said in one is `list_events(session_id=...)`."""
        return await self._run(
            operations.sessions.list_sessions(self._setup, open_only=open_only, limit=limit, cursor=cursor, given=read)
        )

    async def end_session(
        self, session_id: str, *, summary: str | None = None, **write: Unpack[SessionWrite]
    ) -> Session:
        """End a session; its last summary is the caller's, or is made by a job. One that has ended stays as it is.

        Brought later, a summary ends it anew, with the outcome it had. A session goes on when something is written into
        it again. Nothing is remembered of a summary: a memory with the tag `session-note` is what a cycle distils.
        Raises NotFound outside the scope.
        """
        return await self._run(operations.sessions.end_session(self._setup, session_id, summary, write))

    # Read: the ledger

    async def get_event(self, event_id: str, **read: Unpack[Read]) -> Event:
        """The event with this id, or NotFound, as where it happened after `as_of` or was recorded after `known_at`.

        The id may be short, as it is printed (`evt-1a2b3c4d`); Conflict where several end so.
        """
        return await self._run(operations.capture.get_event(self._setup, event_id, read))

    async def list_events(
        self,
        *,
        stream_id: str | None = None,
        session_id: str | None = None,
        task_run_id: str | None = None,
        after: int = 0,
        before: int | None = None,
        types: Sequence[str] | None = None,
        roles: Sequence[Role] | None = None,
        trust: Trust | Sequence[Trust] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
        limit: int = 50,
        **read: Unpack[Read],
    ) -> tuple[Event, ...]:
        """The events of a stream, a session, a task run, or the scope, in order.

        `trust` is one or several of the levels, as `trust="user"`. `since <= occurred_at < until`; `as_of` and
        `known_at` leave out what happened, or was recorded, later.
        """
        return await self._run(
            operations.capture.list_events(
                self._setup,
                stream_id=stream_id,
                session_id=session_id,
                task_run_id=task_run_id,
                after=after,
                before=before,
                types=types,
                roles=roles,
                trust=trust,
                since=since,
                until=until,
                newest_first=newest_first,
                limit=limit,
                given=read,
            )
        )

    async def search_events(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        types: Sequence[str] | None = None,
        roles: Sequence[Role] | None = None,
        session_id: str | None = None,
        task_run_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        **read: Unpack[Read],
    ) -> EventResults:
        """The events of the ledger that answer a query best: all that was said and done, whether remembered or not.

        `since <= occurred_at < until`; `as_of` and `known_at` leave out what happened, or was recorded, later. Without
        `types` the engine's own events, such as `memory_added`, are left out. An empty query lists the newest events of
        the window, types, roles, session or task run it is asked with. `degraded` names what had to be done without.
        """
        return await self._run(
            operations.searching_events.search_events(
                self._setup,
                query,
                mode=mode,
                types=types,
                roles=roles,
                session_id=session_id,
                task_run_id=task_run_id,
                since=since,
                until=until,
                limit=limit,
                given=read,
            )
        )

    def follow(
        self, *, after: str | None = None, types: Sequence[str] | None = None, poll: float = 1.0, **ids: Unpack[Ids]
    ) -> AsyncIterator[FeedItem]:
        """Every event of the readable scopes, each once, in the order in which they became visible; none is skipped.

        `after` is the mark of the last item that was dealt with: keep it in the transaction of its effect, and
        whatever is killed, each event has its effect once. `types` are event types to see. Where nothing is new the
        follower asks again after `poll` seconds; with `poll=0` it ends there. Raises InvalidInput at once, Unavailable
        while following.
        """
        return self._feed(operations.following.start(self._setup, after, types, poll, ids))

    async def _feed(self, follower: operations.following.Follower) -> AsyncIterator[FeedItem]:
        while True:
            part = await self._run(operations.following.read_on(follower))
            for item in part.items:
                yield item
            if not part.more and not follower.poll:
                return
            if not part.more:
                await asyncio.sleep(follower.poll)
            follower = part.next

    async def health(self, *, probe_embedder: bool = True) -> Health:
        """How well this process serves its tenant now: the database, its schema and jobs, the models, and the tier.

        It answers within seconds, also where the database does not. `probe_embedder=False` asks the embedding model
        nothing. Language models are not asked: their breakers tell, of this process. `ops.doctor` looks closer, at what
        changes rarely too.
        """
        return await self._run(operations.watching.health(self._setup, probe_embedder))

    async def stats(self, **ids: Unpack[Ids]) -> ScopeStats:
        """Counts of what the readable scopes hold: facts without the chunks of documents, events with them."""
        return await self._run(operations.watching.stats(self._setup, ids))

    # Names that other memory libraries use

    async def get_context_block(self, query: str = "", max_tokens: int = 4000, **read: Unpack[Read]) -> str:
        """The text of `build_context` alone, in Markdown; the block itself says what was left out and what is cited."""
        return await self._run(operations.aliases.context_block(self._setup, query, max_tokens, read))

    async def get_all(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """Another name of `list_memories`."""
        return await self._run(
            operations.reading.list_memories(
                self._setup, filter=filter, sort="recent", limit=limit, cursor=cursor, given=read
            )
        )

    async def update(
        self, memory_id: str, fact: str | None = None, **fields: Unpack[Attributes]
    ) -> WriteDecision | Memory:
        """`revise` when a fact is given, otherwise `annotate`."""
        return await self._run(operations.aliases.update(self._setup, memory_id, fact, fields))

    async def delete(self, memory_id: str, **write: Unpack[Write]) -> tuple[str, ...]:
        """Another name of `forget`."""
        return await self._run(operations.changing.forget(self._setup, memory_id, False, write))

    async def delete_all(self, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget every memory of exactly the scope named by keyword, also what has expired, ended, or was put away.

        Raises InvalidInput when no scope is named.
        """
        return await self._run(operations.aliases.delete_all(self._setup, write))

    async def history(self, memory_id: str, **read: Unpack[Read]) -> Page[HistoryEntry]:
        """The history of one memory; another name of `get_history`."""
        return await self._run(operations.aliases.history(self._setup, memory_id, read))


class AsyncSessionContext(AsyncEngram):
    """A door whose writes belong to one session; as a `with` block it opens the session, and ends it when left.

    An error that leaves the block ends the session as failed, and goes on. What is not a write is as on any door.
    """

    def __init__(self, door: AsyncEngram, visit: Visit, ids: Ids) -> None:
        self._core, self._visit, self._owner = door._core, visit, True
        self._scope = door.scope.override(**ids).for_write()

    @property
    def session_id(self) -> str:
        """The id of the session; where Engram split it, that of its first part, which leads to the newest."""
        assert self._visit is not None
        return self._visit.session_id

    async def __aenter__(self) -> Self:
        await self._run(operations.sessions.open_session(self._setup))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._end(None if kind is None else kind.__name__)
        except EngramError:
            if error is None:
                raise

    async def close(self, *, drain: float = 10.0) -> None:
        """End the session; the connections stay with the door it came from."""
        inputs.number(drain, "drain", 0, 3_600)
        await self._end(None)

    async def _end(self, error: str | None) -> None:
        if self._owner:
            with suppress(NotFound):  # nothing was ever written
                await self._run(operations.sessions.end_session(self._setup, self.session_id, None, {}, error=error))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(scope={self._scope!r}, session_id={self.session_id!r})"
