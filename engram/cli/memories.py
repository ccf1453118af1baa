"""Commands on memories: write them, find them, and ask where they come from."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, get_args

import typer

from engram.cli.desk import Desk, moment
from engram.errors import InvalidInput
from engram.ranking import SORTS
from engram.values import CALENDARS, DECISIONS, DETAILS, FORMATS, GROUPS, MODES, CriticalMemories, Intent

Id = Annotated[str, typer.Argument(help="Id of the memory, long or short (mem-1a2b3c4d).")]
Limit = Annotated[int, typer.Option("--limit", help="How many at most.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only this memory type; repeatable.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; repeatable.")]
CONFLICT = 4
REJECTED = 1
DOES_NOT_HOLD = 1


def given(**values: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if not (value is None or value is False or value == [])}


def times_of(desk: Desk, **typed: str | None) -> dict[str, Any]:
    """The times that were typed, by the names of their options."""
    return {name: moment(desk, text, name) for name, text in typed.items() if text is not None}


def text_of(argument: str) -> str:
    """The text of an argument; `-` reads it from stdin, without the line breaks that end it."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.read().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("stdin", f"text in {sys.stdin.encoding}", "other bytes") from None


def json_object(text: str | None, name: str) -> Mapping[str, Any] | None:
    """A JSON object typed on the command line; InvalidInput says what is wrong with any other text."""
    from engram.inputs import strict_json

    if text is None:
        return None
    value = strict_json(text, name)
    if not isinstance(value, dict):
        raise InvalidInput(name, "a JSON object", "something else")
    return value


def shares(given: list[str] | None) -> dict[str, float] | None:
    """Sections and their shares typed as NAME=SHARE, each once."""
    if not given:
        return None
    named: dict[str, float] = {}
    for one in given:
        name, _, share = one.rpartition("=")
        try:
            value = float(share)
        except ValueError:
            value = -1.0
        if value < 0 or name in named:
            raise InvalidInput("sections", "NAME=SHARE, each section once, such as Topics=0.1", one)
        named[name] = value
    return named


def decided(desk: Desk, decision: Any) -> int:
    """Print a decision; a conflict and a rejection stored nothing, and the exit code says so."""
    from engram.cli import show

    desk.show(decision, show.decision)
    return {"conflict": CONFLICT, "reject": REJECTED}.get(decision.kind, 0)


# Writing


def remember(
    desk: Desk,
    text: Annotated[str, typer.Argument(help="What was said; - reads stdin.")],
    role: Annotated[str, typer.Option("--role", help="Who said it: user, assistant, agent, tool, system.")] = "user",
    session: Annotated[str | None, typer.Option("--session", help="Session it belongs to.")] = None,
    occurred_at: Annotated[str | None, typer.Option("--occurred-at", help="When it was said.")] = None,
    derive: Annotated[
        str | None, typer.Option("--derive", help="skip, verbatim, rules, or llm: rules where there is none.")
    ] = None,
    topic_key: Annotated[
        str | None, typer.Option("--topic-key", help="Store it as the current value of this topic.")
    ] = None,
) -> int:
    """Record what somebody said, and what follows from it."""
    from engram.cli import show

    if topic_key is not None and (role != "user" or derive is not None):
        raise InvalidInput("topic_key", "no --role but user and no --derive beside it: it is kept as it is", "one")
    more = given(
        session_id=session, occurred_at=moment(desk, occurred_at, "occurred_at") if occurred_at is not None else None
    )
    with desk.door() as engram:
        if topic_key is not None:
            return decided(desk, engram.add(text_of(text), topic_key=topic_key, **more, **desk.write))
        message: Any = {"role": role, "content": text_of(text)}
        desk.show(engram.remember(message, **given(derive=derive), **more, **desk.write), show.receipt)
    return 0


