"""Zep and Graphiti: episodes, entities and facts with the times they hold; one document, or one entry a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.errors import EngramError
from engram.portable.files import File
from engram.portable.items import Found, Item, Problem, Said, moment, objects, problem, rest, text

NAME: Final = "zep"
EPISODES: Final = ("episodes", "episodic_nodes")
NODES: Final = ("nodes", "entity_nodes")
EDGES: Final = ("edges", "entity_edges", "facts")
LISTS: Final = (*EPISODES, *NODES, *EDGES)
ROLES: Final[Mapping[str, str]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}


def recognises(file: File) -> bool:
    """Whether there are facts between nodes, or a document of nodes and edges."""
    first = file.sample
    if "fact" in first and ("source_node_uuid" in first or "valid_at" in first):
        return True
    if "uuid" in first and (_is_episode(first) or "labels" in first or "summary" in first):
        return True
    return (
        not file.by_lines
        and isinstance(file.first, dict)
        and any(isinstance(file.first.get(name), list) and _is_graph(file.first[name]) for name in LISTS)
    )


def read(file: File) -> Iterator[Found]:
    """The episodes, then the entities that have a summary, then the facts with the episodes they rest on."""
    if file.by_lines or not _is_document(file.first):
        names: dict[str, str] = {}
        for place, entry in objects(file.values()):
            if isinstance(entry, Problem):
                yield entry
            elif "fact" in entry:
                yield _edge(place, entry, names)
            elif _is_episode(entry):
                yield _episode(place, entry)
            else:
                yield from _node(place, entry, names)
        return
    yield from _document(file.first)


def _document(graph: Mapping[str, Any]) -> Iterator[Found]:
    names: dict[str, str] = {}
    for place, episode in _listed(graph, EPISODES, "episode"):
        yield episode if isinstance(episode, Problem) else _episode(place, episode)
    for place, node in _listed(graph, NODES, "node"):
        if isinstance(node, Problem):
            yield node
        elif _is_episode(node):
            yield _episode(place, node)
        else:
            yield from _node(place, node, names)
    for place, edge in _listed(graph, EDGES, "edge"):
        yield edge if isinstance(edge, Problem) else _edge(place, edge, names)


def _listed(
    graph: Mapping[str, Any], fields: tuple[str, ...], what: str
) -> Iterator[tuple[str, Mapping[str, Any] | Problem]]:
    held: list[Any] = next((graph[name] for name in fields if isinstance(graph.get(name), list)), [])
    return objects((f"{what} {number}", value) for number, value in enumerate(held, start=1))


def _is_document(first: Any) -> bool:
    return (
        isinstance(first, dict) and any(isinstance(first.get(name), list) for name in LISTS) and ("fact" not in first)
    )


def _is_episode(entry: Mapping[str, Any]) -> bool:
    return "content" in entry and "fact" not in entry


def _is_graph(entries: list[Any]) -> bool:
    first = entries[0] if entries and isinstance(entries[0], dict) else {}
    return "uuid" in first


def _episode(place: str, entry: Mapping[str, Any]) -> Found:
    content, source_id = text(entry.get("content")), text(entry.get("uuid"))
    if content is None or source_id is None:
        return Problem(place, "expected the content of an episode and its uuid")
    try:
        at = moment(entry.get("valid_at") or entry.get("created_at"), f"{place}, valid_at")
    except EngramError as error:
        return problem(place, error)
    role = ROLES.get(str(entry.get("role_type") or "").lower(), "user" if entry.get("source") == "message" else "tool")
    trust = {"user": "user", "assistant": "agent", "tool": "document", "system": "document"}[role]
    name = text(entry.get("role"))
    return Said(
        place,
        source_id,
        content,
        role,
        trust,
        name,
        at,
        metadata={NAME: rest(entry, "content", "role", "entity_edges")},
    )


def _node(place: str, entry: Mapping[str, Any], names: dict[str, str]) -> Iterator[Found]:
    source_id, name = text(entry.get("uuid")), text(entry.get("name"))
    if source_id is None or name is None:
        yield Problem(place, "expected the name of an entity and its uuid")
        return
    names[source_id] = name
    summary = text(entry.get("summary"))
    if summary is None:
        return
    try:
        created = moment(entry.get("created_at"), f"{place}, created_at")
    except EngramError as error:
        yield problem(place, error)
        return
    fact = summary if name.casefold() in summary.casefold() else f"{name}: {summary}"
    memory = {"category": "entity", "source": NAME, "metadata": {NAME: rest(entry, "summary")}, "valid_from": created}
    yield Item(place, source_id, fact, memory, occurred_at=created)


def _edge(place: str, entry: Mapping[str, Any], names: Mapping[str, str]) -> Found:
    fact, source_id = text(entry.get("fact")), text(entry.get("uuid"))
    if fact is None or source_id is None:
        return Problem(place, "expected a fact and its uuid")
    times = {}
    try:
        for name in ("valid_at", "invalid_at", "created_at", "expired_at"):
            times[name] = moment(entry.get(name), f"{place}, {name}")
    except EngramError as error:
        return problem(place, error)
    begins = times["valid_at"] or times["created_at"]
    # What the product found contradicted, without saying since when it no longer holds, ended when that was found.
    ends = times["invalid_at"] or times["expired_at"]
    if begins is not None and ends is not None and ends <= begins:
        return Problem(place, "the fact ends before it begins")
    about = {end: names[uuid] for end in ("source", "target") if (uuid := str(entry.get(f"{end}_node_uuid"))) in names}
    own = {**rest(entry, "fact", "episodes", "score"), **about}
    memory = {"source": NAME, "metadata": {NAME: own}, "valid_from": begins, "valid_to": ends}
    rests = entry.get("episodes")
    cited = tuple(one for one in rests if isinstance(one, str)) if isinstance(rests, list) else ()
    return Item(place, source_id, fact, memory, occurred_at=times["created_at"] or begins, sources=cited[:50])
