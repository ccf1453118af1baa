"""The log of recalls: a row for each, of ids and scores and of what ranked them, never of what a memory says.

A row is written when its answer is ready, in a transaction of its own, and may be lost; a question that may quote what
was erased is erased with it.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import filters, history, ranking, tenancy, text
from engram.database import Connection, Jsonb, Sent, ending, execute, fetch_all, fetch_one, send_after
from engram.errors import NotFound
from engram.ranking import AnyProfile, Profile, ProfileWeights
from engram.recall import results
from engram.recall.finding import Candidate
from engram.recall.question import Asked
from engram.recall.results import Pair
from engram.scope import AllUsers, Scope
from engram.tenancy import Visible
from engram.values import ChannelHit, Event, LoggedRecall, RankMove, RecallDiff, SearchResult, Term

# The fields of a search that its plan has.
PLANNED: Final = tuple(one.name for one in fields(Asked) if one.name not in ("query", "words", "also"))
PLAIN: Final = (str, int, float, bool)
TEXTS: Final = ("filter", "variants", "queries", "question")  # parts of a plan that are the caller's words
SWEEP: Final = 500  # rows of a tenant that go at once when they are old
SWEEPS: Final = 256  # one row in so many sweeps


@dataclass(frozen=True, slots=True)
class Entry:
    """What there is to log of one recall."""

    recall_id: str
    kind: str
    query: str
    scope: Scope
    visible: Visible | None = None
    known_at: datetime | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    found: Sequence[Mapping[str, Any]] = ()
    chosen: Sequence[str] = ()
    intent: str | None = None
    degraded: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    tokens: int | None = None
    milliseconds: float = 0.0


# What is written -----------------------------------------------------------------------------------------------------


def is_sampled(recall_id: str, share: float) -> bool:
    """Whether a recall is among the share that is logged: its id decides, by its random part. Pure."""
    return uuid.UUID(recall_id).int % 2**32 < share * 2**32


def plan_of(asked: Asked) -> dict[str, Any]:
    """A search as it was asked for, as plain data from which `asked_of` makes it again. Pure."""
    plan: dict[str, Any] = {}
    for name in PLANNED:
        value = getattr(asked, name)
        if value is not None:
            plan[name] = profile_data(value) if name == "profile" else _data(value)
    return plan


def asked_of(plan: Mapping[str, Any], profiles: Sequence[Profile] = ()) -> dict[str, Any]:
    """The options of the search of a plan; what later releases added to searches is as it is by default. Pure."""
    options = {name: value for name, value in plan.items() if name in PLANNED}
    if "filter" in options:
        options["filter"] = filters.parse(options["filter"])
    if "profile" in options:
        given = options["profile"]
        own = next((one for one in profiles if isinstance(given, Mapping) and one.name == given.get("name")), None)
        options["profile"] = own or ranking.resolve(given, profiles)
    for name in ("window", "within"):
        if name in options:
            start, end = (None if side is None else datetime.fromisoformat(side) for side in options[name])
            options[name] = start, end
    return options


def profile_data(profile: AnyProfile) -> Any:
    """A profile as a plan holds it: a built-in one by its name, one of the caller's whole. Pure."""
    if isinstance(profile, ProfileWeights):
        return {"base": ranking.name_of(profile), "weights": dict(profile.weights)}
    return profile.to_dict() if isinstance(profile, Profile) else ranking.name_of(profile)


def profile_version(profile: AnyProfile) -> str:
    """The name of a profile and a digest of its weights: another digest is another ranking. Pure."""
    if isinstance(profile, str):
        return _version_of(profile)
    return _version(profile)


@cache
def _version_of(profile: str) -> str:
    return _version(profile)


def _version(profile: AnyProfile) -> str:
    name, weights = ranking.weights_of(profile)
    floor = profile.floor if isinstance(profile, Profile) else 0.0
    told = json.dumps([name, sorted(weights.items()), floor])
    return f"{name}@{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def lines(found: Iterable[SearchResult], candidates: Iterable[Candidate] = (), *, full: bool) -> list[dict[str, Any]]:
    """What was found as a log holds it: ids and scores, best first; in full also why, and what was left out. Pure."""
    made = []
    for one in found:
        line = _line(one.memory.memory_id, one.score, one.derived)
        if one.rerank_score is not None:
            line["rerank_score"] = round(one.rerank_score, 6)
        if full:
            line |= _why(one.terms, one.channels)
        made.append(line)
    return _with_left_out(made, candidates) if full else made


def lines_of(pairs: Iterable[Pair], candidates: Iterable[Candidate] = (), *, full: bool) -> list[dict[str, Any]]:
    """The same of what a search is about to return, before its memories are brought. Pure."""
    made = []
    for one, scores in pairs:
        line = _line(one.memory.memory_id, scores.score, one.derived)
        if full:
            line |= _why(scores.terms, results.hits(one))
        made.append(line)
    return _with_left_out(made, candidates) if full else made


