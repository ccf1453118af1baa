"""How results look to people: tables and lines, cut to the screen, with nothing in them that a terminal would obey."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from engram.cli import desk
from engram.embedding import local
from engram.ids import short_id

if TYPE_CHECKING:
    from engram import values
    from engram.scope import Scope

STATUS_STYLES = {"active": "green", "superseded": "yellow", "contested": "magenta", "deleted": "red"}
CITATION_STYLES = {"verified": "green", "changed": "red", "erased": "yellow"}
# Marks that turn the direction of text around: invisible, and able to make a line read as another.
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


class Screen(Console):
    """A console that tells when nobody reads any more, in place of leaving the process on its own."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the caller decide what a closed pipe means."""
        raise BrokenPipeError


def plain(value: object) -> Text:
    """Stored text for a screen: control and turning characters are shown as their numbers, never sent."""
    return Text("".join(_seen(character) for character in str(value)))


def _seen(character: str) -> str:
    if character == "\n" or not (character in TURNING or unicodedata.category(character) in ("Cc", "Cs")):
        return character
    return " " if character == "\t" else f"<U+{ord(character):04X}>"


def when(at: datetime | None) -> str:
    """A time to the minute, or a dash."""
    return at.strftime("%Y-%m-%d %H:%M") if at else "–"


LONGEST: Final = 24  # characters of a line, in a column of what callers name as they like
LEAST: Final = 20  # characters of a line that a wide column needs


def table(*columns: str, title: str | None = None, wide: Sequence[str] = (), named: Sequence[str] = ()) -> Table:
    """A table in the house's look; the wide columns take the room that is left, those of names so much at most."""
    made = Table(
        box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False, expand=bool(wide)
    )
    for column in columns:
        made.add_column(
            column, ratio=1 if column in wide else None, overflow="fold", no_wrap=column not in (*wide, *named),
            max_width=LONGEST if column in named else None,
        )  # fmt: skip
    return made


def listed(console: Console, made: Table, nothing: str) -> None:
    """A table, or the line that is said where there is nothing to put into it."""
    if made.row_count:
        draw(console, made)
    else:
        console.print(Text(nothing))


def draw(console: Console, made: Table) -> None:
    """A table, or its rows one under the other where the screen is too narrow for its columns."""
    if width_of(made) <= console.width:
        console.print(made)
        return
    if made.title:
        console.print(made.title, style="bold")
    for cells in zip(*(column.cells for column in made.columns), strict=True):
        row = [(column, text) for column, cell in zip(made.columns, cells, strict=True) if (text := as_text(cell))]
        for column, text in row:
            if column.ratio:
                console.print(text)
        beside = [Text(f"{column.header} ".lstrip(), "dim") + text for column, text in row if not column.ratio]
        console.print(Padding(Text(" · ", "dim").join(beside), (0, 0, 0, 2)))


def width_of(made: Table) -> int:
    """The characters of a line that a table needs, of a wide column the least that can be read."""
    return sum(map(_width_of, made.columns)) + 3 * len(made.columns) - 1


def _width_of(column: Column) -> int:
    if column.ratio:
        return LEAST
    longest = max(as_text(cell).cell_len for cell in (column.header, *column.cells))
    return min(longest, column.max_width or longest)


def as_text(cell: Any) -> Text:
    """What stands in a cell; a word of ours is put in as it is."""
    return cell if isinstance(cell, Text) else Text(cell)


def paged(console: Console, made: Table, page: Any, nothing: str) -> None:
    """The table of a page, how many it shows, and where the list goes on."""
    listed(console, made, nothing)
    cursor = getattr(page, "cursor", None)
    more = f"more with --cursor {cursor}" if cursor else ""
    if told := "; ".join(said for said in (f"{len(page)} shown" if len(page) else "", more) if said):
        console.print(Text(told, "dim"), soft_wrap=True)


def facts(console: Console, rows: Mapping[str, object]) -> None:
    """Names and values, one a line."""
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows.items():
        if value not in (None, "", (), [], {}):
            made.add_row(Text(name, "dim"), value if isinstance(value, Text) else plain(value))
    console.print(made)


def status(memory: values.Memory) -> Text:
    """The state of a memory with its labels."""
    words = " ".join([memory.status, *(label for label in memory.labels if label != memory.status)])
    return Text(words, STATUS_STYLES.get(memory.status, ""))


def memories(
    console: Console, page: values.Page[values.Memory] | values.CriticalMemories, scope: Scope | None = None
) -> None:
    """A list of memories; of those read for a user, it says which are the agent's own."""
    made = table("id", "fact", "type", "state", "importance", "valid from", wide=("fact",))
    for memory in page:
        state = status(memory) + Text(f" {AGENTS}" if is_agents(memory, scope) else "", "dim")
        made.add_row(
            memory.short_id,
            plain(memory.fact),
            memory.memory_type,
            state,
            f"{memory.importance:.2f}",
            when(memory.valid_from),
        )
    paged(console, made, page, nothing_of(scope, "No memories found"))
    if not getattr(page, "cursor", None):
        only_agents(console, page, scope)


AGENTS: Final = "agent's"  # what every user of the agent sees


def is_agents(memory: values.Memory, scope: Scope | None) -> bool:
    """Whether a memory that was read for a user is the agent's own, which every user sees."""
    return scope is not None and scope.user_id is not None and memory.scope.user_id is None


def only_agents(console: Console, found: Iterable[values.Memory], scope: Scope | None) -> None:
    """Say so where nothing of what is shown is of the user it was read for."""
    agents = [is_agents(memory, scope) for memory in found]
    if scope is not None and isinstance(scope.user_id, str) and agents and all(agents):
        console.print(
            plain(f"None of this is of user {scope.user_id}: it is the agent's own, which every user sees."),
            style="dim",
        )


