"""The semantic channel: memories by meaning, exactly in small scopes and through a graph in large ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from engram import embedding, migrations, scales
from engram.channels import Part
from engram.database import Connection, execute, fetch_all, fetch_one, statement
from engram.embedding import Model, local
from engram.scales import Scale
from engram.text import has_question_mark

if TYPE_CHECKING:
    from engram.arrays import HalvesList
    from engram.embedding import CachedEmbedder, Vectors

NAME: Final = "semantic"
TIMEOUT: Final = 5.0  # seconds
NOTHING: Final = Part(
    "semantic AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS cosine WHERE false)",
    again="SELECT NULL::uuid AS memory_id, NULL::float8 AS cosine WHERE false",
)
# The functions know the part of the table that each scope is in, and keep their plans.
_OF: Final = "%(tenant_id)s, %(scope_ids)s::bigint[], "
_TO: Final = "%(model_id)s, %(vector)s::halfvec, "
NEAREST: Final = f"engram.near_vectors({_OF}%(graphed)s::bigint[], {_TO}%(fetch)s)"
AMONG: Final = f"engram.near_among({_OF}{_TO}ARRAY(/*ids*/), %(fetch)s)"
STANDING: Final = "SELECT t.memory_id FROM standing t WHERE (SELECT o.of_near FROM short o)"
AGAIN: Final = f"SELECT v.memory_id, v.cosine FROM {AMONG.replace('/*ids*/', STANDING)} v"  # noqa: S608 - constants
LARGE: Final = 10_000  # vectors of a scope from which the exact scan costs more than the graph
FRESH: Final = 250  # vectors of a large scope that may wait outside the graph: every search of it compares them
BATCH: Final = 1_000
LEAST_BREADTH: Final = 80  # vectors a walk keeps in view
BREADTHS: Final = ((50 * LARGE, 400), (5 * LARGE, 160))  # more of them, by the memories that are read
MOST_BREADTH: Final = 1_000  # pgvector takes no more
OWN_WORDS: Final[Mapping[str, tuple[str, str]]] = {"english": ("I", "my")}  # of who speaks, by the language

_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we've|our|ours|us)\b", re.IGNORECASE)
_HEARD: Final = (
    "been|ever|forget|forgotten|get|got|hear|heard|know|like|liked|listen|notice|note|noted|recall|remember|see|seen|"
    "think|want"
)
_SAID: Final = (
    "advised|described|explained|gave|given|listed|made|mentioned|named|offered|promised|proposed|provided|recommended|"
    "said|shared|showed|shown|suggested|told|warned|written|wrote"
)
# "What did you suggest", "the list you gave me", "your advice". "Did you hear" asks for what others said, and "can you
# list" for something new.
_SECOND_PERSON: Final = re.compile(
    rf"\b(?:did|have|had) you (?!(?:{_HEARD})\b)\w"
    rf"|(?<!were )(?<!was )\byou(?:'ve|'d| have| had| also| already| first| just| last| once)* (?:{_SAID})\b"
    r"|\byour (?:advice|answers?|explanations?|recommendations?|reply|suggestions?|tips?)\b|\baccording to you\b",
    re.IGNORECASE,
)
_SPEAKS: Final = re.compile(r"\b(?:I|we|We)\b")
_REQUEST: Final = re.compile(
    r"\s*(?:(?:please|hey|and|so|but),?\s+)?(?:(?:at|by|for|from|in|on|since|to|until|with)\s+(?=wh|how))?"
    r"(?:am|are|can|could|describe|did|do|does|explain|find|give|has|have|help|how|is|list|may|name|"
    r"put|recommend|remind|remember|should|show|suggest|sum|summari[sz]e|tell|was|were|what|when|where|which|who|whom|whose|why|will|would)\b",
    re.IGNORECASE,
)


def named_actors(query: str, actors: Sequence[str]) -> tuple[str, ...]:
    """The actors of a scope that a question names, by their whole name or its first part. Pure."""
    asked = query.casefold()
    return tuple(actor for actor in actors if any(_word(name).search(asked) for name in _names(actor)))


def without_names(query: str, actors: Sequence[str], config: str = "") -> str:
    """The question without the names of those who speak in its scope, which would drown its topic. Pure.

    With the text search configuration of a language in `OWN_WORDS`, they become the words they themselves would say:
    the question stays a sentence, and is nearer to what was said. Without, they leave nothing.
    """
    rest, said = query, query
    speaker, owner = OWN_WORDS.get(config, ("", ""))
    for name in sorted({name for actor in actors for name in _names(actor)}, key=len, reverse=True):
        rest = _word(name, "(?:['’]s)?").sub(" ", rest)
        said = _word(name, "(?:['’]s)").sub(f" {owner} ", said)
        said = _word(name).sub(f" {speaker} ", said)
    return " ".join(said.split()) if re.search(r"\w", rest) else query


def is_first_person(query: str) -> bool:
    """Whether a question asks about the one who asks it. Pure."""
    return _FIRST_PERSON.search(query.replace("’", "'")) is not None


def is_second_person(query: str) -> bool:
    """Whether a question asks for what the one who is asked has said or made. Pure."""
    return _SECOND_PERSON.search(query.replace("’", "'")) is not None


def tells(query: str) -> bool:
    """Whether a text says what its speaker did or feels, and asks nothing. Pure."""
    return not has_question_mark(query) and _SPEAKS.search(query) is not None and _REQUEST.match(query) is None


def breadth(size: int, fetched: int) -> int:
    """How many vectors a walk of a graph keeps in view: a larger scope hides more of what is near. Pure."""
    wanted = next((many for least, many in BREADTHS if size >= least), LEAST_BREADTH)
    return min(MOST_BREADTH, max(wanted, fetched + fetched // 3))


def part(vector: Vectors, model_id: int, *, graphed: Sequence[int] = ()) -> Part:
    """The nearest memories to a vector: through the graph for the `graphed` scopes, otherwise exactly. Pure.

    A graph that brings fewer rows than asked for is not believed: then its scope is compared exactly too.
    """
    params = {"model_id": model_id, "vector": embedding.halves(vector), "graphed": list(graphed)}
    return Part(_text(), params, AGAIN)


@cache
def _text() -> str:
    return statement("channel_semantic").rstrip().replace("/*near*/", NEAREST)


def store(
    conn: Connection,
    tenant_id: str,
    scope_id: int,
    model_id: int,
    vectors: Sequence[tuple[str, Sequence[float] | Vectors]],
    *,
    long: Collection[str] = (),
) -> None:
    """Store the vectors of memories, `long` those that are means of windows; a memory that has one keeps it."""
    if vectors:
        execute(
            conn,
            "add_vectors",
            tenant_id=tenant_id,
            scope_id=scope_id,
            model_id=model_id,
            memory_ids=[memory_id for memory_id, _ in vectors],
            vectors=embedding.all_halves([vector for _, vector in vectors]),
            windowed=[memory_id in long for memory_id, _ in vectors],
        )


def store_built(
    conn: Connection, tenant_id: str, model_id: int, made: Sequence[tuple[str, str, Vectors]], *,
    long: Collection[str] = (),
) -> list[str]:  # fmt: skip
    """Store vectors that were made outside a transaction; the memories that still have the text they are of."""
    if not made:
        return []
    rows = fetch_all(
        conn, "add_built_vectors", tenant_id=tenant_id, model_id=model_id,
        memory_ids=[memory_id for memory_id, _, _ in made], facts=[fact for _, fact, _ in made],
        vectors=embedding.all_halves([vector for _, _, vector in made]),
        windowed=[memory_id in long for memory_id, _, _ in made],
    )  # fmt: skip
    return [row.memory_id for row in rows]


def owe(conn: Connection, tenant_id: str, model_id: int, memory_ids: Sequence[str]) -> None:
    """Note that a model being built owes new memories their vectors: it may not be used before they have them."""
    if memory_ids:
        execute(conn, "add_backlog", tenant_id=tenant_id, model_id=model_id, memory_ids=list(memory_ids))


def owe_scope(conn: Connection, tenant_id: str, model_id: int, scope_id: int) -> None:
    """The same of all memories of a scope that have none."""
    execute(conn, "add_scope_backlog", tenant_id=tenant_id, model_id=model_id, scope_id=scope_id)


Held = tuple[Model | None, Model | None]
"""The tenant's model in use and the one being built."""


