"""How results look to people: tables and lines, cut to the screen, with nothing in them that a terminal would obey."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engram.ids import short_id

if TYPE_CHECKING:
    from engram import values

STATUS_STYLES = {"active": "green", "superseded": "yellow", "contested": "magenta", "deleted": "red"}
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


def table(*columns: str, title: str | None = None, wide: Sequence[str] = ()) -> Table:
    """A table in the house's look; the wide columns take the room that is left."""
    made = Table(
        box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False, expand=bool(wide)
    )
    for column in columns:
        made.add_column(column, ratio=1 if column in wide else None, overflow="fold", no_wrap=column not in wide)
    return made


def facts(console: Console, rows: Mapping[str, object]) -> None:
    """Names and values, one a line."""
    made = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        if value not in (None, "", (), {}):
            made.add_row(Text(name, "dim"), value if isinstance(value, Text) else plain(value))
    console.print(made)


def status(memory: values.Memory) -> Text:
    """The state of a memory with its labels."""
    words = " ".join([memory.status, *(label for label in memory.labels if label != memory.status)])
    return Text(words, STATUS_STYLES.get(memory.status, ""))


def memories(console: Console, page: values.Page[values.Memory] | values.CriticalMemories) -> None:
    """A list of memories."""
    made = table("id", "fact", "type", "state", "importance", "valid from", wide=("fact",))
    for memory in page:
        made.add_row(
            memory.short_id,
            plain(memory.fact),
            memory.memory_type,
            status(memory),
            f"{memory.importance:.2f}",
            when(memory.valid_from),
        )
    console.print(made)
    more = getattr(page, "cursor", None)
    console.print(Text(f"{len(page)} shown" + (f"; more with --cursor {more}" if more else ""), "dim"))


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


def decision(console: Console, made: values.WriteDecision) -> None:
    """What became of a candidate, and why."""
    about = made.memory or made.target or made.head
    head = Text(f"{'would ' if made.dry_run else ''}{made.kind}", "bold")
    console.print(head + Text("  ") + (plain(f"{about.short_id}  {about.fact}") if about else Text("")))
    facts(
        console,
        {
            "because": ", ".join(made.reasons),
            "rule": made.rule,
            "instead of": _replaced(made),
            "surprise": f"{made.surprise.score:.3f}" if made.surprise else None,
            "you may": ", ".join(made.options),
            "hints": ", ".join(made.hints),
        },
    )


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


def results(console: Console, found: values.SearchResults) -> None:
    """Search results with the reason of each score."""
    made = table("", "id", "fact", "score", "because", wide=("fact", "because"))
    for one in found:
        labels = f" [{' '.join(one.labels)}]" if one.labels else ""
        made.add_row(
            str(one.rank), one.memory.short_id, plain(one.memory.fact + labels), f"{one.score:.3f}", reasons(one)
        )
    console.print(made)
    notes = [f"{len(found)} found", f"profile {found.profile}", *(f"without {name}" for name in found.degraded)]
    console.print(Text(" · ".join(notes + (["weak"] if found.weak else [])), "dim"))


def reasons(one: values.SearchResult) -> Text:
    """The terms of a score, the channels that found the row, and the words that matched."""
    terms = [f"{name} {term.contribution:.3f}" for name, term in one.terms.items() if abs(term.contribution) >= 0.0005]
    channels = [f"{name} #{hit.rank}" for name, hit in one.channels.items()]
    words = [f"words: {', '.join(one.matched)}"] if one.matched else []
    return plain(" · ".join([" + ".join(terms), *channels, *words]))


def answer(console: Console, told: values.RecallAnswer) -> None:
    """An answer, what it rests on, and what was true before."""
    console.print(
        plain(told.answer_text if told.found else told.answer_text or "Nothing is known about that."), style="bold"
    )
    facts(
        console,
        {
            "intent": told.intent,
            "changed": when(told.when_changed) if told.when_changed else None,
            "before": "; ".join(one.fact for one in told.previous),
            "note": told.conflict_note,
            "without": ", ".join(told.degraded),
            "window": _window(told.window),
        },
    )
    quotes(console, told.sources)
    if told.evidence:
        made = table("", "evidence", "score", "because", wide=("evidence", "because"))
        for one in told.evidence:
            made.add_row(str(one.rank), plain(one.memory.fact), f"{one.score:.3f}", reasons(one))
        console.print(made)
    for event in told.events:
        console.print(Text(f"  {when(event.occurred_at)} {event.role}  ", "dim") + plain(event.content or "(erased)"))


def _window(window: Any) -> str | None:
    return f"{when(window[0])} to {when(window[1])}" if window else None


def block(console: Console, made: values.ContextBlock) -> None:
    """A context block as a model would read it, and what it cost."""
    console.print(plain(made.text), soft_wrap=True)
    console.print(Text(f"{made.tokens} of {made.max_tokens} tokens · {len(made.citations)} citations", "dim"))
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
    console.print(made)
    for one in line.contested:
        console.print(plain(f"contested: {one.fact} (trust {one.trust})"), style="magenta")


def history(console: Console, page: values.Page[values.HistoryEntry]) -> None:
    """What happened, newest first."""
    made = table("when", "what", "fact", "why", "who", "id", wide=("fact",))
    for entry in page:
        made.add_row(
            when(entry.at),
            entry.entry,
            plain(entry.memory.fact),
            plain(entry.reason or ""),
            plain(entry.actor or ""),
            entry.memory.short_id,
        )
    console.print(made)
    if page.cursor:
        console.print(Text(f"more with --cursor {page.cursor}", "dim"))


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


def verification(console: Console, report: values.VerifyReport) -> None:
    """What recomputing the ledger's chain found."""
    word, style = ("whole", "green") if report.ok else ("broken", "bold red")
    counts = f": {report.events} events in {report.streams} streams, {report.erased} erased"
    console.print(Text("The ledger is ") + Text(word, style) + Text(counts))
    for bad in report.bad:
        console.print(plain(f"  stream {bad.stream_id} position {bad.position}: {bad.problem}"), style="red")


def checks(console: Console, report: values.DoctorReport) -> None:
    """Every check of the doctor, with the command that repairs what failed."""
    made = table("", "check", "found", "repair", wide=("found",))
    for check in report.checks:
        mark = Text("ok", "green") if check.ok else Text("bad", "bold red")
        made.add_row(mark, check.name, plain(check.detail), plain(check.repair or ""))
    console.print(made)


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