def nothing_of(scope: Scope | None, what: str) -> str:
    """That there is nothing, in whose memory that is, and how to look elsewhere."""
    if scope is None or (scope.user_id is not None and not isinstance(scope.user_id, str)):
        return f"{what}."
    if scope.user_id is None:
        return f"{what}. {desk.NOBODY_NAMED}"
    return plain(f"{what} of user {scope.user_id}, nor of the agent itself.").plain


def triggers(console: Console, found: Mapping[str, Any]) -> None:
    """Actions that memories are tagged with."""
    made = table("action", "memories", "read", wide=("action",))
    for one in found["results"]:
        made.add_row(plain(one["action"]), str(one["memories"]), str(one["access_count"]))
    listed(console, made, "No memory is tagged with an action: `engram add … --tag trigger:git-push` tags one.")


def memory(console: Console, one: values.Memory) -> None:
    """Everything about one memory."""
    console.print(plain(one.fact), style="bold")
    facts(
        console,
        {
            "id": f"{one.short_id} ({one.memory_id})",
            "state": status(one),
            "type": one.memory_type,
            "category": one.category,
            "tags": ", ".join(one.tags),
            "slot": one.critical_slot,
            "topic": one.topic_key,
            "importance": f"{one.importance:.2f}",
            "confidence": f"{one.confidence:.2f}",
            "trust": one.trust,
            "revision": one.revision,
            "valid": f"{when(one.valid_from)} to {when(one.valid_to)}",
            "recorded": when(one.recorded_at),
            "expires": when(one.expires_at) if one.expires_at else None,
            "session": one.session_id,
            "source": one.source,
            "context": one.main_content,
            "metadata": dict(one.metadata) or None,
        },
    )
    quotes(console, one.citations)


def quotes(console: Console, citations: Iterable[values.Citation]) -> None:
    """Where a memory comes from: the place in the event, and the very characters where they were read."""
    for citation in citations:
        where = f"  {short_id(citation.event_id, 'evt')} [{citation.char_start}:{citation.char_end}]"
        said = f" “{citation.quote}”" if citation.quote is not None else ""
        console.print(Text(where, "dim") + plain(said))


def cited(console: Console, found: Mapping[str, Any]) -> None:
    """Quotes in their place: the words marked, what stands around them dimmed, and whether they hold."""
    told: Sequence[values.CitedText] = found["results"]
    for one in told:
        quote = one.citation
        where = f"{short_id(quote.event_id, 'evt')} [{quote.char_start}:{quote.char_end}] line {one.line}  "
        said = f"  {one.trust} {one.role} {when(one.occurred_at)}  {quote.event_id}"
        console.print(Text(where, "bold") + Text(one.state, CITATION_STYLES[one.state]) + Text(said, "dim"))
        if quote.quote is not None:
            marked = plain(quote.quote)
            marked.stylize("reverse" if one.state == "verified" else "reverse red")
            before, after = plain(one.before), plain(one.after)
            before.stylize("dim")
            after.stylize("dim")
            # Off a terminal there are no styles: the marks around the quote are all that shows it.
            console.print(before + Text("»") + marked + Text("«") + after, soft_wrap=True)
    if not told:
        console.print("Nothing is cited.")


def decision(console: Console, made: values.WriteDecision) -> None:
    """What became of a candidate, and why."""
    about = made.memory or made.target or made.head
    head = Text(f"{'would ' if made.dry_run else ''}{made.kind}", "bold")
    console.print(head + Text("  ") + (plain(f"{about.short_id}  {about.fact}") if about else Text("")))
    facts(
        console,
        {
            "because": ", ".join(made.reasons),
            "that is": made.explanation if _needs_words(made) else None,
            "rule": made.rule,
            "instead of": _replaced(made),
            "surprise": f"{made.surprise.score:.3f}" if made.surprise else None,
            "you may": ", ".join(made.options),
            "hints": ", ".join(made.hints),
        },
    )


def _needs_words(made: values.WriteDecision) -> bool:
    """Whether a decision did less than was asked for, so that a sentence has to say what."""
    return made.erased or made.kind in ("reject", "conflict") or any(":" in hint for hint in made.hints)


def _replaced(made: values.WriteDecision) -> str | None:
    replaced = made.target if made.kind == "revise" else None
    itself = replaced is not None and made.memory is not None and replaced.memory_id == made.memory.memory_id
    return None if replaced is None or itself else replaced.fact


def receipt(console: Console, made: values.Receipt) -> None:
    """What an append did."""
    word = "already there" if made.duplicate else "would be recorded" if made.dry_run else "recorded"
    console.print(plain(f"{word}: {len(made.event_ids)} event(s), position {made.position}"))
    for one in made.decisions:
        decision(console, one)
    for note in made.notes:
        console.print(plain(note), style="dim")


def results(console: Console, found: values.SearchResults, scope: Scope | None = None) -> None:
    """Search results with the reason of each score."""
    made = table("", "id", "fact", "score", "because", wide=("fact", "because"))
    for one in found:
        said = [*one.labels, *([AGENTS] if is_agents(one.memory, scope) else [])]
        labels = f" [{' '.join(said)}]" if said else ""
        made.add_row(
            str(one.rank), one.memory.short_id, plain(one.memory.fact + labels), f"{one.score:.3f}", reasons(one)
        )
    listed(console, made, nothing_of(scope, "Nothing found"))
    notes = [f"without {name}" for name in found.degraded]
    if found.results:
        notes = [f"{len(found)} found", f"profile {found.profile}", *notes, *(["weak"] if found.weak else [])]
    if notes:
        console.print(Text(" · ".join(notes), "dim"))


def reasons(one: values.SearchResult) -> Text:
    """The terms of a score, the channels that found the row, and the words that matched."""
    terms = [f"{name} {term.contribution:.3f}" for name, term in one.terms.items() if abs(term.contribution) >= 0.0005]
    channels = [f"{name} #{hit.rank}" for name, hit in one.channels.items()]
    words = [f"words: {', '.join(one.matched)}"] if one.matched else []
    judged = [f"reranked {one.rerank_score:.3f}"] if one.rerank_score is not None else []
    return plain(" · ".join([*judged, " + ".join(terms), *channels, *words]))


