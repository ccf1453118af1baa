"""Recall: from a question to memories with reasons, and to an answer.

A search goes in steps, because no model is called while a transaction is open:

1. `question.prepare` reads the question (pure); 2. `question.look` asks the scopes what its words mean there, and what
is not derived yet (transaction); 3. `question.embed` makes its vector (model); 4. `finding.find` asks every channel in
one statement (transaction); 5. `results.rank` scores, explains and cuts (pure). Where a reranker is asked for, it reads
what is `judgeable` of the scored rows before they are cut (model).

For `recall`, `intent.read` comes first; `answers.roads` says which roads to try, in order, over what was found once,
and `answers.answer` (transaction) makes the answer of the first that leads somewhere.
"""

from engram.recall.answers import (
    Told,
    answer,
    any_time,
    best_hit,
    empty_answer,
    is_bounded,
    least_of,
    names_what_came,
    of_events,
    of_its_key,
    of_order,
    on_road,
    plan,
    roads,
    tells_of_a_change,
    with_told,
)
from engram.recall.anytime import held, nearest, unknown
from engram.recall.beyond import ANOTHER_TIME, LOOKED_AT, goes_on, gone_on
from engram.recall.finding import EVIDENCE, Candidate, Found, find, find_all, is_of_a_channel
from engram.recall.question import (
    CHUNK,
    Asked,
    Looked,
    Meaning,
    asks_for_chunks,
    embed,
    embed_all,
    look,
    look_from,
    prepare,
)
from engram.recall.results import accessed, is_good_enough, rank, touched, track

__all__ = [
    "ANOTHER_TIME", "CHUNK", "EVIDENCE", "LOOKED_AT", "Asked", "Candidate", "Found", "Looked", "Meaning",
    "Told", "accessed", "answer", "any_time", "asks_for_chunks", "best_hit", "embed", "embed_all",
    "empty_answer", "find", "find_all", "goes_on", "gone_on", "held", "is_bounded", "is_good_enough",
    "is_of_a_channel", "least_of", "look", "look_from", "names_what_came", "nearest", "of_events",
    "of_its_key", "of_order", "on_road", "plan", "prepare", "rank", "roads", "tells_of_a_change", "touched",
    "track", "unknown", "with_told",
]  # fmt: skip
