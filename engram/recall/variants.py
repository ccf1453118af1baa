"""Variants: other ways to ask the same question, made by rules where no language model makes them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engram import intent, text
from engram.recall.question import Looked
from engram.regex import regex

if TYPE_CHECKING:
    from engram.embedding import Vectors

MOST: Final = 10  # variants of a question
MOST_READ: Final = 2_000  # characters of a question that rules look at
LEAST_WORDS: Final = 2  # that tell something, in a clause of its own
ALIKE: Final = 0.5  # cosine from which two words may stand for each other
MOST_ALIKE: Final = 3  # words taken from the corpus
MOST_VOCABULARY: Final = 300
ROOT: Final = 4  # letters that two forms of one word share
VARIANT: Final = 0.5  # weight of a variant that means the same, against the question itself

_CLAUSE: Final = regex(r"[?!.;,]+\s+|\s+(?:and|or|but|then|also|und|oder|aber)\s+", re.IGNORECASE)
_QUOTED: Final = regex(r'"([^"]{2,80})"|“([^”]{2,80})”|`([^`]{2,80})`')
_NAME: Final = regex(r"(?<![.!?]\s)(?<!^)\b[^\W\d_a-z]\w*(?:[ '’-][^\W\d_a-z]\w*)*")
_IDENTIFIER: Final = regex(r"\b(?=\w*[\d_./-])[\w][\w./-]*\w")


def by_rules(query: str, topic: str = "", alike: Sequence[str] = ()) -> list[str]:
    """Other ways to ask a question, each another text: without its time and form, by its words, clauses and names.

    `topic` is the question without the phrases of time and the cues, where that is known; `alike` are words of the
    corpus that may stand for some of it.
    """
    query, topic = " ".join(query.split())[:MOST_READ], " ".join(topic.split())[:MOST_READ]
    words = content(topic or query)
    clauses = [clause.strip() for clause in _CLAUSE.split(query) if len(content(clause)) >= LEAST_WORDS]
    made = [
        topic,
        " ".join(words),
        *(clauses if len(clauses) > 1 else []),
        *(" ".join(content(clause)) for clause in clauses if len(clauses) > 1),
        " ".join([*words, *alike]) if alike else "",
        *names(query),
    ]
    return different(query, made)


def different(query: str, made: Sequence[str]) -> list[str]:
    """Those of the variants that are no repetition of the question or of each other, in their order."""
    seen, kept = {text.compared(query).strip(" ?!.")}, []
    for variant in made:
        same = text.compared(variant).strip(" ?!.")
        if same and same not in seen:
            seen.add(same)
            kept.append(" ".join(variant.split()))
    return kept[:MOST]


def content(query: str) -> list[str]:
    """The words of a text that tell something, each once."""
    return [word for word in dict.fromkeys(text.words(query)) if word not in intent.EMPTY_WORDS]


def names(query: str) -> list[str]:
    """What a question names: quoted words, identifiers, and words with a capital letter inside a sentence."""
    quoted = [next(filter(None, found)) for found in _QUOTED.findall(query)]
    capital = [one for one in _NAME.findall(query) if one.casefold() not in intent.EMPTY_WORDS]
    return list(dict.fromkeys([*quoted, *_IDENTIFIER.findall(query), *capital]))


def vocabulary(query: str, facts: Sequence[str]) -> list[str]:
    """The words of some texts that might stand for a question's: no form of one of its own words, and no number."""
    own = {word[:ROOT] for word in content(query)}
    found = dict.fromkeys(word for fact in facts for word in content(fact) if word.isalpha() and word[:ROOT] not in own)
    return list(found)[:MOST_VOCABULARY]


def alike(words: Sequence[str], others: Sequence[str], vectors: Vectors) -> list[str]:
    """Those of the others that are nearest to one of the words; `vectors` are theirs, words first."""
    if not words or not others:
        return []
    near = (vectors[: len(words)] @ vectors[len(words) :].T).max(axis=0)
    order = sorted(range(len(others)), key=lambda place: (-near[place], others[place]))
    return [others[place] for place in order[:MOST_ALIKE] if near[place] >= ALIKE]


def share(question: Looked, variant: Looked, cosine: float | None) -> float:
    """How much of a question a variant still asks: the rarity of the words it kept, or its nearness in meaning."""
    kept: Mapping[str, float] = {term.label: term.idf for term in variant.sought.terms}
    total = question.sought.total
    held = sum(term.idf for term in question.sought.terms if term.label in kept) / total if total > 0 else 0.0
    return min(1.0, max(held, cosine or 0.0, 0.0))