def answer(console: Console, told: values.RecallAnswer, scope: Scope | None = None) -> None:
    """An answer, what it rests on, and what was true before."""
    console.print(
        plain(told.answer_text if told.found else told.answer_text or "Nothing is known about that."), style="bold"
    )
    if not (told.found or told.evidence or scope is None or scope.user_id is not None):
        console.print(Text(desk.NOBODY_NAMED, "dim"))
    facts(
        console,
        {
            "intent": told.intent,
            "changed": when(told.when_changed) if told.when_changed else None,
            "before": "; ".join(one.fact for one in told.previous),
            "note": told.conflict_note,
            "without": ", ".join(told.degraded),
            "window": _window(told.window),
            "notes": "; ".join(told.trace.notes),
        },
    )
    quotes(console, told.sources)
    if told.evidence:
        made = table("", "evidence", "score", "because", wide=("evidence", "because"))
        for one in told.evidence:
            made.add_row(str(one.rank), plain(one.memory.fact), f"{one.score:.3f}", reasons(one))
        draw(console, made)
    for event in told.events:
        console.print(Text(f"  {when(event.occurred_at)} {event.role}  ", "dim") + plain(event.content or "(erased)"))


def _window(window: Any) -> str | None:
    return f"{when(window[0])} to {when(window[1])}" if window else None


def block(console: Console, made: values.ContextBlock) -> None:
    """A context block as a model would read it, and what it cost."""
    console.print(plain(made.text), soft_wrap=True)
    console.print(Text(f"{made.tokens} of {made.max_tokens} tokens · {len(made.citations)} citations", "dim"))
    left = Counter(made.trimmed.values())
    if left:
        said = ", ".join(f"{many} {reason}" for reason, many in left.most_common())
        console.print(Text(f"left out: {said}", "dim"))
    for warning in made.warnings:
        console.print(plain(warning), style="yellow")


def lineage(console: Console, line: values.Lineage) -> None:
    """All revisions of one fact, newest first."""
    made = table("rev", "fact", "state", "valid from", "valid to", "id", wide=("fact",))
    for one in line.revisions:
        is_head = line.head is not None and one.memory_id == line.head.memory_id
        fact = plain(one.fact + (" ← now" if is_head else ""))
        # A statement such as "I don't live in Leipzig any more" belongs to the fact and gives it no value.
        state = status(one) if is_head or one.status != "active" else Text("beside", "dim")
        made.add_row(str(one.revision), fact, state, when(one.valid_from), when(one.valid_to), one.short_id)
    listed(console, made, "No revisions at that time.")
    for one in line.contested:
        console.print(plain(f"contested: {one.fact} (trust {one.trust})"), style="magenta")


def history(console: Console, page: values.Page[values.HistoryEntry], scope: Scope | None = None) -> None:
    """What happened, newest first."""
    made = table("when", "what", "fact", "why", "who", "id", wide=("fact", "why"), named=("who",))
    for entry in page:
        made.add_row(
            when(entry.at),
            entry.entry,
            plain(entry.memory.fact),
            plain(entry.reason or ""),
            plain(entry.actor or ""),
            entry.memory.short_id,
        )
    listed(console, made, nothing_of(scope, "Nothing happened"))
    if page.cursor:
        console.print(Text(f"more with --cursor {page.cursor}", "dim"), soft_wrap=True)


def timeline(console: Console, told: values.Timeline, scope: Scope | None = None) -> None:
    """Memories under the day, week or month in which they became true, newest first."""
    if told.later:
        console.print(Text("later ones are left out", "dim"))
    for period in told:
        made = table("at", "id", "fact", "type", "state", title=period.name, wide=("fact",))
        for one in period:
            is_named = one.memory_id == told.around
            fact = plain(one.fact + (" ← this one" if is_named else ""))
            made.add_row(when(one.valid_from), one.short_id, fact, one.memory_type, status(one))
        draw(console, made)
    if not told.periods:
        console.print(Text(nothing_of(scope, "No memories found")))
    if told.earlier:
        last = told.memories[-1].short_id
        console.print(Text(f"earlier ones are left out; more with engram timeline {last}", "dim"), soft_wrap=True)


def decisions(console: Console, page: values.Page[values.WriteDecision], scope: Scope | None = None) -> None:
    """What became of candidates, newest first: what it was about, why, and the event that holds its words."""
    made = table("what", "about", "why", "event", "id", wide=("about", "why"))
    for one in page:
        about = one.memory or one.target or one.head
        fact, name = (about.fact, about.short_id) if about else ("", "")
        event = short_id(one.event_id, "evt") if one.event_id else ""
        made.add_row(one.kind, plain(fact), plain(", ".join(one.reasons)), event, name)
    paged(console, made, page, nothing_of(scope, "Nothing was decided"))


def explanation(console: Console, told: values.MemoryExplanation) -> None:
    """Why a memory is believed."""
    console.print(plain(told.memory.fact), style="bold")
    head = told.head.fact if told.head and told.head.memory_id != told.memory.memory_id else None
    facts(
        console,
        {
            "id": told.memory.short_id,
            "state": status(told.memory),
            "now it is": head,
            "rule": told.memory.rule,
            **{f"derived by {name}" if name == "deriver" else name: value for name, value in told.derivation.items()},
            "supersedes": ", ".join(short_id(one) for one in told.supersedes),
            "superseded by": short_id(told.superseded_by) if told.superseded_by else None,
        },
    )
    quotes(console, told.citations)
    for made in told.decisions:
        decision(console, made)


