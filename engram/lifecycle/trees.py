"""Trees of topics where they are kept: read, written if nobody else changed them, forgotten with what is erased."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from engram import memories
from engram.database import Connection, execute, fetch_all, statement
from engram.errors import Conflict
from engram.lifecycle import topics
from engram.lifecycle.topics import Limits
from engram.memories import NOW
from engram.tenancy import Visible

if TYPE_CHECKING:
    import numpy as np

PLACED: Final = (
    f"{memories.current(NOW)} AND NOT m.moot AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')"
)
"""The condition on `m` that gives a memory a place in a tree."""

OTHER_PLACED: Final = PLACED.replace("m.", "o.")
READ: Final = 2_048  # vectors read at once
WRITTEN: Final = 5_000  # members written at once
SAID: Final = 500  # texts read at once
MOST_MEMBERS: Final = 200  # memories shown of a topic
MOST_EDGES: Final = 20_000  # relations that communities are made of
CLOSE: Final = ("contradicts", "kept_apart", "supersedes", "revision_of", "reasserts")  # that bring nothing together
FIRST: Final = "00000000-0000-0000-0000-000000000000"
AGENT: Final = 2  # the rank of what may stand unfenced
WORDS: Final = "words"  # who names where no model does
CHANGED: Final = "the topics of this scope were changed meanwhile"


@dataclass(frozen=True, slots=True)
class State:
    """The tree of a scope, the model it would be made with, and what has changed: counted up to a bound."""

    generation: int
    model_id: int | None
    rows: int
    score: float
    changes: int
    next_topic: int
    active_id: int | None
    thresholds: Mapping[str, float]  # of that model
    limits: Limits
    dimensions: int
    fresh: int
    gone: int

    @property
    def stands(self) -> bool:
        """Whether there is a tree by the model in use."""
        return self.model_id is not None and self.model_id == self.active_id

    @property
    def changed(self) -> bool:
        """Whether there is anything to do."""
        return self.active_id is not None and (not self.stands or self.fresh + self.gone > 0)

    @property
    def is_small(self) -> bool:
        """Whether so little has changed that the tree need not be made anew."""
        few = self.fresh + self.gone
        drift = max(topics.FEW_CHANGES, topics.DRIFT * self.rows)
        return self.stands and few <= topics.FEW_CHANGES and self.changes + few <= drift


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is kept; `trust` is the rank of its name, `centre` the vector of a leaf, None of an inner topic."""

    topic_id: int
    parent_id: int | None
    name: str
    trust: int
    named_by: str
    named_members: int
    private: bool
    members: int
    shown: int
    centre: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory says, for the name of its topic."""

    memory_id: str
    event_id: str
    fact: str
    trust: int
    private: bool
    memory_type: str


@dataclass(slots=True)
class Spool:
    """The vectors of a scope on disk, and what else is known of each memory, in the order of their ids."""

    dimensions: int
    ids: list[str] = field(default_factory=list)
    private: list[bool] = field(default_factory=list)
    trust: list[int] = field(default_factory=list)
    topic: list[int] = field(default_factory=list)  # that each was in; 0 where none
    file: Any = field(default_factory=tempfile.TemporaryFile)

    def add(self, rows: Iterable[Any]) -> None:
        """Put rows behind those that are there."""
        for row in rows:
            self.ids.append(row.memory_id)
            self.private.append(row.private)
            self.trust.append(row.trust)
            self.topic.append(row.topic_id or 0)
            self.file.write(row.vector[4:])

    def blocks(self) -> Iterable[Any]:
        """The unit vectors, block by block."""
        import numpy as np

        width = 2 * self.dimensions
        for at in range(0, len(self.ids), topics.BLOCK):
            many = min(topics.BLOCK, len(self.ids) - at)
            self.file.seek(at * width)
            yield topics.unit(
                np.frombuffer(self.file.read(many * width), ">f2").reshape(many, self.dimensions).astype(np.float32)
            )


def vector_of(sent: bytes) -> np.ndarray[Any, Any]:
    """The vector that the database sends as bytes."""
    import numpy as np

    return np.frombuffer(sent, ">f2", offset=4).astype(np.float32)


# Making a tree -------------------------------------------------------------------------------------------------------


def begin(conn: Connection, tenant_id: str, scope_id: int, given: Mapping[str, float]) -> State:
    """The state of a scope's tree, its bookkeeping begun if need be; `given` are thresholds of the policy."""
    execute(conn, "begin_topics", tenant_id=tenant_id, scope_id=scope_id)
    row = _rows(conn, "look_at_topics", tenant_id=tenant_id, scope_id=scope_id, most=topics.FEW_CHANGES + 1)[0]
    limits = Limits.of(row.thresholds, given)
    return State(
        row.generation, row.model_id, row.rows, row.score, row.changes, row.next_topic, row.active_id,
        row.thresholds or {}, limits,
        row.dimensions or 0, row.fresh, row.gone,
    )  # fmt: skip