def _line(memory_id: str, score: float, derived: bool) -> dict[str, Any]:
    line: dict[str, Any] = {"id": memory_id, "score": round(score, 6)}
    if not derived:
        line["derived"] = False
    return line


def _why(terms: Mapping[str, Term], channels: Mapping[str, ChannelHit]) -> dict[str, Any]:
    return {
        "terms": {name: _rounded(term.contribution) for name, term in terms.items()},
        "channels": {name: [hit.rank, _rounded(hit.value)] for name, hit in channels.items()},
    }


def _with_left_out(made: list[dict[str, Any]], candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    there = {line["id"] for line in made}
    return made + [_left_out(one) for one in candidates if one.memory.memory_id not in there]


def _left_out(one: Candidate) -> dict[str, Any]:
    values = {"semantic": one.cosine, "keyword": one.coverage or None, "graph": one.graph, "temporal": one.temporal}
    said = {name: _rounded(value) for name, value in values.items() if value is not None}
    return {"id": one.memory.memory_id, "score": None, "values": said}


def compared(
    row: LoggedRecall,
    again: Sequence[tuple[str, float | None]],
    versions: Mapping[str, str],
    notes: Sequence[str] = (),
) -> RecallDiff:
    """A logged recall beside the same made again: ids with scores, in order. Pure."""
    scores = {str(line["id"]): line.get("score") for line in row.found}
    waiting = tuple(str(line["id"]) for line in row.found if not line.get("derived", True))
    # What was printed is in its printed order; what answered comes before what else was found.
    order = row.chosen if row.kind == "build_context" else dict.fromkeys((*row.chosen, *_returned(row)))
    then = [one for one in order if one not in waiting]
    now = dict(again)
    places = {one: place for place, one in enumerate(now, 1)}
    moved = tuple(
        RankMove(one, place, places[one], scores.get(one), now[one])
        for place, one in enumerate(then, 1)
        if one in places and places[one] != place
    )
    changed = {
        name: (row.versions.get(name, "none"), versions.get(name, "none"))
        for name in sorted({*row.versions, *versions})
        if row.versions.get(name) != versions.get(name)
    }
    dropped = tuple(one for one in then if one not in now)
    return RecallDiff(
        recall_id=row.recall_id, kind=row.kind, known_at=row.known_at,
        added=tuple(one for one in now if one not in then), dropped=dropped, moved=moved,
        same=len(then) - len(dropped) - len(moved), versions=changed, waiting=waiting, notes=tuple(notes),
    )  # fmt: skip


def _returned(row: LoggedRecall) -> list[str]:
    """What was found and given; a full log names what was left out too, without a score."""
    return [str(line["id"]) for line in row.found if line.get("score") is not None]


def _rounded(value: float) -> float:
    return round(float(value), 6)


def _data(value: Any) -> Any:
    if value.__class__ in PLAIN:
        return value
    if isinstance(value, filters.Filter):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat()
    return [_data(one) for one in value] if isinstance(value, tuple | list) else value


def words_of(said: str) -> set[str]:
    """The telling words of a text, in every way to cut them, so that what shares one of them is found. Pure."""
    return (set(text.words(said)) | set(re.findall(r"\w+", text.compared(said)))) - text.STOP_WORDS


# Rows ----------------------------------------------------------------------------------------------------------------


def add(conn: Connection, entry: Entry, *, kept: timedelta, accessed: Sequence[str] = ()) -> None:
    """Write a row, and count the memories that were returned; now and then remove what is older than `kept`.

    The transaction ends with it.
    """
    visible = entry.visible or tenancy.visible(conn, entry.scope)
    own = visible.own if _is_known(entry.scope, visible) else tenancy.ensure(conn, entry.scope)
    sweeps = _sweeps(entry)
    execute(conn if sweeps else ending(conn), "add_recall", **_given(entry, visible, own, accessed))
    if sweeps:
        sweep(ending(conn), entry.scope.tenant_id, kept)


def add_after(conn: Connection, entry: Entry, *, accessed: Sequence[str] = ()) -> Sent | None:
    """The same behind the transaction that the next statement ends; None where it takes more than that."""
    visible = entry.visible
    if visible is None or not _is_known(entry.scope, visible) or _sweeps(entry):
        return None
    return send_after(conn, "add_recall", **_given(entry, visible, visible.own, accessed))


def _given(entry: Entry, visible: Visible, own: int | None, accessed: Sequence[str]) -> dict[str, Any]:
    told = [entry.query, *(json.dumps(entry.plan[name], ensure_ascii=False) for name in TEXTS if name in entry.plan)]
    return {
        "tenant_id": entry.scope.tenant_id, "recall_id": entry.recall_id, "scope_id": own,
        "scope_ids": sorted({*visible.scope_ids, *([] if own is None else [own])}), "known_at": entry.known_at,
        "kind": entry.kind, "query": entry.query, "words": sorted(words_of("\n".join(told))),
        "plan": Jsonb(dict(entry.plan)), "found": Jsonb(list(entry.found)), "chosen": list(entry.chosen),
        "intent": entry.intent, "degraded": list(entry.degraded), "versions": Jsonb(dict(entry.versions)),
        "tokens": entry.tokens, "milliseconds": entry.milliseconds, "memory_ids": sorted(accessed),
    }  # fmt: skip


def _is_known(scope: Scope, visible: Visible) -> bool:
    """Whether it is known whose row it is: a scope that nothing was written to is to be made, a wide one has none."""
    return visible.own is not None or _is_wide(scope)


def _sweeps(entry: Entry) -> bool:
    return (uuid.UUID(entry.recall_id).int >> 32) % SWEEPS == 0


def sweep(conn: Connection, tenant_id: str, kept: timedelta) -> int:
    """Remove some of the tenant's own rows from longer ago: a process without a scheduler keeps no more than others."""
    return execute(conn, "sweep_recalls", tenant_id=tenant_id, age=kept, limit=SWEEP)


def purge(conn: Connection, limit: int, *, kept: timedelta) -> int:
    """Remove rows from longer ago than `kept`, of every tenant; how many."""
    row = fetch_one(conn, "purge_recalls", age=kept, limit=limit)
    return 0 if row is None else int(row[0])


def get(conn: Connection, visible: Visible, recall_id: str) -> LoggedRecall:
    """The row of that id; NotFound says the same for unknown and foreign ids."""
    rows = _rows(conn, visible, recall_id=recall_id, limit=1)
    if not rows:
        raise NotFound("no logged recall with that id in this scope")
    return rows[0]


def list_(conn: Connection, visible: Visible, *, limit: int, before: str | None = None) -> list[LoggedRecall]:
    """The rows that the scope may see, newest first, after a place in the list."""
    return _rows(conn, visible, before=before, limit=limit)


def _rows(
    conn: Connection, visible: Visible, *, limit: int, recall_id: str | None = None, before: str | None = None
) -> list[LoggedRecall]:
    rows = fetch_all(
        conn, "list_recalls", tenant_id=visible.scope.tenant_id, scope_ids=list(visible.scope_ids),
        wide=_is_wide(visible.scope), recall_id=recall_id, before=before, limit=limit,
    )  # fmt: skip
    hidden = hidden_among(conn, visible, [one for row in rows for one in (*map(_id, row.found), *row.chosen)])
    return [
        LoggedRecall(
            recall_id=row.recall_id, kind=row.kind, at=row.recorded_at, known_at=row.known_at,
            scope=visible.scopes.get(row.scope_id or 0, visible.scope), **_asked(row, visible),
            found=tuple(line for line in row.found if _id(line) not in hidden),
            chosen=tuple(one for one in row.chosen if one not in hidden), intent=row.intent,
            degraded=tuple(row.degraded), versions=row.versions, tokens=row.tokens, milliseconds=row.milliseconds,
        )
        for row in rows
    ]  # fmt: skip


def hidden_among(conn: Connection, visible: Visible, named: Iterable[str]) -> frozenset[str]:
    """Those of some memories and events that are private to other scopes than the reader's own."""
    ids = sorted(set(named))
    return history.private_memories(conn, visible, ids) | history.private_events(conn, visible, ids)


def _id(line: Mapping[str, Any]) -> str:
    return str(line["id"])


def _asked(row: Row[Any], visible: Visible) -> dict[str, Any]:
    """The query of a recall and its plan, for who reads them. Pure.

    A question may be completed with what was said in a session, and that may be private to another scope.
    """
    if "question" not in row.plan or visible.own_ids is None or row.scope_id == visible.own:
        return {"query": row.query, "plan": row.plan}
    return {"query": None, "plan": {name: value for name, value in row.plan.items() if name != "question"}}


def _is_wide(scope: Scope) -> bool:
    return len(scope.agents) > 1 or isinstance(scope.user_id, AllUsers)


def erase_event(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> int:
    """Erase the questions that share a telling word with an event which is being erased, of all who could see it."""
    said = "\n".join([event.content or "", json.dumps([event.payload, event.metadata], ensure_ascii=False)])
    return execute(conn, "erase_recalls", tenant_id=tenant_id, scope_id=scope_id, words=sorted(words_of(said)))