def models(console: Console, found: Sequence[values.EmbeddingModel]) -> None:
    """The embedding models of a tenant."""
    made = table("model", "dimensions", "state", "vectors", "failed", "calibrated", "since", wide=("model",))
    for one in found:
        style = {"active": "green", "building": "yellow"}.get(one.state, "dim")
        made.add_row(
            plain(one.name), str(one.dimensions), Text(one.state, style), str(one.vectors), str(one.failed),
            "yes" if one.calibrated else "-" if one.name == local.PACKAGE else "no", when(one.changed_at),
        )  # fmt: skip
    listed(console, made, "No embedding model yet: the first write takes the one of ENGRAM_EMBEDDING_MODEL.")


def reindexing(console: Console, told: values.ReindexProgress) -> None:
    """What a run over the word index has done."""
    done = "would be" if told.dry_run else "were"
    console.print(f"The words of {told.memories} memories {done} read anew by the configuration {told.config}.")


def calibration(console: Console, told: values.Calibration) -> None:
    """What the cosines of an embedding model mean."""
    facts(
        console,
        {
            "model": f"{told.model}, {told.dimensions} dimensions",
            "nothing in common": f"{told.unrelated:.3f}, give or take {told.spread:.3f}",
            "about the same": f"{told.alike:.3f}",
            "own fact first": f"{told.first:.0%} of {told.pairs} questions",
            "thresholds": ", ".join(f"{name} {value:.3f}" for name, value in told.thresholds.items()),
            "state": "kept: they hold from now on" if told.kept else "not kept",
        },
    )


def reembedding(console: Console, told: values.ReembedProgress) -> None:
    """What a change of the embedding model came to."""
    graph = {None: None, True: "built", False: "not built: MIGRATION_URL must reach the schema's owner"}[told.graph]
    facts(
        console,
        {
            "model": f"{told.model}, {told.dimensions} dimensions",
            "state": told.state,
            "vectors": f"{told.done} of {told.total}",
            "overlap": None if told.overlap is None else f"{told.overlap:.0%} of the nearest neighbours are the same",
            "cannot embed": ", ".join(short_id(one) for one in told.failing) or None,
            "graph": graph,
            "old vectors deleted": told.dropped or None,
            "dry run": "nothing was written" if told.dry_run else None,
        },
    )


def verification(console: Console, report: values.VerifyReport) -> None:
    """What recomputing the ledger's chain found."""
    word, style = ("whole", "green") if report.ok else ("broken", "bold red")
    counts = f": {report.events} events in {report.streams} streams, {report.erased} erased"
    console.print(Text("The ledger is ") + Text(word, style) + Text(counts))
    for bad in report.bad:
        console.print(plain(f"  stream {bad.stream_id} position {bad.position}: {bad.problem}"), style="red")


def jobs(console: Console, page: values.Page[values.Job]) -> None:
    """Jobs with how they stand and what they failed of."""
    made = table("job", "kind", "state", "tries", "lost workers", "failed of", "due", "made")
    for job in page:
        made.add_row(
            job.job_id, plain(job.kind), job.state, str(job.attempt), str(job.crashes), plain(job.error_class or ""),
            when(job.run_at) if job.state in ("queued", "paused") else "", when(job.created_at),
        )  # fmt: skip
    listed(console, made, "No jobs.")
    if page.cursor:
        console.print(f"More: --cursor {page.cursor}", markup=False, soft_wrap=True)


def job(console: Console, one: values.Job) -> None:
    """One job."""
    facts(
        console,
        {
            "job": one.job_id,
            "kind": one.kind,
            "state": one.state,
            "failed of": one.error_class,
            "due": when(one.run_at) if one.state in ("queued", "paused") else None,
        },
    )


def backlog(console: Console, data: Mapping[str, Any]) -> None:
    """What is not derived yet."""
    made = table("stream", "deriver", "read", "head", "behind", "oldest", "work", "failed of")
    for one in data["results"]:
        made.add_row(
            one["stream_id"], plain(one["deriver"]), str(one["position"]), str(one["head"]), str(one["behind"]),
            f"{one['oldest_age']:.0f} s", one["state"], plain(one["last_error"] or ""),
        )  # fmt: skip
    listed(console, made, "Everything is derived.")


def sessions(console: Console, page: values.Page[values.Session], scope: Scope | None = None) -> None:
    """A list of sessions."""
    made = table("session", "events", "began", "ended", "summary", wide=("summary",), named=("session",))
    for one in page:
        ended = f"{when(one.ended_at)} {one.outcome}" if one.ended_at else "–"
        made.add_row(plain(one.session_id), str(one.position), when(one.started_at), ended, plain(one.summary or ""))
    paged(console, made, page, nothing_of(scope, "No sessions found"))


def session(console: Console, one: values.Session) -> None:
    """A session, and its summary."""
    facts(
        console,
        {
            "session": one.session_id,
            "began": when(one.started_at),
            "ended": f"{when(one.ended_at)}, {one.outcome}" if one.ended_at else None,
            "events": one.position,
            "continues": one.continues,
            "metadata": dict(one.metadata),
            "summary": f"up to event {one.summary_position}, {one.summary_by}" if one.summary else None,
        },
    )
    if one.summary:
        console.print(plain(one.summary))


def events(console: Console, data: Mapping[str, Any]) -> None:
    """What was said and done, one event a line."""
    for one in data["results"]:
        said = "(erased)" if one["erased"] else one["content"] or ""
        console.print(plain(f"{one['position']:>4}  {one['role']:<9} {one['event_type']:<18} {' '.join(said.split())}"))
    if not data["results"]:
        console.print("No events.")


def found_events(console: Console, found: values.EventResults) -> None:
    """Events found, best first, one a line, and what the search had to do without."""
    from engram.channels.events import line

    for hit in found:
        console.print(plain(f"{hit.score:5.2f}  {line(hit.event)}"))
    if not found.results:
        console.print("Nothing found.")
    if found.degraded:
        console.print(plain(f"Without: {', '.join(found.degraded)}"))