def add(
    desk: Desk,
    fact: Annotated[str, typer.Argument(help="One thing to know; - reads stdin.")],
    memory_type: Annotated[str | None, typer.Option("--type", help="Memory type, else the policy decides.")] = None,
    topic_key: Annotated[str | None, typer.Option("--topic-key", help="Key whose current value this is.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="A free word beside the type.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")] = None,
    main_content: Annotated[
        str | None, typer.Option("--main-content", help="The raw text the fact comes from.")
    ] = None,
    importance: Annotated[float | None, typer.Option("--importance", help="0 to 1.")] = None,
    priority: Annotated[int | None, typer.Option("--priority", help="1 to 10, instead of importance.")] = None,
    rating: Annotated[int | None, typer.Option("--rating", help="1 to 5, instead of importance.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="0 to 1.")] = None,
    critical_slot: Annotated[
        str | None, typer.Option("--critical-slot", help="Slot that pins it into every context.")
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="Whom or what it is about.")] = None,
    attribute: Annotated[str | None, typer.Option("--attribute", help="Which property of the subject.")] = None,
    value: Annotated[str | None, typer.Option("--value", help="The value of the property.")] = None,
    metadata: Annotated[str | None, typer.Option("--metadata", help="A JSON object.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Where it comes from.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Session it belongs to.")] = None,
    valid_from: Annotated[str | None, typer.Option("--valid-from", help="Since when it is true.")] = None,
    valid_to: Annotated[str | None, typer.Option("--valid-to", help="Until when it is true.")] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", help="7d, 2 weeks, or a date such as 2026-12-24.")
    ] = None,
    supersedes: Annotated[list[str] | None, typer.Option("--supersedes", help="Id it replaces; repeatable.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Visible in exactly this scope only.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Store it although it resembles another.")] = False,
) -> int:
    """Store one fact."""
    times = {
        name: moment(desk, text, name)
        for name, text in (("valid_from", valid_from), ("valid_to", valid_to))
        if text is not None
    }
    options = given(
        memory_type=memory_type,
        topic_key=topic_key,
        category=category,
        tags=tag,
        main_content=main_content,
        importance=importance,
        priority=priority,
        rating=rating,
        confidence=confidence,
        critical_slot=critical_slot,
        subject=subject,
        attribute=attribute,
        value=value,
        metadata=json_object(metadata, "metadata"),
        source=source,
        session_id=session,
        expires_in=expires_in,
        supersedes=supersedes,
        private=private,
        force=force,
        **times,
    )
    with desk.door() as engram:
        return decided(desk, engram.add(text_of(fact), **options, **desk.write))


def revise(
    desk: Desk,
    memory_id: Id,
    fact: Annotated[str, typer.Argument(help="What is true now, or the text for --append, --prepend, --replace.")],
    append: Annotated[bool, typer.Option("--append", help="Put the text behind the fact.")] = False,
    prepend: Annotated[bool, typer.Option("--prepend", help="Put the text before the fact.")] = False,
    replace: Annotated[str | None, typer.Option("--replace", help="Put the text in the place of this one.")] = None,
    valid_from: Annotated[str | None, typer.Option("--valid-from", help="Since when it is true.")] = None,
    expected_revision: Annotated[
        int | None, typer.Option("--expected-revision", help="Fail if it is another one.")
    ] = None,
) -> int:
    """Write a new revision of a fact; the old one stays in its lineage."""
    from engram import Edit

    if sum((append, prepend, replace is not None)) > 1:
        raise InvalidInput("--append, --prepend, --replace", "one of them", "several")
    text: Any = text_of(fact)
    if append or prepend:
        text = Edit.append(text) if append else Edit.prepend(text)
    elif replace is not None:
        text = Edit.replace(replace, text)
    options = given(valid_from=moment(desk, valid_from, "valid_from") if valid_from is not None else None)
    with desk.door() as engram:
        return decided(
            desk, engram.revise(memory_id, text, expected_revision=expected_revision, **options, **desk.write)
        )


def forget(
    desk: Desk,
    memory_id: Id,
    revision_only: Annotated[
        bool, typer.Option("--revision-only", help="Only this revision, not the whole fact.")
    ] = False,
) -> None:
    """Put a fact away; `restore` brings it back."""
    from engram.cli import show

    with desk.door() as engram:
        forgotten = engram.forget(memory_id, revision_only=revision_only, **desk.write)
        dry = {"dry_run": True} if desk.write.get("dry_run") else {}
        desk.show({"forgotten": list(forgotten), **dry}, show.plainly)


def restore(desk: Desk, memory_id: Id) -> None:
    """Bring a forgotten fact back."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.restore(memory_id, **desk.write), show.memory)


def endorse(
    desk: Desk,
    memory_id: Id,
    trust: Annotated[str, typer.Argument(help="Who vouches for it: user or operator.")] = "user",
) -> None:
    """Vouch for a memory: a contested one may take the place of what was believed."""
    from engram.cli import show

    with desk.door() as engram:
        endorsed = engram.endorse(memory_id, trust, **desk.write)  # type: ignore[arg-type]
        desk.show(endorsed, show.memory)


def annotate(
    desk: Desk,
    memory_id: Id,
    memory_type: Annotated[str | None, typer.Option("--type", help="Its memory type.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="A free word beside the type.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag, in the place of those it has; repeatable.")
    ] = None,
    importance: Annotated[float | None, typer.Option("--importance", help="0 to 1.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="0 to 1.")] = None,
    critical_slot: Annotated[
        str | None, typer.Option("--critical-slot", help="Slot that pins it into every context; empty unpins it.")
    ] = None,
    metadata: Annotated[str | None, typer.Option("--metadata", help="A JSON object, in the place of its own.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Where it comes from.")] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", help="7d, 2 weeks, or a date such as 2026-12-24; empty for never.")
    ] = None,
    private: Annotated[
        bool | None, typer.Option("--private/--public", help="Visible in exactly this scope only, or as others.")
    ] = None,
) -> None:
    """Change attributes of a fact in place: no new revision."""
    from engram.cli import show

    changes = given(
        memory_type=memory_type, category=category, tags=tag, importance=importance, confidence=confidence,
        metadata=json_object(metadata, "metadata"), source=source,
    )  # fmt: skip
    if private is not None:
        changes["private"] = private
    if critical_slot is not None:
        changes["critical_slot"] = critical_slot or None
    if expires_in is not None:
        changes |= {"expires_in": expires_in} if expires_in else {"expires_at": None}
    with desk.door() as engram:
        desk.show(engram.annotate(memory_id, **changes, **desk.write), show.memory)


def end(
    desk: Desk,
    memory_id: Id,
    at: Annotated[str | None, typer.Option("--at", help="Until when it held; without it, until now.")] = None,
) -> None:
    """Say that a fact holds no more, without another in its place."""
    from engram.cli import show

    when = times_of(desk, at=at)
    with desk.door() as engram:
        desk.show(engram.end_validity(memory_id, **when, **desk.write), show.memory)


# Reading by meaning


def recall(
    desk: Desk,
    question: Annotated[str, typer.Argument(help="A question in plain words.")],
    intent: Annotated[str | None, typer.Option("--intent", help=", ".join(get_args(Intent)))] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only what held or happened from then on.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only what held or happened before.")] = None,
    now: Annotated[str | None, typer.Option("--now", help='When "last week" is seen from.')] = None,
    tz: Annotated[str | None, typer.Option("--tz", help="Where it is seen from, such as Europe/Paris.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Whose words complete a follow-up.")] = None,
    compose: Annotated[bool, typer.Option("--compose", help="Have a language model word the answer.")] = False,
    limit: Limit = 10,
) -> None:
    """Answer a question from memory."""
    from engram.cli import show

    window = None
    if since is not None or until is not None:
        window = tuple(
            None if at is None else moment(desk, at, name) for name, at in (("since", since), ("until", until))
        )
    options: dict[str, Any] = given(
        intent=intent, window=window, now=None if now is None else moment(desk, now, "now"), tz=tz,
        session_id=session, compose=compose,
    )  # fmt: skip
    with desk.door() as engram:
        told = engram.recall(question, limit=limit, **options, **desk.read)
        desk.show(told, partial(show.answer, scope=engram.scope))


def triggers(
    desk: Desk,
    action: Annotated[str | None, typer.Argument(help="What is about to be done, such as git-push.")] = None,
    limit: Limit = 20,
) -> None:
    """List the actions memories are tagged with, or the memories to read before one."""
    from engram.cli import show

    with desk.door() as engram:
        if action is None:
            known = engram.list_triggers(**desk.read)
            desk.show({"results": [one.to_dict() for one in known]}, show.triggers)
        else:
            found = engram.recall_trigger(action, limit=limit, **desk.read)
            desk.show(CriticalMemories(found), show.memories)


def search(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="Words to look for, by meaning and by letter.")],
    mode: Annotated[str, typer.Option("--mode", help=", ".join(MODES))] = "hybrid",
    limit: Limit = 10,
    memory_type: Types = None,
    tag: Tags = None,
    min_score: Annotated[float, typer.Option("--min-score", help="Nothing below this score.")] = 0.0,
    profile: Annotated[str, typer.Option("--profile", help="How to score: a name, or a JSON object.")] = "default",
    rerank: Annotated[bool, typer.Option("--rerank", help="Ask the reranker about the best.")] = False,
    expand: Annotated[
        bool | None, typer.Option("--expand/--no-expand", help="Ask in several ways; by itself where little is found.")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", help="Relations to follow from the best hits, 0 to 3.")] = 1,
    cut: Annotated[
        str, typer.Option("--cut", help="adaptive leaves out what is much less near than the best.")
    ] = "none",
    per_session: Annotated[int | None, typer.Option("--per-session", help="At most so many of a session.")] = None,
    good_enough: Annotated[
        float | None, typer.Option("--good-enough", help="Score from which no reranker is asked.")
    ] = None,
    sort: Annotated[str, typer.Option("--sort", help=", ".join(SORTS))] = "score",
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Also what was true before.")
    ] = False,
    include_consolidated: Annotated[
        bool, typer.Option("--include-consolidated", help="Also what a summary stands for.")
    ] = False,
) -> None:
    """Find memories, with the reason of each score."""
    from engram.cli import show

    chosen = filter_of(memory_types=memory_type, tags_all=tag)
    formula = json_object(profile, "profile") if profile.lstrip().startswith("{") else profile
    options: dict[str, Any] = {
        "mode": mode, "min_score": min_score, "include_superseded": include_superseded, "profile": formula,
        "include_consolidated": include_consolidated,
        "rerank": rerank, "expand": expand, "depth": depth, "cut": cut, "per_session": per_session,
        "good_enough": good_enough, "sort": sort,
    }  # fmt: skip
    with desk.door() as engram:
        found = engram.search(query, limit=limit, filter=chosen, **options, **desk.read)
        desk.show(found, partial(show.results, scope=engram.scope))


def deep_search(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="A question whose own words may not find its answer.")],
    also: Annotated[
        list[str] | None, typer.Option("--also", help="Another way to ask it, instead of those found; repeatable.")
    ] = None,
    n_queries: Annotated[int, typer.Option("--queries", help="Other ways to ask it, at most.")] = 4,
    limit: Limit = 10,
    rerank: Annotated[bool, typer.Option("--rerank", help="Ask the reranker about the best.")] = False,
) -> None:
    """Find memories by a question and other ways to ask it."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.deep_search(
            query, n_queries=n_queries, queries=also or None, limit=limit, rerank=rerank, **desk.read
        )
        desk.show(found, partial(show.results, scope=engram.scope))


def context(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="What the model is about to do.")] = "",
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="The budget, never exceeded.")] = 4000,
    session: Annotated[str | None, typer.Option("--session", help="Session whose newest events are shown.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Task run to begin with: its goal, state, events.")] = None,
    section: Annotated[
        list[str] | None, typer.Option("--section", help="Share of a section, as NAME=SHARE; repeatable.")
    ] = None,
    no_graph: Annotated[bool, typer.Option("--no-graph", help="Show no relations of what is found.")] = False,
    format: Annotated[str, typer.Option("--format", help=", ".join(FORMATS))] = "markdown",
    group_by: Annotated[str | None, typer.Option("--group-by", help=", ".join(GROUPS))] = None,
    detail: Annotated[str, typer.Option("--detail", help=", ".join(DETAILS))] = "full",
    metadata: Annotated[bool, typer.Option("--metadata", help="Show type, age and importance.")] = False,
    min_trust: Annotated[str, typer.Option("--min-trust", help="Print nothing trusted less.")] = "web",
    token_counter: Annotated[
        str | None, typer.Option("--token-counter", help="Encoding or model of tiktoken to count by.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if a critical memory does not fit.")] = False,
) -> None:
    """Build the block a model is given to read."""
    from engram.cli import show

    options: dict[str, Any] = given(
        session_id=session, format=format, strict=strict, group_by=group_by, detail=detail, metadata=metadata,
        min_trust=min_trust, token_counter=token_counter, task_run_id=task, sections=shares(section),
    )  # fmt: skip
    with desk.door() as engram:
        block = engram.build_context(query, max_tokens=max_tokens, include_graph=not no_graph, **options, **desk.read)
        desk.show(block, show.block)


