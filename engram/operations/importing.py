"""Importing: an export brought back as it was, conversations, and what other products remember."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from engram import history, ingest, inputs, ledger, memories, portable, tenancy, writing
from engram.database import Connection
from engram.errors import EngramError, InvalidInput, LimitExceeded
from engram.operations import capture, changing, restoring, spaces, steps
from engram.operations.changing import Asked
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.portable import own, transcripts
from engram.portable.files import File
from engram.portable.items import Item, Problem, Said, problem
from engram.scope import Scope
from engram.sessions import Visit
from engram.values import TRUSTS, Event, ImportProblem, ImportProgress, ImportReport, Memory, Trust, trust_rank
from engram.writing import Desk

CONFLICTS: Final = ("skip", "overwrite", "keep_both")
BATCH: Final = 100
BATCH_BYTES: Final = 2 * 1024 * 1024
SHOWN: Final = 1_000
OUTCOMES: Final = {
    "add": "added",
    "revise": "revised",
    "reinforce": "reinforced",
    "conflict": "conflict",
    "reject": "rejected",
}
ADDED: Final = ("sources", "force")  # words of a request that come of the import, and of no entry
RESTORED: Final = ("tenant_id", "shared", "dry_run")  # of the words of a write, those that mean something for an export
MOST_TRUST: Final[Trust] = "user"  # a file speaks for no operator, whatever it says of itself
PATH_CHARACTERS: Final = 4_096
ID_CHARACTERS: Final = 1_000  # of the id that a text had in its product, as its event tells it
Progress = Callable[[ImportProgress], object]
Written = tuple[Counter[str], Sequence[Problem]]  # how many entries became what, and those that could not be taken


@dataclass(frozen=True, slots=True)
class Entry:
    """What one entry of a file asks for, checked: a text to record, or a fact to write."""

    found: Said | Item
    call: Writing
    asked: Asked | None = None
    revised: Asked | None = None

    @property
    def size(self) -> int:
        """About how large it is."""
        found = self.found
        if isinstance(found, Said):
            return len(found.content) + len(str(found.metadata))
        return len(found.fact) + len(str(found.memory))


def import_(
    setup: Setup,
    path: object,
    *,
    format: object,
    on_conflict: object,
    strict: object,
    progress: object,
    given: Mapping[str, Any],
) -> Operation[ImportReport]:
    """Read a file into memory by its format."""
    call = setup.writing(given)
    file = _file(path)
    named = inputs.choice(format, "format", portable.FORMATS)
    mode = inputs.choice(on_conflict, "on_conflict", CONFLICTS)
    whole = inputs.flag(strict, "strict")
    watch: Progress = inputs.optional(inputs.function, progress, "progress") or (lambda _: None)
    reader = portable.reader_of(file, named)
    if reader is own:
        for name in given:
            if name not in RESTORED:
                raise InvalidInput(name, "nothing beside an export, which says itself whose memory it is", "a value")
        return (yield from restoring.restore(setup, call.tenant_id, file, dry_run=call.dry_run, watch=watch))
    if reader is transcripts:
        words = {name: value for name, value in given.items() if name != "idempotency_key"}
        return (yield from _transcripts(setup, file, call, words, whole, watch))
    return (yield from _foreign(setup, file, reader, call, mode, whole, watch))


def _file(path: object) -> File:
    if not isinstance(path, str | Path):
        raise InvalidInput("path", "the path of a file", type(path).__name__)
    text = str(path)
    inputs.text(text, "path", limit=PATH_CHARACTERS)
    try:
        if not Path(text).is_file():
            raise InvalidInput("path", "a file that can be read", "another path")
        with Path(text).open("rb") as file:
            file.read(1)
    except (OSError, ValueError):
        raise InvalidInput("path", "a file that can be read", "another path") from None
    return File(Path(text))


# ------------------------------------------------ conversations


def _transcripts(
    setup: Setup, file: File, call: Writing, words: Mapping[str, Any], strict: bool, watch: Progress
) -> Operation[ImportReport]:
    """Append conversations batch by batch; the jobs they cause derive memories from them."""
    report = _Report(file, transcripts.NAME, watch)

    def check(found: ingest.Found) -> None:
        inputs.name(found.session_id, "session_id")
        capture.check_message(setup, replace(call, idempotency_key=None), found.message)

    def batches(refuse: Callable[[Problem], None]) -> Iterator[ingest.Batch]:
        def refused(place: str, error: EngramError) -> None:
            told = problem(place, error)
            refuse(replace(told, place=place.removeprefix(f"{file.path.name} ")))

        return transcripts.read(file, call.scope.owner, call.session_id, check, refused)

    if strict:
        for _ in batches(_refuse_all):
            pass
    for batch in batches(report.refuse_read):
        report.read += len(batch.messages)
        asked = {**words, "session_id": batch.session_id}
        messages = [_trusted(message, call.trust) for message in batch.messages]
        receipt = yield from capture.remember(setup, messages, derive=None, wait=False, given=asked)
        report.counts["known" if receipt.duplicate else "said"] += len(batch.messages)
        report.tell(batch.done)
    return report.value(dry_run=call.dry_run)


def _trusted(message: Mapping[str, Any], trust: Trust | None) -> Mapping[str, Any]:
    """A message that says how far it is trusted: no further than the call says, or than a user. Pure."""
    said = message.get("trust")
    return message if said is None else {**message, "trust": _least(said, trust or MOST_TRUST)}


def _least(said: object, most: Trust = MOST_TRUST) -> Trust:
    """The trust an entry gives itself, which is no more than a user's, or another. Pure."""
    given = inputs.choice(said, "trust", TRUSTS)
    return cast("Trust", TRUSTS[max(trust_rank(given), trust_rank(most))])