def checks(console: Console, report: values.DoctorReport | values.Health) -> None:
    """Every check of the doctor or of health, with the command that repairs what failed."""
    repairs = () if report.ok else ("repair",)
    made = table("", "check", "found", *repairs, wide=("found", *repairs))
    for check in report.checks:
        mark = Text("ok", "green") if check.ok else Text("bad", "bold red")
        made.add_row(mark, check.name, plain(check.detail), *(plain(check.repair or "") for _ in repairs))
    draw(console, made)


def health(console: Console, report: values.Health) -> None:
    """The tier, every check, and the work that waits."""
    checks(console, report)
    facts(
        console,
        {
            "tier": report.tier or "nothing is served",
            "schema": report.schema_revision,
            "backlog": None if report.backlog_age is None else f"{report.backlog_age:.0f} s",
            "dead jobs": report.dead_jobs,
            "without vector": report.unembedded,
            "chain": None if report.chain_checked_at is None else f"whole, {when(report.chain_checked_at)}",
        },
    )


def usage(console: Console, data: Mapping[str, Any]) -> None:
    """What language models took."""
    made = table(data["by"], "calls", "answered", "tokens in", "tokens out", "cached", "dollars", "estimated")
    for row in data["usage"]:
        counts = (row["calls"], row["answered"], row["input_tokens"], row["output_tokens"], row["cached_tokens"])
        cost, guessed = f"{float(row['cost']):.4f}", row["estimated"]
        made.add_row(plain(row["group"]), *(str(count) for count in counts), cost, str(guessed))
    listed(console, made, "No language model was called.")


def statistics(console: Console, counts: values.ScopeStats) -> None:
    """What a scope holds."""
    spread = {
        name: ", ".join(f"{key} {count}" for key, count in sorted(group.items()))
        for name, group in (
            ("by status", counts.by_status),
            ("by type", counts.by_type),
            ("by layer", counts.by_layer),
            ("jobs", counts.jobs),
            ("decisions", counts.decisions),
        )
    }
    facts(
        console,
        {
            "events": counts.events,
            "memories": counts.memories,
            **spread,
            "critical": counts.critical,
            "without vector": counts.unembedded,
            "duplicates avoided": counts.duplicates_avoided,
            "oldest": when(counts.oldest),
            "last write": when(counts.last_write),
            "size": f"{counts.size_bytes / 1024 / 1024:.1f} MiB",
        },
    )


def plainly(console: Console, data: Mapping[str, object]) -> None:
    """A few names and values."""
    facts(console, data)


def tasks(console: Console, page: values.Page[values.TaskRun], scope: Scope | None = None) -> None:
    """Task runs, and where the list goes on."""
    made = table("id", "goal", "state", "started", "position", wide=("goal",))
    for one in page:
        made.add_row(one.task_run_id, plain(one.goal), one.status, when(one.started_at), str(one.position))
    paged(console, made, page, nothing_of(scope, "No tasks found"))


def task(console: Console, one: values.TaskRun) -> None:
    """Everything about one task run."""
    console.print(plain(one.goal), style="bold")
    facts(
        console,
        {
            "id": one.task_run_id,
            "state": f"{one.status}{', forgotten' if one.forgotten else ''}",
            "outcome": one.outcome,
            "part of": one.parent_task_id,
            "session": one.session_id,
            "position": one.position,
            "started": when(one.started_at),
            "ended": when(one.ended_at) if one.ended_at else None,
            "metadata": dict(one.metadata) or None,
        },
    )


def checkpoint(console: Console, one: values.Checkpoint) -> None:
    """One checkpoint, part by part."""
    console.print(plain(one.summary or "(erased)"), style="bold")
    facts(
        console,
        {
            "version": f"{one.version} at position {one.position}",
            "saved": f"{when(one.recorded_at)} by {one.made_by}",
            "done": "\n".join(one.completed_steps),
            "pending": "\n".join(one.pending_steps),
            "decided": "\n".join(one.decisions),
            "blocked": "\n".join(one.blockers),
            "made": ", ".join(one.artifacts),
            "state": dict(one.state) or None,
        },
    )


def checkpoints(console: Console, found: Mapping[str, Any]) -> None:
    """Checkpoints, a line each."""
    made = table("version", "summary", "position", "saved", "by", wide=("summary",), named=("by",))
    for one in found["results"]:
        made.add_row(
            str(one["version"]), plain(one["summary"] or "(erased)"), str(one["position"]),
            when(datetime.fromisoformat(one["recorded_at"])), plain(one["made_by"]),
        )  # fmt: skip
    listed(console, made, "No checkpoints: `engram checkpoint save` makes one.")


def resumed(console: Console, back: values.ResumedTask) -> None:
    """A task run that was taken up again, its checkpoint, and what happened since."""
    task(console, back.task)
    if back.checkpoint is not None:
        checkpoint(console, back.checkpoint)
    for event in back.events:
        console.print(Text(f"  {when(event.occurred_at)} {event.role}  ", "dim") + plain(event.content or "(erased)"))


def replays(console: Console, found: Sequence[values.Replay]) -> None:
    """The shadows of a scope."""
    made = table("shadow", "state", "policy", "steps", "changed")
    for one in found:
        made.add_row(one.shadow_id, one.state, one.policy, f"{one.done} of {one.steps}", when(one.changed_at))
    listed(console, made, "No shadows: `engram replay run` makes one.")


