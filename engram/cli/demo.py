"""The demo: a real conversation goes into the ledger, becomes memories, and is recalled, on your own machine.

It lives in a tenant of its own, so that it never touches what you store.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import as_file
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engram.cli.desk import Desk, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from engram import Engram
    from engram.values import Lineage, Memory, RecallAnswer, SearchResult

TENANT: Final = "demo"
FAILED: Final = 1


@dataclass(slots=True)
class Clock:
    """How long each part took, in milliseconds."""

    parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Measure one part; parts of one name add up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.parts[part] = self.parts.get(part, 0.0) + (time.perf_counter() - start) * 1000


def demo(
    desk: Desk,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Budget of the context block.")] = 600,
) -> int:
    """Show the whole road on a conversation of seven months; takes seconds, needs nothing."""
    script = json.loads((resources("engram") / "demo" / "questions.json").read_text("utf-8"))
    script["context"]["max_tokens"] = max_tokens
    clock, began = Clock(), time.perf_counter()
    with desk.door(tenant_id=TENANT, user_id=script["user"]) as engram:
        with clock.time("open"):
            engram.list_events(limit=0)
        told: dict[str, Any] = {"ledger": ingested(engram, desk, clock)}
        with desk.waiting("Asking questions"):
            told |= story(engram, script, clock)
    told["ok"] = all(held(told, script))
    told["timings_ms"] = {name: round(value, 1) for name, value in clock.parts.items()}
    told["timings_ms"]["total"] = round((time.perf_counter() - began) * 1000, 1)
    if desk.json:
        print_json({name: plainly(value) for name, value in told.items()})
    else:
        render(desk.screen(), told)
    return 0 if told["ok"] else FAILED


# What happens


def story(engram: Engram, script: Mapping[str, Any], clock: Clock) -> dict[str, Any]:
    """Everything the demo asks, as data: printing comes after."""
    told: dict[str, Any] = {"memories": engram.stats()}
    told["lineage"] = superseded(engram, script["superseded"], clock)
    told["said"] = (
        [engram.explain_memory(one.memory_id) for one in told["lineage"].revisions] if told["lineage"] else []
    )
    with clock.time("critical"):
        told["critical"] = engram.recall_critical()
    told["questions"] = [asked(engram, one, clock) for one in script["questions"]]
    told["as_of"] = asked(engram, script["as_of"], clock)
    context = script["context"]
    with clock.time("context"):
        told["context"] = engram.build_context(context["ask"], max_tokens=context["max_tokens"])
    return told


def ingested(engram: Engram, desk: Desk, clock: Clock) -> dict[str, Any]:
    """Append the conversation and verify the ledger; a second time nothing is new."""
    from engram.cli import files

    before = engram.stats()
    conversation = resources("engram") / "demo" / "conversation.jsonl"
    with clock.time("ingest"), as_file(conversation) as path, files.progress(desk) as bar:
        counts = files.append(engram, path, bar)
    after = engram.stats()
    with clock.time("verify"):
        chain = engram.ops.verify_ledger()
    return {
        "read": counts["events"],
        "appended": after.events - before.events,
        "events": after.events,
        "derived": after.memories - before.memories,
        "memories": after.memories,
        "chain": chain,
    }


def superseded(engram: Engram, one: Mapping[str, Any], clock: Clock) -> Lineage | None:
    """The lineage of a fact that changed."""
    with clock.time("lineage"):
        current = engram.recall(one["ask"]).current
        return engram.get_lineage(current.memory_id) if current else None


def asked(engram: Engram, one: Mapping[str, Any], clock: Clock) -> dict[str, Any]:
    """One question, perhaps put to an earlier day, with what was expected."""
    then: dict[str, Any] = {"as_of": datetime.fromisoformat(one["at"])} if "at" in one else {}
    with clock.time("recall"):
        answer = engram.recall(one["ask"], **then)
    right = one["answer"] in answer.answer_text and one.get("not", "\0") not in answer.answer_text
    return {"ask": one["ask"], "at": one.get("at"), "expected": one["answer"], "right": right, "answer": answer}


def held(told: Mapping[str, Any], script: Mapping[str, Any]) -> Iterator[bool]:
    """Whether the demo shows what it promises, one promise after the other."""
    yield told["ledger"]["chain"].ok
    yield all(one["right"] for one in [*told["questions"], told["as_of"]])
    yield any(script["critical"]["says"] in memory.fact for memory in told["critical"])
    line = told["lineage"]
    yield line is not None and line.head is not None and script["superseded"]["to"] in line.head.fact
    yield line is not None and any(
        script["superseded"]["from"] in one.fact and one.status == "superseded" for one in line.revisions
    )
    block = told["context"]
    yield block.tokens <= block.max_tokens and bool(block.citations) and script["context"]["says"] in block.text


def plainly(value: Any) -> Any:
    """A value of the story as JSON data."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plainly(item) for name, item in value.items()}
    return [plainly(item) for item in value] if isinstance(value, list) else value