def _refuse_all(found: Problem) -> None:
    """An entry that cannot be taken refuses the whole file."""
    raise InvalidInput(found.place, "an entry that can be imported", found.message)


# ------------------------------------------------ what other products remember


class _Report:
    """What has become of the entries so far."""

    def __init__(self, file: File, format: str, watch: Progress) -> None:
        self.file, self.format, self.watch = file, format, watch
        self.counts: Counter[str] = Counter()
        self.problems: list[ImportProblem] = []
        self.read = 0

    def refuse(self, found: Problem) -> None:
        """Note an entry that cannot be taken."""
        self.counts["problem"] += 1
        if len(self.problems) < SHOWN:
            self.problems.append(ImportProblem(found.place, found.message))

    def refuse_read(self, found: Problem) -> None:
        """Note an entry that could not even be read."""
        self.read += 1
        self.refuse(found)

    def tell(self, done: float | None = None) -> None:
        """Say how far the import has come."""
        added = sum(self.counts[name] for name in ("said", "added", "revised", "reinforced"))
        self.watch(ImportProgress(self.format, self.read, added, done))

    def value(self, *, dry_run: bool) -> ImportReport:
        """The report a caller sees."""
        return ImportReport(
            str(self.file.path), self.format, self.read, dict(+self.counts), tuple(self.problems), dry_run
        )


def _foreign(
    setup: Setup, file: File, reader: Any, call: Writing, mode: str, strict: bool, watch: Progress
) -> Operation[ImportReport]:
    if strict:
        _assert_readable(setup, file, reader, call)
    report = _Report(file, reader.NAME, watch)
    setup = yield from spaces.ready(setup, call.tenant_id)
    for batch in _batches(_entries(setup, file, reader, call, report)):
        place = replace(call, scope=batch[0].call.scope, visit=batch[0].call.visit)
        counts, refused = yield from _write(setup, batch, reader.NAME, mode, place)
        report.counts += counts
        for one in refused:
            report.refuse(one)
        report.tell()
    report.tell(1.0)
    return report.value(dry_run=call.dry_run)


def _assert_readable(setup: Setup, file: File, reader: Any, call: Writing) -> None:
    """Every entry can be taken; otherwise InvalidInput names the first that cannot, and nothing is written."""
    for found in reader.read(file):
        refused = found if isinstance(found, Problem) else _checked(setup, call, found, reader.NAME)
        if isinstance(refused, Problem):
            _refuse_all(refused)