def read(conn: Connection, tenant_id: str, scope_id: int, model_id: int, after: str) -> list[Any]:
    """The next vectors of a scope, behind a memory."""
    return _rows(
        conn, "list_placed", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, after=after, limit=READ
    )


def unplaced(conn: Connection, tenant_id: str, scope_id: int, model_id: int) -> list[Any]:
    """The few memories that have a vector and no topic yet."""
    return _rows(
        conn, "list_unplaced", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, limit=topics.FEW_CHANGES
    )


def count(conn: Connection, tenant_id: str, scope_id: int) -> int:
    """How many memories a tree of the scope is to hold."""
    return int(_rows(conn, "count_placed", tenant_id=tenant_id, scope_id=scope_id)[0][0])


def tree(conn: Connection, tenant_id: str, scope_id: int) -> list[Topic]:
    """The topics of a scope as they are kept."""
    rows = fetch_all(conn, "list_tree", tenant_id=tenant_id, scope_id=scope_id)
    return [
        Topic(
            row.topic_id, row.parent_id, row.name, row.trust, row.named_by, row.named_members, row.private, row.members,
            row.shown, None if row.centre is None else vector_of(row.centre),
        )
        for row in rows
    ]  # fmt: skip


def said(conn: Connection, tenant_id: str, scope_id: int, memory_ids: Sequence[str]) -> dict[str, Said]:
    """What some memories say, those of them that still have a place."""
    found: dict[str, Said] = {}
    for at in range(0, len(memory_ids), SAID):
        wanted = list(memory_ids[at : at + SAID])
        rows = _rows(conn, "list_said", tenant_id=tenant_id, scope_id=scope_id, memory_ids=wanted)
        found |= {row.memory_id: Said(*row) for row in rows}
    return found


def telling(conn: Connection, tenant_id: str, scope_id: int, each: int) -> dict[int, list[str]]:
    """A few members of each leaf that is kept."""
    found: dict[int, list[str]] = {}
    for row in _rows(conn, "list_telling", tenant_id=tenant_id, scope_id=scope_id, agent=AGENT, each=each):
        found.setdefault(row.topic_id, []).append(row.memory_id)
    return found


def edges(conn: Connection, tenant_id: str, scope_id: int) -> list[tuple[str, str, float]]:
    """The relations inside a scope that bring memories together, the heaviest 20,000."""
    rows = _rows(
        conn, "list_loose_edges", tenant_id=tenant_id, scope_id=scope_id, without=list(CLOSE), limit=MOST_EDGES
    )
    return [(row.source_id, row.target_id, row.weight) for row in rows]


def set_tree(
    conn: Connection, tenant_id: str, scope_id: int, was: State, *, rows: int, score: float, changes: int,
    next_topic: int,
) -> None:  # fmt: skip
    """Say what the tree is now; Conflict when somebody changed it since it was read. The first of what is written."""
    done = execute(
        conn, "set_tree", tenant_id=tenant_id, scope_id=scope_id, model_id=was.active_id, rows=rows, score=score,
        changes=changes, next_topic=next_topic, generation=was.generation,
    )  # fmt: skip
    if not done:
        raise Conflict(CHANGED)


def put(conn: Connection, tenant_id: str, scope_id: int, made: Sequence[Topic], *, only: bool) -> None:
    """Write topics; with `only` those alone are left."""
    if only:
        kept = [topic.topic_id for topic in made]
        execute(conn, "clear_topics", tenant_id=tenant_id, scope_id=scope_id, kept=kept)
    rows = json.dumps([_kept(topic) for topic in made])
    execute(conn, "put_topics", tenant_id=tenant_id, scope_id=scope_id, topics=rows)


def place(conn: Connection, tenant_id: str, scope_id: int, members: Sequence[tuple[str, int]]) -> None:
    """Put memories into leaves."""
    for at in range(0, len(members), WRITTEN):
        part = members[at : at + WRITTEN]
        execute(
            conn, "add_members", tenant_id=tenant_id, scope_id=scope_id, memory_ids=[one for one, _ in part],
            topic_ids=[topic for _, topic in part],
        )  # fmt: skip


def drop_gone(conn: Connection, tenant_id: str, scope_id: int, *, among: Set[str] | None = None) -> list[int]:
    """Take out what has no place any more; the leaves it was in, or those of it that was `among` some memories."""
    rows = _rows(conn, "drop_members", tenant_id=tenant_id, scope_id=scope_id)
    told = [row for row in rows if row.topic_id is not None and (among is None or row.memory_id in among)]
    return sorted({row.topic_id for row in told})


def recount(conn: Connection, tenant_id: str, scope_id: int, model_id: int, leaves: Sequence[int]) -> None:
    """Count some leaves and all inner topics anew; what is empty goes."""
    execute(conn, "recount_topics", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, topic_ids=list(leaves))
    execute(conn, "recount_groups", tenant_id=tenant_id, scope_id=scope_id)