def resume(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="What the agent is about to do.")] = "",
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="The budget, never exceeded.")] = 4000,
    recent: Annotated[
        int, typer.Option("--recent", help="Epochs of a scope that count as recent; of its latest, hours.")
    ] = 24,
    format: Annotated[str, typer.Option("--format", help=", ".join(FORMATS))] = "markdown",
    min_trust: Annotated[str, typer.Option("--min-trust", help="Print nothing trusted less.")] = "web",
    token_counter: Annotated[
        str | None, typer.Option("--token-counter", help="Encoding or model of tiktoken to count by.")
    ] = None,
) -> None:
    """Show what an agent takes up again after a restart."""
    from engram.cli import show

    options: dict[str, Any] = given(format=format, min_trust=min_trust, token_counter=token_counter)
    with desk.door() as engram:
        block = engram.resume(query, max_tokens=max_tokens, recent_epochs=recent, **options, **desk.read)
        desk.show(block, show.block)


# Reading by key and in order


def get(desk: Desk, memory_id: Id) -> None:
    """Show one memory with the words it rests on."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.get(memory_id, **desk.read), show.memory)


def list_(
    desk: Desk,
    memory_type: Types = None,
    tag: Tags = None,
    category: Annotated[list[str] | None, typer.Option("--category", help="Only of this category; repeatable.")] = None,
    status: Annotated[list[str] | None, typer.Option("--status", help="Only in this state; repeatable.")] = None,
    topic_key: Annotated[list[str] | None, typer.Option("--topic-key", help="Only of this topic; repeatable.")] = None,
    session: Annotated[list[str] | None, typer.Option("--session", help="Only from this session; repeatable.")] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Only what is pinned into every context.")] = False,
    sort: Annotated[str, typer.Option("--sort", help="recent, oldest, importance or accessed.")] = "recent",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List memories in order."""
    from engram.cli import show

    chosen = filter_of(
        memory_types=memory_type,
        tags_all=tag,
        categories=category,
        statuses=status,
        topic_keys=topic_key,
        session_ids=session,
        critical=critical,
    )
    order: dict[str, Any] = {"sort": sort}
    with desk.door() as engram:
        page = engram.list_memories(chosen, limit=limit, cursor=cursor, **order, **desk.read)
        desk.show(page, partial(show.memories, scope=engram.scope))