def hold_models(conn: Connection) -> Held:
    """The tenant's model in use and the one being built, which stay so until the transaction ends."""
    return held([dict(row._mapping) for row in fetch_all(conn, "hold_models")])


def held(rows: Iterable[Mapping[str, Any]]) -> Held:
    """The models from the rows of `hold_models`. Pure."""
    found = {row["state"]: Model(**{**row, "model_id": int(row["model_id"])}) for row in rows}
    return found.get("active"), found.get("building")


def ensure_model(conn: Connection, tenant_id: str, embedder: CachedEmbedder | None, known: Held | None = None) -> Held:
    """What `hold_models` tells, or told, after the first model of a tenant was noted as the one in use."""
    active, building = hold_models(conn) if known is None else known
    if embedder is None or not embedder.is_measured or (active is not None and active.model_id != embedder.model_id):
        return active, building
    if active is not None and (active.probed or embedder.probes is None):
        return active, building
    about = {"tenant_id": tenant_id, "model_id": embedder.model_id, "probes": probes_of(embedder)}
    if active is not None:
        execute(conn, "add_probes", **about)
        return active, building
    execute(conn, "add_model", model_name=embedder.name, dimensions=embedder.dimensions, **about)
    return hold_models(conn)


def probes_of(embedder: CachedEmbedder) -> HalvesList | None:
    """The vectors a model is recognised by, as they are stored; None where it was not probed."""
    return None if embedder.probes is None else embedding.all_halves(list(embedder.probes))


