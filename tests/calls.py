"""Every argument of every public call, by the kind of value it takes: who tests the door tests all of it.

`FIELDS` is written by hand and compared with the signatures, so that a new method or argument fails a test until it is
named here. `places()` spreads the shared keywords over the calls that take them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engram.operations.capture import Artifact, Message, ToolCall
from engram.operations.changing import Attributes, Candidate, NewMemory
from engram.operations.relating import NewRelation
from engram.operations.setup import Read, SessionWrite, TaskWrite, Write
from engram.scope import Ids
from engram.values import Citation, Traversal

UNKNOWN_ID: Final = "01890000-0000-7000-8000-00000000a001"
OTHER_ID: Final = "01890000-0000-7000-8000-00000000a002"
THIRD_ID: Final = "01890000-0000-7000-8000-00000000a003"

FACTS: Final = str(Path(__file__).parent / "fixtures" / "facts.jsonl")
OUT: Final = str(Path(tempfile.gettempdir()) / f"engram-export-{os.getpid()}.jsonl")

# Keywords that several calls share. A group holds its own names and those of the groups it is built on.
GROUPS: Final[Mapping[str, tuple[Any, str | None]]] = {
    "Ids": (Ids, None),
    "Read": (Read, "Ids"),
    "Write": (Write, "Ids"),
    "TaskWrite": (TaskWrite, "Ids"),
    "SessionWrite": (SessionWrite, "Ids"),
    "Attributes": (Attributes, "Write"),
    "NewMemory": (NewMemory, "Attributes"),
    "Candidate": (Candidate, "NewMemory"),
    "Message": (Message, None),
    "ToolCall": (ToolCall, None),
    "Artifact": (Artifact, None),
    "NewRelation": (NewRelation, None),
}

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    # Shared keywords
    "Ids": {
        "tenant_id": "scope id",
        "namespace": "scope id",
        "agent_id": "scope id",
        "user_id": "scope id",
        "shared": "flag",
    },
    "Read": {"as_of": "time", "known_at": "time"},
    "Write": {
        "actor": "name",
        "trust": "choice",
        "reason": "note",
        "idempotency_key": "name",
        "dry_run": "flag",
        "session_id": "name",
        "task_run_id": "id",
        "occurred_at": "time",
    },
    "TaskWrite": {
        "actor": "name",
        "trust": "choice",
        "reason": "note",
        "idempotency_key": "name",
        "dry_run": "flag",
        "session_id": "name",
        "occurred_at": "time",
    },
    "SessionWrite": {
        "actor": "name",
        "trust": "choice",
        "reason": "note",
        "idempotency_key": "name",
        "dry_run": "flag",
        "occurred_at": "time",
    },
    "Attributes": {
        "memory_type": "choice",
        "category": "label",
        "tags": "tags",
        "source": "label",
        "metadata": "metadata",
        "importance": "unit",
        "priority": "small whole",
        "rating": "small whole",
        "confidence": "unit",
        "critical_slot": "key",
        "private": "flag",
        "expires_at": "time",
        "expires_in": "duration",
        "expires_in_days": "number",
    },
    "NewMemory": {
        "main_content": "content",
        "topic_key": "key",
        "subject": "label",
        "attribute": "label",
        "value": "label",
        "parent_id": "id",
        "valid_from": "time",
        "valid_to": "time",
        "supersedes": "ids",
        "sources": "citations",
        "force": "flag",
    },
    "Candidate": {"fact": "fact"},
    "Message": {
        "role": "choice",
        "content": "content",
        "name": "name",
        "occurred_at": "time",
        "trust": "choice",
        "call_id": "name",
        "payload": "payload",
        "metadata": "metadata",
        "event_id": "id",
        "derive": "choice",
        "event_type": "choice",
    },
    "ToolCall": {
        "name": "name",
        "arguments": "arguments",
        "result": "content",
        "call_id": "name",
        "trust": "choice",
    },
    "Artifact": {"name": "name", "content": "content", "media": "label", "trust": "choice"},
    "NewRelation": {
        "source_id": "id",
        "target_id": "id",
        "relation_type": "label",
        "weight": "unit",
        "metadata": "metadata",
    },
    "Filter": {
        "memory_types": "choices",
        "categories": "words",
        "kinds": "choices",
        "layers": "choices",
        "statuses": "choices",
        "tags_all": "words",
        "tags_any": "words",
        "sources": "words",
        "memory_ids": "filter ids",
        "session_ids": "words",
        "task_run_ids": "filter ids",
        "topic_keys": "words",
        "critical": "flag",
        "min_trust": "choice",
        "min_importance": "unit",
        "min_confidence": "unit",
        "valid": "window",
        "recorded": "window",
        "metadata": "metadata",
        "metadata_range": "ranges",
        "all_of": "filters",
        "any_of": "filters",
        "none_of": "filters",
    },
    # Calls: their own arguments
    "scoped": {"scope": "scope"},
    "close": {"drain": "number"},
    "remember": {"messages": "messages", "derive": "choice", "wait": "wait"},
    "record_event": {
        "content": "content",
        "role": "choice",
        "event_type": "choice",
        "payload": "payload",
        "metadata": "metadata",
        "derive": "choice",
        "expected_position": "whole",
    },
    "record_turn": {
        "user_message": "content",
        "assistant_message": "content",
        "tool_calls": "nested batch",
        "artifacts": "nested batch",
        "metadata": "metadata",
        "derive": "choice",
        "wait": "wait",
    },
    "record_long_input": {
        "text": "long text",
        "title": "title",
        "media": "choice",
        "max_chunk_tokens": "small whole",
        "max_facts_per_chunk": "small whole",
        "derive": "choice",
        "metadata": "metadata",
        "wait": "wait",
        "max_bytes": "whole",
        "progress": "function",
    },
    "wait_for": {"what": "id", "deriver": "choice", "timeout": "number"},
    "add": {"fact": "fact"},
    "add_many": {"items": "batch"},
    "revise": {
        "memory_id": "id",
        "fact": "fact",
        "main_content": "content",
        "valid_from": "time",
        "expected_revision": "revision",
    },
    "annotate": {"memory_id": "id"},
    "end_validity": {"memory_id": "id", "at": "time"},
    "reinforce": {"memory_id": "id", "amount": "unit"},
    "feedback": {"memory_ids": "ids", "value": "choice", "recall_id": "id", "note": "note"},
    "forget": {"memory_id": "id", "revision_only": "flag"},
    "restore": {"memory_id": "id"},
    "relate": {
        "source_id": "id",
        "target_id": "id",
        "relation_type": "label",
        "weight": "unit",
        "metadata": "metadata",
    },
    "relate_batch": {"items": "batch"},
    "unrelate": {"source_id": "id", "target_id": "id", "relation_type": "label"},
    "list_relations": {"memory_id": "id", "direction": "choice", "relation_types": "words", "limit": "limit"},
    "traverse": {
        "start_id": "id",
        "max_depth": "revision",
        "direction": "choice",
        "relation_types": "words",
        "min_weight": "unit",
        "limit": "limit",
        "query": "query",
        "include_superseded": "flag",
    },
    "traverse_many": {
        "start_ids": "ids",
        "max_depth": "revision",
        "direction": "choice",
        "relation_types": "words",
        "min_weight": "unit",
        "limit_per_seed": "limit",
        "limit": "limit",
        "skip_missing": "flag",
        "query": "query",
    },
    "find_path": {"source_id": "id", "target_id": "id", "max_depth": "revision"},
    "render_graph_context": {"traversal": "scope", "max_tokens": "tokens", "token_counter": "function"},
    "get": {"memory_id": "id"},
    "find": {"memory_id": "id"},
    "get_current": {"memory_id": "id", "topic_key": "key"},
    "list_memories": {"filter": "filter", "sort": "choice", "limit": "limit", "cursor": "cursor"},
    "get_lineage": {"memory_id": "id", "topic_key": "key"},
    "get_history": {
        "memory_id": "id",
        "filter": "filter",
        "since": "time",
        "until": "time",
        "include_superseded": "flag",
        "limit": "limit",
        "cursor": "cursor",
    },
    "explain_memory": {"memory_id": "id"},
    "verify_citation": {"citation": "scope"},
    "cite": {"cited_id": "id", "lines": "whole"},
    "search": {
        "query": "query",
        "mode": "choice",
        "limit": "limit",
        "filter": "filter",
        "profile": "choice",
        "min_score": "number",
        "rerank": "flag",
        "expand": "flag",
        "depth": "revision",
        "cut": "choice",
        "per_session": "revision",
        "good_enough": "number",
        "sort": "choice",
        "include_superseded": "flag",
        "include_consolidated": "flag",
        "tail": "flag",
        "track": "flag",
    },
    "deep_search": {
        "query": "query",
        "n_queries": "revision",
        "queries": "words",
        "k": "number",
        "limit": "limit",
        "filter": "filter",
        "profile": "choice",
        "rerank": "flag",
        "tail": "flag",
        "track": "flag",
    },
    "recall": {
        "question": "query",
        "intent": "choice",
        "window": "window",
        "now": "time",
        "tz": "choice",
        "limit": "limit",
        "filter": "filter",
        "compose": "flag",
        "session_id": "name",
        "tail": "flag",
        "track": "flag",
    },
    "recall_trigger": {"action": "label", "limit": "limit"},
    "list_triggers": {},
    "list_topics": {},
    "get_topics": {"topic_ids": "words"},
    "ops.rebuild_topics": {},
    "recall_critical": {
        "memory_types": "choices",
        "limit": "limit",
        "max_tokens": "tokens from 0",
        "strict": "flag",
    },
    "resume": {
        "query": "query",
        "recent_epochs": "whole",
        "max_tokens": "tokens",
        "format": "choice",
        "min_trust": "choice",
        "token_counter": "function",
    },
    "build_context": {
        "query": "query",
        "task_run_id": "id",
        "session_id": "name",
        "max_tokens": "tokens",
        "sections": "sections",
        "format": "choice",
        "include_graph": "flag",
        "group_by": "choice",
        "detail": "choice",
        "metadata": "flag",
        "min_trust": "choice",
        "strict": "flag",
        "token_counter": "function",
    },
    "get_context_block": {"query": "query", "max_tokens": "tokens"},
    "build_long_input_context": {
        "query": "question",
        "source_event_id": "id",
        "task_run_id": "id",
        "max_tokens": "tokens",
        "source_chunk_limit": "small whole",
        "expected_terms": "words",
        "min_trust": "choice",
        "token_counter": "function",
    },
    "trace_recall": {
        "query": "query",
        "limit": "limit",
        "max_tokens": "tokens",
        "expected_terms": "words",
        "deep": "flag",
        "filter": "filter",
        "token_counter": "function",
    },
    "explain": {
        "query": "query",
        "memory_id": "id",
        "mode": "choice",
        "limit": "limit",
        "filter": "filter",
        "profile": "choice",
        "min_score": "number",
        "rerank": "flag",
        "cut": "choice",
        "per_session": "revision",
        "max_tokens": "tokens",
    },
    "session": {"session_id": "name", "metadata": "metadata"},
    "get_session": {"session_id": "name"},
    "list_sessions": {"open_only": "flag", "limit": "limit", "cursor": "cursor"},
    "end_session": {"session_id": "name", "summary": "fact"},
    "start_task": {"goal": "fact", "parent_task_id": "id", "metadata": "metadata"},
    "update_task": {"task_run_id": "id", "status": "choice", "outcome": "fact", "metadata": "metadata"},
    "resume_task": {"task_run_id": "id", "expected_position": "whole"},
    "forget_task": {"task_run_id": "id"},
    "restore_task": {"task_run_id": "id"},
    "get_task": {"task_run_id": "id"},
    "list_tasks": {"status": "choices", "limit": "limit", "cursor": "cursor"},
    "save_checkpoint": {
        "task_run_id": "id",
        "summary": "fact",
        "completed_steps": "words",
        "pending_steps": "words",
        "decisions": "words",
        "blockers": "words",
        "artifacts": "words",
        "state": "payload",
        "source_event_ids": "ids",
        "position": "whole",
        "expected_version": "whole",
    },
    "list_checkpoints": {"task_run_id": "id", "limit": "limit"},
    "get_event": {"event_id": "id"},
    "list_events": {
        "stream_id": "id",
        "session_id": "name",
        "task_run_id": "id",
        "after": "whole",
        "before": "whole",
        "types": "words",
        "roles": "choices",
        "since": "time",
        "until": "time",
        "newest_first": "flag",
        "limit": "limit",
    },
    "search_events": {
        "query": "query",
        "mode": "choice",
        "types": "words",
        "roles": "choices",
        "session_id": "name",
        "task_run_id": "id",
        "since": "time",
        "until": "time",
        "limit": "limit",
    },
    "follow": {"after": "mark", "types": "words", "poll": "number"},
    "stats": {},
    "get_all": {"filter": "filter", "limit": "limit", "cursor": "cursor"},
    "update": {"memory_id": "id", "fact": "fact"},
    "delete": {"memory_id": "id"},
    "delete_all": {},
    "history": {"memory_id": "id"},
    "ops.verify_ledger": {"anchors": "anchors"},
    "ops.redact_event": {"event_id": "id"},
    "ops.erase": {
        "events": "ids",
        "memories": "ids",
        "session": "name",
        "user": "scope id",
        "scope": "scope",
        "source": "label",
    },
    "ops.apply_redactions": {"path": "path"},
    "ops.archive": {"memory_ids": "ids"},
    "ops.consolidate": {"merge": "flag"},
    "ops.prune": {"mode": "choice", "layers": "choices"},
    "merge": {"memory_ids": "ids", "fact": "fact"},
    "ops.merge_similar": {"threshold": "unit", "use_llm": "flag"},
    "ops.find_clusters": {},
    "ops.consolidate_summaries": {"limit": "whole"},
    "ops.audit": {"apply": "flag"},
    "ops.set_layer": {"memory_id": "id", "layer": "choice"},
    "ops.list_runs": {"limit": "limit", "cursor": "cursor"},
    "ops.decay": {"limit": "limit", "profile": "choice", "memory_id": "id"},
    "ops.simulate_policy": {"policy": "choice", "since": "time", "until": "time"},
    "ops.audit_log": {
        "memory_id": "id",
        "actor": "name",
        "since": "time",
        "until": "time",
        "limit": "limit",
        "cursor": "cursor",
    },
    "ops.undo": {"run_or_event_id": "id"},
    "ops.usage": {"since": "time", "group_by": "choice"},
    "ops.run_jobs": {"limit": "limit"},
    "ops.list_jobs": {"state": "choice", "limit": "limit", "cursor": "cursor"},
    "ops.retry_job": {"job_id": "id"},
    "ops.cancel_job": {"job_id": "id"},
    "ops.backlog": {},
    "ops.replay": {"since": "time", "derivers": "choices", "policy": "choice", "progress": "function"},
    "ops.compare_replay": {"shadow_id": "id"},
    "ops.switch_replay": {"shadow_id": "id", "policy": "choice", "progress": "function"},
    "ops.drop_replay": {"shadow_id": "id"},
    "ops.list_replays": {},
    "ops.list_recalls": {"limit": "limit", "cursor": "cursor"},
    "ops.get_recall": {"recall_id": "id"},
    "ops.replay_recall": {"recall_id": "id"},
    "ops.export": {
        "path": "path",
        "format": "choice",
        "user": "scope id",
        "vectors": "flag",
        "progress": "function",
    },
    "ops.import_": {
        "path": "path",
        "format": "choice",
        "on_conflict": "choice",
        "strict": "flag",
        "progress": "function",
    },
    "ops.doctor": {},
    "ops.list_models": {},
    "ops.reembed": {
        "model": "choice",
        "batch_size": "revision",
        "switch": "flag",
        "drop": "flag",
        "progress": "function",
    },
    "ops.reindex_words": {"config": "label", "progress": "function"},
}

# Which shared keywords a call takes beside its own arguments.
KEYWORDS: Final[Mapping[str, str]] = {
    "scoped": "Ids",
    "remember": "Write",
    "record_event": "Write",
    "record_turn": "Write",
    "record_long_input": "Write",
    "wait_for": "Read",
    "add": "NewMemory",
    "add_many": "Write",
    "revise": "Write",
    "annotate": "Attributes",
    "end_validity": "Write",
    "reinforce": "Write",
    "feedback": "Write",
    "forget": "Write",
    "restore": "Write",
    **dict.fromkeys(("relate", "relate_batch", "unrelate"), "Write"),
    **dict.fromkeys(("list_relations", "traverse", "traverse_many", "find_path"), "Read"),
    "get": "Read",
    "find": "Read",
    "get_current": "Read",
    "list_memories": "Read",
    "get_lineage": "Read",
    "get_history": "Read",
    "explain_memory": "Read",
    "verify_citation": "Ids",
    "cite": "Read",
    "search": "Read",
    "deep_search": "Read",
    "recall": "Read",
    "recall_trigger": "Read",
    "list_triggers": "Read",
    **dict.fromkeys(("list_topics", "get_topics"), "Ids"),
    "ops.rebuild_topics": "Write",
    "recall_critical": "Read",
    "build_context": "Read",
    "get_context_block": "Read",
    "build_long_input_context": "Read",
    "resume": "Read",
    **dict.fromkeys(("trace_recall", "explain"), "Read"),
    "session": "Ids",
    "get_session": "Read",
    "list_sessions": "Read",
    "end_session": "SessionWrite",
    **dict.fromkeys(
        ("start_task", "update_task", "resume_task", "forget_task", "restore_task", "save_checkpoint"), "TaskWrite"
    ),
    "get_task": "Read",
    "list_tasks": "Read",
    "list_checkpoints": "Read",
    "get_event": "Read",
    "list_events": "Read",
    "search_events": "Read",
    "follow": "Ids",
    "stats": "Ids",
    "ops.usage": "Ids",
    "get_all": "Read",
    "update": "Attributes",
    "delete": "Write",
    "delete_all": "Write",
    "history": "Read",
    "ops.verify_ledger": "Read",
    **dict.fromkeys(("ops.redact_event", "ops.erase", "ops.apply_redactions"), "Write"),
    **dict.fromkeys(("ops.archive", "ops.set_layer", "ops.undo", "ops.consolidate", "ops.prune"), "Write"),
    **dict.fromkeys(("merge", "ops.merge_similar", "ops.consolidate_summaries", "ops.audit"), "Write"),
    "ops.find_clusters": "Ids",
    "ops.list_runs": "Ids",
    **dict.fromkeys(("ops.decay", "ops.simulate_policy", "ops.audit_log"), "Ids"),
    "ops.list_jobs": "Ids",
    "ops.retry_job": "Write",
    "ops.cancel_job": "Write",
    "ops.backlog": "Ids",
    "ops.replay": "Write",
    "ops.export": "Ids",
    "ops.import_": "Write",
    "ops.compare_replay": "Ids",
    "ops.switch_replay": "Write",
    "ops.drop_replay": "Write",
    "ops.list_replays": "Ids",
    **dict.fromkeys(("ops.list_recalls", "ops.get_recall", "ops.replay_recall"), "Ids"),
}

# What is inside an argument: the call, the argument, the groups of its names, the rest of a valid one, a list or not.
INSIDE: Final[tuple[tuple[str, str, tuple[str, ...], Mapping[str, Any], bool], ...]] = (
    ("remember", "messages", ("Message",), {"role": "user", "content": "I like tea"}, True),
    ("record_turn", "tool_calls", ("ToolCall",), {"name": "weather", "result": "rain"}, True),
    ("record_turn", "artifacts", ("Artifact",), {"name": "plan.md", "content": "1. Tea"}, True),
    ("relate_batch", "items", ("NewRelation",), {"source_id": OTHER_ID, "target_id": THIRD_ID}, True),
    ("add_many", "items", ("Candidate", "NewMemory", "Attributes"), {"fact": "User likes tea"}, True),
    *(
        (call, "filter", ("Filter",), {}, False)
        for call in (
            "list_memories",
            "get_all",
            "get_history",
            "search",
            "deep_search",
            "recall",
            "trace_recall",
            "explain",
        )
    ),
)

# Arguments of a valid call; those that are not here can be left out.
VALID: Final[Mapping[str, Mapping[str, Any]]] = {
    "remember": {"messages": "I like tea"},
    "ops.reembed": {"model": "wordllama"},
    "ops.reindex_words": {"config": "english"},
    "record_event": {"content": "Looked at the sky"},
    "record_turn": {"user_message": "I like tea"},
    "record_long_input": {"text": "I like tea"},
    "wait_for": {"what": UNKNOWN_ID, "timeout": 0},
    "add": {"fact": "User likes tea"},
    "add_many": {"items": [{"fact": "User likes tea"}]},
    "revise": {"memory_id": UNKNOWN_ID, "fact": "User likes green tea"},
    "annotate": {"memory_id": UNKNOWN_ID, "tags": ["tea"]},
    "end_validity": {"memory_id": UNKNOWN_ID},
    "reinforce": {"memory_id": UNKNOWN_ID},
    "feedback": {"memory_ids": [UNKNOWN_ID], "value": 1},
    "ops.simulate_policy": {"policy": "default"},
    "forget": {"memory_id": UNKNOWN_ID},
    "restore": {"memory_id": UNKNOWN_ID},
    "relate": {"source_id": OTHER_ID, "target_id": THIRD_ID},
    "relate_batch": {"items": [{"source_id": OTHER_ID, "target_id": THIRD_ID}]},
    "unrelate": {"source_id": OTHER_ID, "target_id": THIRD_ID, "relation_type": "causes"},
    "list_relations": {"memory_id": UNKNOWN_ID},
    "traverse": {"start_id": UNKNOWN_ID},
    "traverse_many": {"start_ids": [UNKNOWN_ID]},
    "find_path": {"source_id": OTHER_ID, "target_id": THIRD_ID},
    "render_graph_context": {"traversal": Traversal(())},
    "get": {"memory_id": UNKNOWN_ID},
    "find": {"memory_id": UNKNOWN_ID},
    "get_current": {"memory_id": UNKNOWN_ID},
    "get_lineage": {"memory_id": UNKNOWN_ID},
    "explain_memory": {"memory_id": UNKNOWN_ID},
    "verify_citation": {"citation": Citation(UNKNOWN_ID, 0, 3, "0" * 64)},
    "cite": {"cited_id": UNKNOWN_ID},
    "search": {"query": "tea"},
    "search_events": {"query": "tea"},
    "deep_search": {"query": "tea"},
    "recall": {"question": "What does the user drink?"},
    "recall_trigger": {"action": "git-push"},
    "get_topics": {"topic_ids": []},
    "build_long_input_context": {"query": "tea"},
    "trace_recall": {"query": "tea"},
    "explain": {"query": "tea", "memory_id": UNKNOWN_ID},
    "ops.get_recall": {"recall_id": UNKNOWN_ID},
    "ops.replay_recall": {"recall_id": UNKNOWN_ID},
    "get_session": {"session_id": "standup"},
    "end_session": {"session_id": "standup"},
    "start_task": {"goal": "Paint the boat"},
    "update_task": {"task_run_id": UNKNOWN_ID, "status": "paused"},
    **{
        name: {"task_run_id": UNKNOWN_ID}
        for name in ("resume_task", "forget_task", "restore_task", "get_task", "list_checkpoints")
    },
    "save_checkpoint": {"task_run_id": UNKNOWN_ID, "summary": "The keel is painted"},
    "get_event": {"event_id": UNKNOWN_ID},
    "update": {"memory_id": UNKNOWN_ID, "fact": "User likes green tea"},
    "delete": {"memory_id": UNKNOWN_ID},
    "delete_all": {"user_id": "nobody"},
    "history": {"memory_id": UNKNOWN_ID},
    "ops.redact_event": {"event_id": UNKNOWN_ID},
    "ops.erase": {"session": "standup"},
    "ops.apply_redactions": {"path": os.devnull},
    "ops.archive": {"memory_ids": [UNKNOWN_ID]},
    "ops.consolidate": {},
    "ops.prune": {},
    "merge": {"memory_ids": [UNKNOWN_ID, OTHER_ID]},
    "ops.merge_similar": {},
    "ops.find_clusters": {},
    "ops.consolidate_summaries": {},
    "ops.audit": {},
    "ops.set_layer": {"memory_id": UNKNOWN_ID, "layer": "core"},
    "ops.undo": {"run_or_event_id": UNKNOWN_ID},
    "ops.export": {"path": OUT},
    "ops.import_": {"path": FACTS},
    "ops.compare_replay": {"shadow_id": UNKNOWN_ID},
    "ops.switch_replay": {"shadow_id": UNKNOWN_ID},
    "ops.drop_replay": {"shadow_id": UNKNOWN_ID},
    "ops.retry_job": {"job_id": UNKNOWN_ID},
    "ops.cancel_job": {"job_id": UNKNOWN_ID},
}

# Arguments that exclude each other: the second is left out of the valid call when the first is given.
EXCLUDES: Final[Mapping[tuple[str, str], str]] = {
    **{("ops.erase", name): "session" for name in ("events", "memories", "user", "scope", "source")},
    ("get_current", "topic_key"): "memory_id",
    ("get_lineage", "topic_key"): "memory_id",
    **{("update", name): "fact" for name in FIELDS["Attributes"]},
}


@dataclass(frozen=True, slots=True)
class Place:
    """One argument of one call, or one name inside an argument."""

    call: str
    argument: str
    kind: str
    inside: str | None = None
    rest: Mapping[str, Any] | None = None
    listed: bool = False

    def __str__(self) -> str:
        inner = "" if self.inside is None else f"{'[]' if self.listed else ''}.{self.inside}"
        return f"{self.call}({self.argument}{inner})"

    def given(self, value: Any) -> dict[str, Any]:
        """The arguments of a call that is valid but perhaps for `value` in this place."""
        arguments = dict(VALID.get(self.call, {}))
        arguments.pop(EXCLUDES.get((self.call, self.argument), ""), None)
        if self.inside is not None:
            one = {**(self.rest or {}), self.inside: value}
            value = [one] if self.listed else one
        return {**arguments, self.argument: value}


def names_of(group: str | None) -> dict[str, str]:
    """The names of a group of keywords, with those it is built on."""
    if group is None:
        return {}
    return {**names_of(GROUPS[group][1]), **FIELDS[group]}


def calls() -> tuple[str, ...]:
    """Every public call."""
    return tuple(name for name in FIELDS if name not in GROUPS and name != "Filter")


def places() -> tuple[Place, ...]:
    """Every place of every call where a caller's value goes."""
    found = [
        Place(call, name, kind)
        for call in calls()
        for name, kind in {**FIELDS[call], **names_of(KEYWORDS.get(call))}.items()
    ]
    found.extend(
        Place(call, argument, kind, name, rest, listed)
        for call, argument, groups, rest, listed in INSIDE
        for group in groups
        for name, kind in FIELDS[group].items()
    )
    return tuple(found)