# How it looks


def render(console: Console, told: Mapping[str, Any]) -> None:
    """The whole demo for people, step by step."""
    steps: tuple[tuple[str, Callable[[Console, Mapping[str, Any]], None]], ...] = (
        ("A conversation goes into the ledger", render_ledger),
        ("Memories are derived from it", render_memories),
        ("A newer fact supersedes; nothing is overwritten", render_lineage),
        ("Critical memories are found without any ranking", render_critical),
        ("Six questions, and why each answer scored as it did", render_questions),
        ("The same question, asked of an earlier day", render_as_of),
        ("The block a model is given to read", render_context),
        ("How long it took", render_timings),
    )
    for number, (title, step) in enumerate(steps, start=1):
        console.print()
        console.rule(f"[bold]{number}  {title}", align="left")
        step(console, told)
    console.print()
    console.print("Look around:  engram recall 'Who is my manager?' --tenant demo --user lena", markup=False)
    if not told["ok"]:
        console.print("Something above is not what the demo promises.", style="bold red")


def render_ledger(console: Console, told: Mapping[str, Any]) -> None:
    """What was appended, and that the chain holds."""
    from engram.cli import show

    ledger = told["ledger"]
    show.facts(
        console,
        {
            "events in the file": ledger["read"],
            "events appended now": str(ledger["appended"]),
            "events in the ledger": ledger["events"],
        },
    )
    show.verification(console, ledger["chain"])


def render_memories(console: Console, told: Mapping[str, Any]) -> None:
    """How many memories there are, by state and by type."""
    from engram.cli import show

    counts = told["memories"]
    show.facts(
        console,
        {
            "memories derived now": str(told["ledger"]["derived"]),
            "memories": counts.memories,
            "by state": spread(counts.by_status),
            "by type": spread(counts.by_type),
        },
    )


def spread(counts: Mapping[str, int]) -> str:
    """Counts by name, the largest first."""
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def render_lineage(console: Console, told: Mapping[str, Any]) -> None:
    """The revisions of a fact that changed, with the words each rests on."""
    from engram.cli import show

    line = told["lineage"]
    if line is None:
        console.print("Nothing found.", style="red")
        return
    show.lineage(console, line)
    for why in told["said"]:
        show.quotes(console, why.citations)


def render_critical(console: Console, told: Mapping[str, Any]) -> None:
    """The pinned memories."""
    from engram.cli import show

    made = show.table("slot", "memory", "id", wide=("memory",))
    for memory in told["critical"]:
        made.add_row(memory.critical_slot, show.plain(memory.fact), memory.short_id)
    console.print(made)


def render_questions(console: Console, told: Mapping[str, Any]) -> None:
    """Each question, its answer, and the terms of the score of what it rests on."""
    for one in told["questions"]:
        render_answer(console, one)


def render_answer(console: Console, one: Mapping[str, Any]) -> None:
    """One question and its answer."""
    from engram.cli import show

    answer: RecallAnswer = one["answer"]
    at = f"   (as of {one['at'][:10]})" if one["at"] else ""
    console.print(show.plain(f"{one['ask']}{at}"), style="bold")
    mark = "[green]✓[/]" if one["right"] else f"[red]✗ expected {one['expected']}[/]"
    console.print(mark, show.plain(answer.answer_text or "(nothing)"), f"[dim]({answer.intent})[/]")
    best = best_evidence(answer)
    if best is not None:
        score = f"  score {best.score:.3f} = "
        console.print(show.plain(score) + show.reasons(best), style="dim")


def best_evidence(answer: RecallAnswer) -> SearchResult | None:
    """The evidence of the memory that answers, or else the first."""
    told: Memory | None = answer.current or (answer.previous[0] if answer.previous else None)
    same = (one for one in answer.evidence if told is not None and one.memory.lineage_id == told.lineage_id)
    return next(same, answer.evidence[0] if answer.evidence else None)


def render_as_of(console: Console, told: Mapping[str, Any]) -> None:
    """The same question put to an earlier day."""
    render_answer(console, told["as_of"])


def render_context(console: Console, told: Mapping[str, Any]) -> None:
    """The context block and its cost."""
    from engram.cli import show

    show.block(console, told["context"])


def render_timings(console: Console, told: Mapping[str, Any]) -> None:
    """What each part took, and how fast that is."""
    from engram.cli import show

    parts = dict(told["timings_ms"])
    rows = {name: f"{value:,.0f} ms" for name, value in parts.items()}
    questions = len(told["questions"]) + 1
    rows["recall"] += f" for {questions} questions"
    if told["ledger"]["appended"]:
        seconds = parts["ingest"] / 1000
        rows["ingest"] += (
            f": {told['ledger']['appended'] / seconds:,.0f} events/s, "
            f"{told['ledger']['derived'] / seconds:,.0f} memories/s"
        )
    show.facts(console, rows)