def _entries(setup: Setup, file: File, reader: Any, call: Writing, report: _Report) -> Iterator[Entry]:
    for found in reader.read(file):
        report.read += 1
        checked = found if isinstance(found, Problem) else _checked(setup, call, found, reader.NAME)
        if isinstance(checked, Problem):
            report.refuse(checked)
        else:
            yield checked


def _checked(setup: Setup, call: Writing, found: Said | Item, format: str) -> Entry | Problem:
    """What an entry asks for, or why it cannot be taken."""
    try:
        least = _least(found.trust)
        inputs.text(found.source_id[:ID_CHARACTERS], "id", limit=ID_CHARACTERS)
        user = call.scope.user_id if call.scope.user_id is not None else found.user_id
        session = None if isinstance(found, Said) else inputs.optional(inputs.name, found.session_id, "session_id")
        own_call = replace(
            call,
            visit=call.visit or (None if session is None else Visit(session)),
            scope=replace(call.scope, user_id=user),
            trust=call.trust or least,
            occurred_at=inputs.optional(inputs.moment, found.occurred_at, "occurred_at") or call.occurred_at,
        )
        if isinstance(found, Said):
            clean = own_call.censor
            said = replace(
                found,
                content=clean.text(inputs.event_content(found.content), "content"),
                metadata=clean.data(inputs.metadata(found.metadata), "metadata"),
            )
            ledger.check_size(_event_of(said, own_call, format), "content")
            return Entry(said, own_call)
        asked = {name: value for name, value in found.memory.items() if value is not None}
        entry = Entry(found, own_call, changing.asked_for(setup, own_call, {"fact": found.fact, **asked}))
        if entry.asked is not None:
            changing.check_end(entry.asked.draft, own_call.occurred_at or datetime.now(UTC))
            changing.check_size(entry.asked.draft.fact, entry.asked.request, call.reason)
        return entry
    except EngramError as error:
        return problem(found.place, error)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """Consecutive entries of one scope and session, so many as one transaction should write."""
    held: list[Entry] = []
    size = 0
    for entry in entries:
        full = len(held) >= BATCH or size + entry.size > BATCH_BYTES
        if held and (full or _place(held[0]) != _place(entry)):
            yield held
            held, size = [], 0
        held.append(entry)
        size += entry.size
    if held:
        yield held


def _place(entry: Entry) -> tuple[Scope, Visit | None]:
    return entry.call.scope, entry.call.visit


def _write(setup: Setup, batch: Sequence[Entry], format: str, mode: str, call: Writing) -> Operation[Written]:
    """Write a batch in one transaction; what was written before is told by its id and left alone."""
    scope = call.scope
    fresh = yield from steps.read(scope.tenant_id, lambda conn: _unknown(conn, scope, batch, format, mode))
    known = len(batch) - len(fresh)
    if not fresh:
        return Counter(known=known), ()
    facts = [entry for entry in fresh if entry.asked is not None]
    drafts = yield from changing.with_vectors(setup, [entry.asked.draft for entry in facts if entry.asked is not None])
    vectors = {id(entry): draft.vector for entry, draft in zip(facts, drafts, strict=True)}

    def work(conn: Connection) -> Written:
        desk = setup.desk(conn, scope, reason=call.reason)
        return _Batch(setup, desk, call, format, mode).write(fresh, vectors)

    first = _key(format, fresh[0].found)
    done, refused = yield from steps.write(scope.tenant_id, steps.undone(work) if call.dry_run else work, key=first)
    done["known"] += known
    return done, refused


def _key(format: str, found: Said | Item) -> str:
    """The key of an entry's event: the same entry of the same product is imported once."""
    kind = "said" if isinstance(found, Said) else "fact"
    return f"import/{format}/{kind}/{hashlib.sha256(found.source_id.encode(errors='replace')).hexdigest()}"