def history(
    desk: Desk,
    memory_id: Annotated[str | None, typer.Argument(help="Id of a memory; without it, the whole scope.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not before this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """Show what happened to a memory, or in a scope."""
    from engram.cli import show

    times = times_of(desk, since=since, until=until)
    with desk.door() as engram:
        page = engram.get_history(memory_id=memory_id, limit=limit, cursor=cursor, **times, **desk.read)
        desk.show(page, partial(show.history, scope=engram.scope))


def timeline(
    desk: Desk,
    around: Annotated[str | None, typer.Argument(help="Id of a memory, for what is about its time.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not before this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    group_by: Annotated[str, typer.Option("--group-by", help=", ".join(CALENDARS))] = "day",
    memory_type: Types = None,
    tag: Tags = None,
    limit: Limit = 50,
) -> None:
    """Show memories by the day, week or month in which they became true."""
    from engram.cli import show

    options: dict[str, Any] = {"group_by": group_by, **times_of(desk, since=since, until=until)}
    chosen = filter_of(memory_types=memory_type, tags_all=tag)
    with desk.door() as engram:
        told = engram.timeline(filter=chosen, around=around, limit=limit, **options, **desk.read)
        desk.show(told, partial(show.timeline, scope=engram.scope))


def decisions(
    desk: Desk,
    kind: Annotated[str | None, typer.Option("--kind", help=", ".join(DECISIONS))] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not before this time.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """Show what became of candidates, also of what was not stored, and why."""
    from engram.cli import show

    options: dict[str, Any] = {**given(kind=kind), **times_of(desk, since=since)}
    with desk.door() as engram:
        page = engram.list_decisions(limit=limit, cursor=cursor, **options, **desk.read)
        desk.show(page, partial(show.decisions, scope=engram.scope))


def lineage(
    desk: Desk,
    memory_id: Annotated[str | None, typer.Argument(help="Id of any revision.")] = None,
    topic_key: Annotated[str | None, typer.Option("--topic-key", help="Topic, instead of an id.")] = None,
) -> None:
    """Show all revisions of one fact."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.get_lineage(memory_id, topic_key=topic_key, **desk.read), show.lineage)


def explain(desk: Desk, memory_id: Id) -> None:
    """Show why a memory is believed."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.explain_memory(memory_id, **desk.read), show.explanation)


def cite(
    desk: Desk,
    cited_id: Annotated[str, typer.Argument(help="Id of a memory or an event, or its mark: mem-1a2b3c4d, evt-….")],
    lines: Annotated[int, typer.Option("--lines", help="Lines to show before and after each quote.")] = 2,
) -> int:
    """Show the very words a memory rests on, in their place, and whether they still say so."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.cite(cited_id, lines=lines, **desk.read)
    desk.show({"results": [one.to_dict() for one in found]} if desk.json else {"results": found}, show.cited)
    return 0 if all(one.state == "verified" for one in found) else DOES_NOT_HOLD


def filter_of(**fields: Any) -> Any:
    """A filter of the fields that were given, or none."""
    from engram import Filter

    values: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in given(**fields).items()}
    return Filter(**values) if values else None