def replay_diff(console: Console, diff: values.ReplayDiff) -> None:
    """How a shadow differs from the live memories: the counts, and each difference with its reasons."""
    counts = {name: str(number) for name, number in diff.counts.items()}
    hashes = {"live": diff.live_hash[:16], "shadow": diff.shadow_hash[:16] + (" (the same)" if diff.is_same else "")}
    facts(console, {"shadow": f"{diff.shadow_id}, {diff.state}, {diff.policy}", **counts, **hashes})
    made = table("", "memory", "why", "id", wide=("memory",))
    for sign, shown in (("+", diff.added), ("-", diff.dropped)):
        for memory in shown:
            made.add_row(sign, plain(memory.fact), memory.status, memory.short_id)
    for one in diff.changed:
        said = [one.before.fact] if one.before.fact == one.after.fact else [one.before.fact, one.after.fact]
        made.add_row("~", plain(" → ".join(said)), ", ".join(one.reasons), one.before.short_id)
    for problem in diff.problems:
        what = f"{problem.event_type} was not made again"
        made.add_row("!", what, plain(problem.reason), f"evt-{problem.event_id[-8:]}")
    if made.row_count:
        draw(console, made)


def runs(console: Console, page: values.Page[values.LifecycleRun]) -> None:
    """Runs of the life cycle, a line each."""
    made = table("run", "when", "step", "memories", "by", "why", "", wide=("why",), named=("by",))
    for one in page:
        note = "undone" if one.undone else ", ".join(f"{step} failed" for step in one.failed_steps)
        made.add_row(
            one.run_id, when(one.started_at), one.step, str(one.changed), plain(one.actor or ""),
            plain(one.reason or ""), note,
        )  # fmt: skip
    listed(console, made, "No runs: `engram consolidate` makes one.")
    if page.cursor:
        console.print(f"More: --cursor {page.cursor}", markup=False, soft_wrap=True)


def run(console: Console, done: values.LifecycleRun) -> None:
    """What one run changed, or would change."""
    told = {"run": done.run_id, "step": done.step, "memories": str(done.changed)}
    if done.failed_steps:
        told["failed"] = ", ".join(done.failed_steps)
    facts(console, told | ({"dry run": "nothing was written"} if done.dry_run else {}))
    changes(console, done.changes)


def undo_report(console: Console, done: values.UndoReport) -> None:
    """What was taken back, and what was left."""
    told = {"run": done.run_id, "memories": str(done.changed), "left": str(len(done.left))}
    facts(console, told | ({"dry run": "nothing was written"} if done.dry_run else {}))
    changes(console, done.undone)
    if done.left:
        console.print(Text("left as they are:", "bold"))
        changes(console, done.left)


def clusters(console: Console, found: Sequence[values.Cluster]) -> None:
    """Groups of memories, a line each."""
    made = table("memories", "like", "spread", "redundant", "of which one says", wide=("of which one says",))
    for one in found:
        told = (str(len(one.memory_ids)), f"{one.mean_similarity:.3f}", f"{one.deviation:.3f}")
        made.add_row(*told, "yes" if one.redundant else "no", plain(one.fact))
    listed(console, made, "nothing stands together")


def tidied(console: Console, found: values.AuditReport) -> None:
    """What an audit proposes, and what it did."""
    made = table("what", "ids", "to", "because", wide=("because",))
    for one in found.proposals:
        to = short_id(one.to) if one.kind == "merge" else one.to
        made.add_row(one.kind, " ".join(map(short_id, one.memory_ids)), to, plain(one.reason))
    listed(console, made, "nothing is proposed")
    if found.run is not None:
        run(console, found.run)


def changes(console: Console, found: Sequence[values.Change]) -> None:
    """Changes of memories, a line a column."""
    if not found:
        return
    made = table("id", "what", "before", "after", "because", wide=("before", "after", "because"))
    for one in found:
        made.add_row(short_id(one.memory_id), one.field, plain(one.before), plain(one.after), plain(one.because))
    draw(console, made)


def export_report(console: Console, done: values.ExportReport) -> None:
    """What an export wrote: lines of each kind, and what it had to leave out."""
    facts(console, {"file": done.path, "format": done.format, "bytes": str(done.bytes), "sha256": done.sha256})
    made = table("kind", "written", "left out")
    for kind in dict.fromkeys([*done.counts, *done.left_out]):
        made.add_row(kind, str(done.counts.get(kind, 0)), str(done.left_out.get(kind, 0)))
    listed(console, made, "There was nothing to export.")


def import_report(console: Console, done: values.ImportReport) -> None:
    """What became of the entries of a file, and those that could not be read."""
    rehearsed = " (rehearsed: nothing was written)" if done.dry_run else ""
    facts(console, {"file": done.path, "format": done.format, "read": f"{done.read}{rehearsed}"})
    made = table("what", "entries")
    for what, count in done.counts.items():
        made.add_row(what.replace("_", " "), str(count))
    listed(console, made, "There was nothing to import.")
    if done.problems:
        refused = table("where", "not imported because", wide=("not imported because",))
        for one in done.problems:
            refused.add_row(plain(one.place), plain(one.message))
        draw(console, refused)


def relations(console: Console, found: Mapping[str, Any]) -> None:
    """Relations, a line each."""
    made = table("from", "type", "to", "weight", "since", "metadata", wide=("metadata",), named=("type",))
    for one in found["results"]:
        made.add_row(
            short_id(one["source_id"]), one["relation_type"], short_id(one["target_id"]), f"{one['weight']:.2f}",
            when(datetime.fromisoformat(one["recorded_at"])), plain(one["metadata"] or ""),
        )  # fmt: skip
    listed(console, made, "No relations.")


def topics(console: Console, found: Mapping[str, Any]) -> None:
    """Topics, a line each, those of a wider one under it."""
    made = table("id", "name", "members", "trust", wide=("name",))
    for one in _in_tree(found["results"]):
        indent = "  " if one["parent_id"] else ""
        made.add_row(indent + one["topic_id"], plain(one["name"]), str(one["members"]), one["trust"])
    listed(console, made, "No topics: `engram topics --rebuild` makes them of the memories there are.")