def _unknown(conn: Connection, scope: Scope, batch: Sequence[Entry], format: str, mode: str) -> list[Entry]:
    """Those entries that are not certainly known: they are embedded, and judged again under the locks."""
    scope_id = tenancy.find(conn, scope)
    if scope_id is None:
        return list(batch)
    return [entry for entry in batch if not _is_known(conn, scope_id, entry, format, mode)]


def _is_known(conn: Connection, scope_id: int, entry: Entry, format: str, mode: str) -> bool:
    key = _key(format, entry.found)
    event = ledger.find_by_key(conn, scope_id, key)
    if event is None:
        return False
    if entry.asked is None or event.erased or _fact_asked(event) == entry.asked.request:
        return True
    return mode != "skip" and ledger.find_by_key(conn, scope_id, _varied(key, entry.asked)) is not None


def _fact_asked(event: Event) -> dict[str, Any]:
    """What an entry said that became an event, without what the import added to it, nor what it revised."""
    request = event.payload.get("request")
    if not isinstance(request, Mapping):
        return {}
    said = request.get("imported", request)
    return {name: value for name, value in said.items() if name not in ADDED}


def _varied(key: str, asked: Asked) -> str:
    """The key of what an entry says now that it says something else than before."""
    return f"{key}/{hashlib.sha256(inputs.canonical_json(dict(asked.request))).hexdigest()[:32]}"


