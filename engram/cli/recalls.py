"""Commands on recalls: why a search does not return a memory, a recall from inside, and the log of recalls."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engram.cli.desk import Desk
from engram.cli.memories import Id, Limit, Tags, Types, filter_of, given
from engram.values import MODES

Query = Annotated[str, typer.Argument(help="The question, as it was or would be searched for.")]
RecallId = Annotated[str, typer.Argument(help="Id of the logged recall, as its answer gave it.")]
Budget = typer.Option("--max-tokens", help="The budget what is found is printed in.")


def why(
    desk: Desk,
    query: Query,
    memory_id: Id,
    mode: Annotated[str, typer.Option("--mode", help=", ".join(MODES))] = "hybrid",
    limit: Limit = 10,
    memory_type: Types = None,
    tag: Tags = None,
    min_score: Annotated[float, typer.Option("--min-score", help="Nothing below this score.")] = 0.0,
    profile: Annotated[str, typer.Option("--profile", help="How to score.")] = "default",
    rerank: Annotated[bool, typer.Option("--rerank", help="Ask the reranker about the best.")] = False,
    cut: Annotated[
        str, typer.Option("--cut", help="adaptive leaves out what is much less near than the best.")
    ] = "none",
    per_session: Annotated[int | None, typer.Option("--per-session", help="At most so many of a session.")] = None,
    max_tokens: Annotated[int | None, Budget] = None,
) -> None:
    """Say why a search does not return a memory, or that it does."""
    from engram.cli import show

    options: dict[str, Any] = given(
        filter=filter_of(memory_types=memory_type, tags_all=tag), min_score=min_score or None, rerank=rerank,
        per_session=per_session, max_tokens=max_tokens,
    )  # fmt: skip
    shaped: dict[str, Any] = {"mode": mode, "profile": profile, "cut": cut}
    with desk.door() as engram:
        desk.show(engram.explain(query, memory_id, limit=limit, **shaped, **options, **desk.read), show.why)


def trace(
    desk: Desk,
    query: Query,
    limit: Limit = 20,
    max_tokens: Annotated[int, Budget] = 2000,
    expect: Annotated[
        list[str] | None, typer.Option("--expect", help="A term that should be in what is printed; repeatable.")
    ] = None,
    plain: Annotated[bool, typer.Option("--no-deep", help="One plain search, not several.")] = False,
) -> None:
    """Show a recall from inside: what was pinned, found, printed and left out."""
    from engram.cli import show

    with desk.door() as engram:
        seen = engram.trace_recall(
            query, limit=limit, max_tokens=max_tokens, expected_terms=expect or (), deep=not plain, **desk.read
        )
        desk.show(seen, show.trace)


def list_(
    desk: Desk,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
) -> None:
    """List what was recalled, newest first."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.list_recalls(limit=limit, cursor=cursor), show.recalls)


def show_(desk: Desk, recall_id: RecallId) -> None:
    """Show one logged recall: its plan, what was found with scores, and what ranked it."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.get_recall(recall_id), show.recall)


def replay(desk: Desk, recall_id: RecallId) -> None:
    """Make a logged recall again, as of what was known then, and show the difference."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.replay_recall(recall_id), show.recall_diff)