def active_model(conn: Connection, tenant_id: str) -> Model | None:
    """The tenant's model in use, with its probes; None before the first memory."""
    rows = fetch_all(conn, "list_models", tenant_id=tenant_id, counted=False)
    row = next((row for row in rows if row.state == "active"), None)
    if row is None:
        return None
    return Model(row.model_id, row.name, row.dimensions, row.state, probed=bool(row.probes), probes=row.probes or ())


def is_active(conn: Connection, tenant_id: str, model_id: int) -> bool:
    """Whether a model is the tenant's model in use."""
    return scale_in_use(conn, tenant_id, model_id) is not None


def scale_in_use(conn: Connection, tenant_id: str, model_id: int) -> Scale | None:
    """The scale of a model, if it is the tenant's model in use."""
    row = fetch_one(conn, "find_active_model", tenant_id=tenant_id)
    if row is None or row.model_id != model_id:
        return None
    return scales.in_use(row.thresholds)


def index_fresh(
    conn: Connection,
    tenant_id: str,
    scope_id: int,
    model_id: int,
    *,
    batch: int = BATCH,
    large: int = LARGE,
    fresh: int = FRESH,
) -> int:
    """Put one batch of a large scope's fresh vectors into the graph; how many, 0 when nothing needs it. A job's work.

    The default model has a graph, others where `engram reembed` built one; without it vectors are scanned exactly.
    """
    if not has_graph(conn, model_id):
        return 0
    bound = max(large, fresh)
    counts = fetch_one(
        conn, "count_fresh_vectors", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, most=bound + 1
    )
    if counts is None or counts.fresh <= (fresh if counts.graphed else large):
        return 0
    execute(conn, "add_graph", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id)
    return execute(conn, "graph_vectors", tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, batch=batch)


def default_model() -> int:
    """The number of the model that has a graph from the beginning: the local one."""
    return embedding.model_id(local.load())


def has_graph(conn: Connection, model_id: int) -> bool:
    """Whether there is an index for the vectors of a model, whole and in every partition."""
    if model_id == default_model():
        return True
    row = fetch_one(conn, "count_graph_indexes", model_id=str(model_id))
    return row is not None and row.parts == migrations.PARTITIONS


def _names(actor: str) -> list[str]:
    whole = " ".join(actor.casefold().split())
    first = whole.split(" ", 1)[0]
    return [name for name in dict.fromkeys((whole, first)) if len(name) > 1]


def _word(name: str, ending: str = "") -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}{ending}(?!\w)", re.IGNORECASE)