class _Batch:
    """One batch of entries of one scope inside one transaction."""

    def __init__(self, setup: Setup, desk: Desk, call: Writing, format: str, mode: str) -> None:
        self.setup, self.desk, self.call, self.format, self.mode = setup, desk, call, format, mode
        self.counts: Counter[str] = Counter()
        self.refused: list[Problem] = []
        self.settled: list[writing.Settled] = []
        self.indexed = 0  # how many of them words find already

    def write(self, entries: Sequence[Entry], vectors: Mapping[int, Any]) -> Written:
        """Write what is not there; how many entries became what, and which could not be taken after all."""
        drafts = {
            id(one): replace(one.asked.draft, vector=vectors[id(one)]) for one in entries if one.asked is not None
        }
        locks = [
            changing.key_lock(self.desk, replace(one.call, idempotency_key=_key(self.format, one.found)))
            for one in entries
        ]
        writing.lock(self.desk, list(drafts.values()), *locks, *self._lineage_locks(entries))
        self.here, self.stream_id = changing.place(self.setup, self.desk, self.call)
        for entry in entries:
            if isinstance(entry.found, Said):
                self._say(entry, entry.found)
            else:
                self._add(entry, entry.found, drafts[id(entry)])
        writing.index(self.desk, self.settled)
        return self.counts, self.refused

    def _lineage_locks(self, entries: Sequence[Entry]) -> list[str]:
        """The locks of what entries that say something else now may revise."""
        if self.mode != "overwrite":
            return []
        found = [
            self._head(event) for one in entries if (event := self._event(_key(self.format, one.found))) is not None
        ]
        return [
            name
            for head in found
            if head is not None
            for name in writing.lineage_locks(head.lineage_id, self.desk.scope_id, head.conflict_key)
        ]

    def _event(self, key: str) -> Event | None:
        return ledger.find_by_key(self.desk.conn, self.desk.scope_id, key)

    def _head(self, event: Event) -> Memory | None:
        """The head of what an imported event became."""
        decided = history.decisions_of(self.desk.conn, self.desk.visible, event_ids=[event.event_id])
        memory = self.desk.load(decided[0]["memory_id"] or decided[0]["target_id"]) if decided else None
        if memory is None:
            return None
        return memories.lineage(self.desk.conn, self.desk.visible, memory.lineage_id).head

    def _say(self, entry: Entry, said: Said) -> None:
        """Record a text that facts rest on; nothing is derived from it, since the product did."""
        key = _key(self.format, said)
        if self._event(key) is not None:
            self.counts["known"] += 1
            return
        event = _event_of(said, replace(entry.call, actor=_actor(said, self.call)), self.format)
        ledger.append(
            self.desk.conn,
            scope_id=self.desk.scope_id,
            stream_id=self.stream_id,
            events=[event],
            key=self.setup.settings.secret_key,
        )
        self.counts["said"] += 1

    def _add(self, entry: Entry, item: Item, draft: writing.Draft) -> None:
        assert entry.asked is not None
        key = _key(self.format, item)
        before = self._event(key)
        if before is not None:
            if before.erased or _fact_asked(before) == entry.asked.request:
                self.counts["known"] += 1
                return
            key = _varied(key, entry.asked)
            if self.mode == "skip" or self._event(key) is not None:
                self.counts["skipped" if self.mode == "skip" else "known"] += 1
                return
        head = self._head(before) if before is not None and self.mode == "overwrite" else None
        request, draft = self._citing(entry.asked.request, item, draft)
        trust = entry.call.trust or MOST_TRUST
        if self.mode == "keep_both":
            draft, request = replace(draft, force=True), {**request, "force": True}
        if not writing.is_compared(self.desk, draft) and self.indexed < len(self.settled):
            writing.index_words(self.desk, self.settled[self.indexed :])
            self.indexed = len(self.settled)
        judged = writing.judge(self.desk, draft, trust)
        if head is None and judged.kind == "conflict" and self.mode == "overwrite":
            target = self.desk.load(judged.judgement.target_id)
            head = target if target is not None and target.stands else None
        if head is not None:
            request = changing.plain(
                {
                    "memory_id": head.memory_id,
                    "fact": draft.fact,
                    "main_content": draft.main_content,
                    "valid_from": draft.valid_from,
                    "imported": dict(entry.asked.request),
                }
            )
            draft = changing.imported_over(head, draft, entry.asked.request)
            judged = changing.judged_over(self.desk, draft, head, trust)
        try:
            changing.check_size(draft.fact, request, self.call.reason, judged.kind)
        except LimitExceeded as error:  # with what was found of it here: a revision is told as the file has it, too
            self.refused.append(problem(item.place, error))
            return
        here = replace(
            self.here,
            trust=trust,
            occurred_at=entry.call.occurred_at,
            idempotency_key=key,
        )
        origin = changing.event_of(self.setup, self.desk, here, self.stream_id, judged.kind, draft.fact, request)
        settled = writing.settle(self.desk, judged, origin)
        changing.add_sources(self.desk, settled, draft, origin, changing.cited_events(self.desk, draft))
        self.settled.append(settled)
        self.counts[OUTCOMES[judged.kind]] += 1

    def _citing(
        self, request: Mapping[str, Any], item: Item, draft: writing.Draft
    ) -> tuple[dict[str, Any], writing.Draft]:
        """The request with the texts the fact rests on: its very words where they occur, otherwise all of the text."""
        cited = []
        for source_id in dict.fromkeys(item.sources):
            said = self._event(_key(self.format, Said("", source_id, "")))
            if said is not None and said.content:
                start = said.content.find(draft.fact)
                cited.append(
                    (said.event_id, max(start, 0), len(said.content) if start < 0 else start + len(draft.fact))
                )
        if not cited:
            return dict(request), draft
        return {**request, "sources": [list(one) for one in cited]}, replace(draft, citations=tuple(cited))


def _event_of(said: Said, call: Writing, format: str) -> ledger.NewEvent:
    """The event of a text that facts rest on. Pure."""
    return ledger.NewEvent(
        role=said.role,
        event_type=capture.TYPE_OF[said.role],
        content=said.content,
        payload={"imported": {"format": format, "id": said.source_id[:ID_CHARACTERS]}},
        metadata=dict(said.metadata),
        trust=call.trust or MOST_TRUST,
        occurred_at=call.occurred_at,
        actor=call.actor,
        idempotency_key=_key(format, said),
    )


def _actor(said: Said, call: Writing) -> str | None:
    try:
        return inputs.optional(call.censor.checking(inputs.name), said.name, "name") or call.actor
    except InvalidInput:
        return call.actor