def move(conn: Connection, tenant_id: str, scope_id: int, model_id: int, moved: Sequence[tuple[str, int]]) -> None:
    """Put a few memories into other leaves, those of them that are there."""
    if not moved:
        return
    fetch_all(conn, "hold_tree", tenant_id=tenant_id, scope_id=scope_id)
    leaves = {topic.topic_id for topic in tree(conn, tenant_id, scope_id) if topic.centre is not None}
    standing = [(memory_id, leaf) for memory_id, leaf in moved if leaf in leaves]
    place(conn, tenant_id, scope_id, standing)
    recount(conn, tenant_id, scope_id, model_id, sorted(leaves))


def forget(conn: Connection, tenant_id: str, memory_ids: Sequence[str]) -> None:
    """Forget erased memories, and every name of their scopes: nobody knows which was made of their words."""
    if memory_ids:
        bumped = fetch_all(conn, "bump_topics", tenant_id=tenant_id, memory_ids=list(memory_ids))
        execute(
            conn, "forget_topics", tenant_id=tenant_id, memory_ids=list(memory_ids),
            scope_ids=[row.scope_id for row in bumped],
        )  # fmt: skip


def forget_scope(conn: Connection, tenant_id: str, scope_id: int) -> None:
    """Forget the tree of a scope and who was in it, when other memories take the place of its own."""
    execute(conn, "bump_tree", tenant_id=tenant_id, scope_id=scope_id)
    execute(conn, "forget_tree", tenant_id=tenant_id, scope_id=scope_id)


# Reading it ----------------------------------------------------------------------------------------------------------


def seen(
    conn: Connection, visible: Visible, topic_ids: Sequence[int] | None = None, scope_ids: Sequence[int] | None = None
) -> list[Any]:
    """The topics a read may see, the largest first; of some, these and what stands under them."""
    chosen = list(visible.scope_ids if scope_ids is None else scope_ids)
    if not chosen:
        return []
    params = memories.visible_params(visible) | {
        "scope_ids": chosen, "topic_ids": None if topic_ids is None else list(topic_ids),
    }  # fmt: skip
    return _rows(conn, "list_topics", **params)


def id_of(row: Any, visible: Visible, topic_id: int | None = None) -> str:
    """The id a topic is shown with: with the number of its scope where that is not the reader's own. Pure."""
    return _id(row.scope_id, row.topic_id if topic_id is None else topic_id, visible)


def shown(scope_id: int, topic_id: int, name: str, visible: Visible) -> str:
    """A topic in a list: the id it is opened by, and its name. Pure."""
    return f'{_id(scope_id, topic_id, visible)}: "{name}"'


def _id(scope_id: int, topic_id: int, visible: Visible) -> str:
    return f"kb{topic_id}" if scope_id == visible.own else f"kb{topic_id}.{scope_id}"


def members_of(
    conn: Connection, visible: Visible, topic_id: int, *, scope_id: int | None = None, limit: int = MOST_MEMBERS
) -> list[str]:
    """The ids of the current memories of a topic that a read may see, the newest first; of its own scope by default."""
    chosen = visible.own if scope_id is None else scope_id
    if chosen is None:
        return []
    params = memories.visible_params(visible) | {"scope_id": chosen, "topic_id": topic_id, "limit": limit}
    return [row.memory_id for row in _rows(conn, "list_members", **params)]


def large(conn: Connection, tenant_id: str, scope_id: int, least: int) -> list[Topic]:
    """The leaves of a scope with at least so many members, the largest first."""
    found = [one for one in tree(conn, tenant_id, scope_id) if one.centre is not None and one.members >= least]
    return sorted(found, key=lambda one: (-one.members, one.topic_id))


def near_identical(
    conn: Connection, tenant_id: str, scope_id: int, memory_ids: Sequence[str], given: Mapping[str, float]
) -> list[tuple[str, str, float]]:
    """The pairs among some memories of a scope that say nearly the same, the nearest first; `given` are thresholds."""
    import numpy as np

    rows = fetch_all(conn, "list_member_vectors", tenant_id=tenant_id, scope_id=scope_id, memory_ids=list(memory_ids))
    if len(rows) < 2:
        return []
    limits = Limits.of(rows[0].thresholds, given)
    pairs = topics.near_identical(topics.unit(np.stack([vector_of(row.vector) for row in rows])), limits)
    return [(rows[one].memory_id, rows[other].memory_id, alike) for one, other, alike in pairs]


def _kept(topic: Topic) -> dict[str, Any]:
    names = ("topic_id", "parent_id", "name", "trust", "named_by", "named_members", "private", "members", "shown")
    values = {name: getattr(topic, name) for name in names}
    centre = None if topic.centre is None else "[" + ",".join(f"{value:.6g}" for value in topic.centre) + "]"
    return values | {"centre": centre}


def _rows(conn: Connection, name: str, **params: Any) -> list[Any]:
    sql = statement(name).replace("/*placed*/", PLACED).replace("/*other placed*/", OTHER_PLACED)
    return list(conn.exec_driver_sql(sql, params).fetchall())