def _in_tree(found: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for one in found:
        if one["parent_id"] is None:
            yield one
            yield from (under for under in found if under["parent_id"] == one["topic_id"])


def opened_topics(console: Console, opened: Mapping[str, Any]) -> None:
    """Topics with their memories, and the pairs that say nearly the same."""
    for one in opened.values():
        topics(console, {"results": [one["topic"], *one["topics"]]})
        made = table("id", "fact", wide=("fact",))
        for memory in one["memories"]:
            made.add_row(short_id(memory["memory_id"]), plain(memory["fact"]))
        if made.row_count:
            draw(console, made)
        for first, second, alike in one["redundant"]:
            console.print(plain(f"nearly the same  {short_id(first)} {short_id(second)} {alike:.3f}"))


def parted(console: Console, ended: Mapping[str, Any]) -> None:
    """A relation that was ended."""
    console.print(plain(f"ended  {ended['source_id']} {ended['ended']} {ended['target_id']}"))


def traversal(console: Console, walk: values.Traversal) -> None:
    """Where relations lead, a line each, with the path."""
    made = table("score", "id", "fact", "path", wide=("fact", "path"))
    for one in walk:
        label = f" ({', '.join(one.labels)})" if one.labels else ""
        made.add_row(f"{one.score:.3f}", one.memory.short_id, plain(one.memory.fact + label), plain(_way(one)))
    listed(console, made, "No relation leads from there.")
    if made.row_count:
        console.print(Text(f"{len(walk)} shown" + ("; a limit left more out" if walk.truncated else ""), "dim"))


def path(console: Console, found: values.TraversalResult) -> None:
    """One path, and what it weighs."""
    console.print(plain(_way(found)))
    console.print(plain(found.memory.fact), style="bold")
    facts(console, {"weight": f"{found.path_weight:.3f}", "hops": found.depth})


def _way(one: values.TraversalResult) -> str:
    parts = [short_id(one.path[0])]
    for kind, way, node in zip(one.relation_types, one.directions, one.path[1:], strict=True):
        parts += [f"-{kind}->" if way == "outbound" else f"<-{kind}-", short_id(node)]
    return " ".join(parts)


def why(console: Console, told: values.WhyNot) -> None:
    """Why a search does not return a memory."""
    console.print(plain(told.reason.replace("_", " ")), style="bold green" if told.found else "bold yellow")
    ranks = {name: "–" if rank is None else str(rank) for name, rank in told.ranks.items()}
    facts(
        console,
        {
            "memory": told.memory_id,
            "ranks": ", ".join(f"{name} {rank}" for name, rank in ranks.items()),
            "score": None if told.score is None else f"{told.score:.3f}",
            "needed": None if told.score_needed is None else f"{told.score_needed:.3f}",
            **{name.replace("_", " "): str(value) for name, value in told.detail.items() if value not in (None, [])},
        },
    )


def trace(console: Console, seen: values.RecallTrace) -> None:
    """A recall from inside: the ids of each step, and what was printed."""
    kept = set(seen.kept_ids)
    made = table("memory", "pinned", "found", "printed")
    for one in dict.fromkeys((*seen.critical_ids, *seen.search_ids)):
        places = seen.search_ids.index(one) + 1 if one in seen.search_ids else ""
        pinned, printed = "yes" if one in seen.critical_ids else "", "yes" if one in kept else "no"
        made.add_row(short_id(one), pinned, str(places), printed)
    listed(console, made, "Nothing found.")
    facts(
        console,
        {
            "missing": ", ".join(seen.missing_expected_terms),
            "variants": "; ".join(seen.variants),
            "superseded": ", ".join(short_id(one) for one in seen.superseded_ids),
            "tokens": str(seen.tokens),
            "took": ", ".join(f"{name} {spent:.0f} ms" for name, spent in seen.timings_ms.items()),
            "by": ", ".join(f"{name} {version}" for name, version in seen.versions.items()),
            "without": ", ".join(seen.degraded),
        },
    )
    for note in seen.notes:
        console.print(plain(note))
    if seen.context:
        console.print(plain(seen.context))


def recalls(console: Console, page: values.Page[values.LoggedRecall]) -> None:
    """Logged recalls, one a line."""
    made = table("recall", "kind", "question", "found", "when", "ms", wide=("question",))
    for one in page:
        asked = "(erased)" if one.query is None else " ".join(one.query.split())
        made.add_row(
            one.recall_id, one.kind, plain(asked), str(len(one.chosen)), when(one.at), f"{one.milliseconds:.0f}"
        )
    listed(console, made, "No recalls.")
    if page.cursor:
        console.print(f"More: --cursor {page.cursor}", markup=False, soft_wrap=True)


def recall(console: Console, one: values.LoggedRecall) -> None:
    """One logged recall."""
    facts(
        console,
        {
            "recall": one.recall_id, "kind": one.kind, "question": one.query or "(erased)", "intent": one.intent,
            "when": when(one.at), "took": f"{one.milliseconds:.1f} ms", "without": ", ".join(one.degraded),
            "by": ", ".join(f"{name} {version}" for name, version in one.versions.items()),
            "plan": ", ".join(f"{name} {value}" for name, value in one.plan.items() if value not in (None, False)),
        },
    )  # fmt: skip
    made = table("", "id", "score")
    for place, line in enumerate(one.found, 1):
        score = line.get("score")
        made.add_row(str(place), str(line["id"]), "left out" if score is None else f"{score:.3f}")
    listed(console, made, "Nothing was found.")


def recall_diff(console: Console, diff: values.RecallDiff) -> None:
    """A logged recall beside the same one made again."""
    facts(
        console,
        {
            "recall": f"{diff.recall_id}, {diff.kind}, as known at {when(diff.known_at)}",
            "same": f"{diff.same}" + (" (all of it)" if diff.is_same else ""),
            **{f"{name} then, now": " → ".join(pair) for name, pair in diff.versions.items()},
        },
    )
    made = table("", "memory", "then", "now")
    for memory_id in diff.added:
        made.add_row("+", memory_id, "", "")
    for memory_id in diff.dropped:
        made.add_row("-", memory_id, "", "")
    for one in diff.moved:
        scores = [f"{score:.3f}" if score is not None else "" for score in (one.score_then, one.score_now)]
        made.add_row("~", one.memory_id, f"{one.rank_then}  {scores[0]}", f"{one.rank_now}  {scores[1]}")
    for memory_id in diff.waiting:
        made.add_row("?", memory_id, "not derived yet", "")
    if made.row_count:
        draw(console, made)
    for note in diff.notes:
        console.print(plain(note))


def erasure(console: Console, report: values.ErasureReport) -> None:
    """What was erased, what a second look still found, and what no database can take back."""
    made = table("what", "rows", title="Would be erased" if report.dry_run else "Erased")
    for kind, rows in report.erased.items():
        made.add_row(kind.replace("_", " "), str(rows))
    listed(console, made, "There was nothing to erase.")
    if report.rederived_jobs:
        console.print(f"{len(report.rederived_jobs)} jobs derive again what else was known.")
    for place, rows in report.remaining.items():
        console.print(f"[red]Left[/red]: {rows} rows of {place}")
    if report.clean and not report.dry_run:
        console.print("Looked for again in every table: nothing is left.")
    for one in report.out_of_reach:
        console.print("Out of reach:", plain(one), soft_wrap=True)


def decay(console: Console, rows: Sequence[values.DecayRow]) -> None:
    """What time has left of memories."""
    made = table("id", "fact", "importance", "left of it", "boost", "weighs", "next", wide=("fact",))
    for row in rows:
        made.add_row(
            row.memory.short_id, plain(row.memory.fact), f"{row.base:.3f}", f"{row.factor:.3f}", f"{row.boost:.2f}",
            f"{row.effective:.3f}", _threshold(row),
        )  # fmt: skip
    listed(console, made, "Nothing is current.")
    if rows:
        console.print(Text(f"{len(rows)} shown · curve {rows[0].curve}", "dim"))


def _threshold(row: values.DecayRow) -> str:
    following = row.next_threshold
    if following is None:
        return "–"
    under = f"{following.name} {following.value:.2f}"
    if following.epochs is not None:
        return f"{under} in {following.epochs} epochs"
    return f"{under} {when(following.at)}"


def curves(console: Console, rows: Sequence[values.DecayRow]) -> None:
    """The curve of a memory, from now until nothing to speak of is left."""
    for row in rows:
        console.print(plain(row.memory.fact), style="bold")
        console.print(
            Text(f"weighs {row.effective:.3f} of {row.base:.3f} · curve {row.curve} · {_threshold(row)}", "dim")
        )
        unit = "epochs" if row.curve == "epochs" else "days"
        made = Table.grid(padding=(0, 2))
        for point in row.points:
            made.add_row(Text(f"{point.after:.1f}", justify="right"), f"{point.left:.3f}", "█" * round(60 * point.left))
        console.print(made)
        console.print(Text(f"{unit} from now, if nobody accesses it", "dim"))
    if not rows:
        console.print("This memory is not current.")


def ratings(console: Console, rated: Sequence[values.Memory]) -> None:
    """Memories with their confidence after a rating."""
    made = table("id", "fact", "state", "confidence", "up", "down", wide=("fact",))
    for one in rated:
        counts = one.activity
        made.add_row(
            one.short_id, plain(one.fact), status(one), f"{one.confidence:.2f}", str(counts.positive),
            str(counts.negative),
        )  # fmt: skip
    listed(console, made, "Nothing was rated.")


def policy_report(console: Console, report: values.PolicyReport) -> None:
    """What a policy would have decided, beside what was decided."""

    def counted(found: Mapping[str, int]) -> str:
        return ", ".join(f"{name} {many}" for name, many in found.items())

    cost = f"{report.calls} calls, ${report.cost:.4f} when they were made" if report.calls else None
    facts(
        console,
        {
            "policy": report.policy, "events read": str(report.steps), "decides": counted(report.decisions),
            "was decided": counted(report.stored), "by rule": counted(report.rules), "types": counted(report.types),
            "differs": counted(report.counts), "language model": cost,
        },
    )  # fmt: skip
    made = table("", "fact", "what", wide=("fact",))
    for one in report.added:
        made.add_row("+", plain(one.fact), one.memory_type)
    for one in report.dropped:
        made.add_row("-", plain(one.fact), one.memory_type)
    for pair in report.changed:
        made.add_row("~", plain(pair.after.fact), ", ".join(pair.reasons))
    if made.row_count:
        draw(console, made)
    for problem in report.problems:
        console.print(plain(f"{short_id(problem.event_id, 'evt')} {problem.event_type}: {problem.reason}"))


def audit(console: Console, page: values.Page[values.AuditEntry]) -> None:
    """Changes of memories, with what undoing each would take back."""
    for one in page:
        who = f" by {one.actor}" if one.actor else ""
        why = "; ".join(said for said in (one.reason, one.because) if said)
        undone = " (taken back)" if one.undone else ""
        head = Text(f"{when(one.at)}  ", "dim") + Text(one.entry, "bold")
        console.print(head + plain(f"{who}{undone}  {short_id(one.memory_id)} {one.fact}"), soft_wrap=True)
        if why:
            console.print(plain(f"    because: {why}"), soft_wrap=True)
        for change in one.changes:
            console.print(plain(f"    {change.field}: {change.before!r} → {change.after!r}"), soft_wrap=True)
        if one.undo_id:
            console.print(Text(f"    engram undo {one.undo_id}", "dim"), soft_wrap=True)
    if not page.results:
        console.print("Nothing was changed.")
    if page.cursor:
        console.print(f"More: --cursor {page.cursor}", markup=False, soft_wrap=True)
