"""The commands of texts too long for one message."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from engram.cli.desk import Desk, event_id, moment
from engram.cli.files import progress

MEDIA: Final = ("text", "markdown", "code", "diff", "jsonl")
MEDIA_OF: Final = {
    ".md": "markdown", ".markdown": "markdown", ".diff": "diff", ".patch": "diff", ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".py": "code", ".js": "code", ".ts": "code", ".go": "code", ".rs": "code", ".java": "code", ".c": "code",
    ".h": "code", ".cpp": "code", ".sql": "code", ".sh": "code",
}  # fmt: skip
File = Annotated[Path, typer.Argument(help="A UTF-8 file.", exists=True, dir_okay=False, readable=True)]


def record(
    desk: Desk,
    file: File,
    title: Annotated[str, typer.Option("--title", help="What it is called, else the file's name.")] = "",
    media: Annotated[
        str | None, typer.Option("--media", help=f"{', '.join(MEDIA)}; else by the file's ending.")
    ] = None,
    chunk_tokens: Annotated[int, typer.Option("--chunk-tokens", help="The most a chunk may hold.")] = 700,
    facts: Annotated[int, typer.Option("--facts", help="The most facts a model may make of a chunk.")] = 6,
    derive: Annotated[str | None, typer.Option("--derive", help="skip, rules or llm.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Session it belongs to.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Task run it belongs to.")] = None,
    occurred_at: Annotated[str | None, typer.Option("--occurred-at", help="The date of the document.")] = None,
    wait: Annotated[float | None, typer.Option("--wait", help="Seconds to wait for its facts.")] = None,
    max_bytes: Annotated[int | None, typer.Option("--max-bytes", help="The most bytes taken, else 52,428,800.")] = None,
) -> None:
    """Record a text of any length; what is there already is not recorded again."""
    from engram.cli import show

    given: dict[str, Any] = {
        "derive": derive,
        "session_id": session,
        "task_run_id": task,
        "wait": wait,
        "max_bytes": max_bytes,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if occurred_at is not None:
        options["occurred_at"] = moment(desk, occurred_at, "occurred_at")
    with desk.door() as engram, progress(desk) as bar:
        report = engram.record_long_input(
            file, title=title, media=media or MEDIA_OF.get(file.suffix.lower(), "text"),  # type: ignore[arg-type]
            max_chunk_tokens=chunk_tokens, max_facts_per_chunk=facts,
            progress=lambda told: bar(file.name, told.share), **options, **desk.write,
        )  # fmt: skip
    desk.show(
        {
            "manifest_event_id": report.manifest_event_id, "chars": report.chars, "sha256": report.sha256,
            "parts": len(report.source_event_ids), "chunks": len(report.chunks), "decisions": len(report.decisions),
            "duplicate": report.duplicate, "notes": list(report.notes),
        },
        show.plainly,
    )  # fmt: skip


def context(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="What the passages are to answer.")],
    source: Annotated[str | None, typer.Option("--source", help="An event of the one document to look in.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Look in the documents of this task run.")] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="The budget, never exceeded.")] = 4000,
    chunks: Annotated[int, typer.Option("--chunks", help="The most chunks.")] = 6,
    expect: Annotated[list[str] | None, typer.Option("--expect", help="A term the passages ought to hold.")] = None,
    min_trust: Annotated[str, typer.Option("--min-trust", help="Print nothing trusted less.")] = "web",
) -> None:
    """Show the passages of long inputs that answer a question, and what is remembered beside them."""
    from engram.cli import show

    with desk.door() as engram:
        block = engram.build_long_input_context(
            query, source_event_id=source and event_id(engram, source), task_run_id=task, max_tokens=max_tokens,
            source_chunk_limit=chunks, expected_terms=expect or (), min_trust=min_trust, **desk.read,  # type: ignore[arg-type]
        )  # fmt: skip
        desk.show(block, show.block)
