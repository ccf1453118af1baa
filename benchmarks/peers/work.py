"""The work that every peer is given: memories of users and questions about them, made by rules or read from a set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from contract import Item, Model, Vector

BIG, SMALL = "big", "small"
BIG_SHARE, SMALL_SHARE = 0.2, 0.008
CLUSTERS: Final = 300
SPREAD: Final = 0.7  # of a vector about its cluster's centre of length one
NEAR: Final = 0.5  # of a question's vector about the vector of what it asks for
COMMON: Final = [
    "the", "of", "and", "to", "a", "in", "that", "is", "was", "for", "on", "with", "as", "by", "at", "from", "her",
    "his", "they", "we", "it", "about", "when", "before", "after", "because", "while", "then", "said", "told", "asked",
    "wants", "likes", "had", "has", "will", "would", "could", "into", "over", "under", "again", "always", "never",
]  # fmt: skip
STARTS: Final = [*"bcdfghjklmnprstvwz", "br", "ch", "dr", "fl", "gr", "pl", "pr", "sh", "st", "tr"]
MIDDLES: Final = [*"aeiou", "ai", "ea", "oo", "ou"]
ENDS: Final = [*"bdlmnprstx", "ck", "ll", "nd", "ng", "nt", "rd", "rn", "th"]


@dataclass(frozen=True)
class Question:
    """What is asked, of whose memories, and the rows that hold the answer."""

    user: str
    text: str
    evidence: tuple[int, ...]


@dataclass
class Work:
    """Memories in the order of their users, their vectors, questions and theirs, and texts only some would embed."""

    name: str
    users: list[str]
    texts: list[str]
    vectors: Vector
    questions: list[Question]
    question_vectors: Vector
    messages: list[Mapping[str, Any]] | None = None
    other_texts: list[str] = field(default_factory=list)
    other_vectors: Vector | None = None

    @property
    def digest(self) -> str:
        """The SHA-256 of texts, questions and vectors, in hexadecimal digits."""
        told = json.dumps([self.users, self.texts, [q.text for q in self.questions]]).encode()
        return hashlib.sha256(told + self.vectors.tobytes() + self.question_vectors.tobytes()).hexdigest()

    def items(self) -> list[Item]:
        """The memories as the contract has them."""
        said = self.messages or [None] * len(self.texts)
        rows = zip(range(len(self.texts)), self.users, self.texts, self.vectors, said, strict=True)
        return [Item(*row) for row in rows]

    def model(self) -> Model:
        """The embedder that knows these texts."""
        passages = dict(zip(self.texts, self.vectors, strict=True))
        if self.other_vectors is not None:
            passages.update(zip(self.other_texts, self.other_vectors, strict=True))
        asked = {one.text: vector for one, vector in zip(self.questions, self.question_vectors, strict=True)}
        return Model(self.vectors.shape[1], passages, asked)

    def save(self, folder: Path) -> None:
        """Write it where other processes read it."""
        folder.mkdir(parents=True, exist_ok=True)
        told = {
            "name": self.name, "users": self.users, "texts": self.texts, "messages": self.messages,
            "questions": [[one.user, one.text, list(one.evidence)] for one in self.questions],
            "other_texts": self.other_texts,
        }  # fmt: skip
        (folder / "work.json").write_text(json.dumps(told, default=str), encoding="utf-8")
        others = self.other_vectors if self.other_vectors is not None else np.zeros((0, 1), dtype=np.float32)
        np.savez(folder / "vectors.npz", vectors=self.vectors, questions=self.question_vectors, others=others)

    @classmethod
    def load(cls, folder: Path) -> Work:
        """What `save` wrote."""
        told = json.loads((folder / "work.json").read_text(encoding="utf-8"))
        asked = [Question(user, text, tuple(rows)) for user, text, rows in told.pop("questions")]
        with np.load(folder / "vectors.npz") as held:
            return cls(
                **told,
                vectors=held["vectors"],
                questions=asked,
                question_vectors=held["questions"],
                other_vectors=held["others"] if len(held["others"]) else None,
            )


def made_up(rows: int, *, asked: int = 100, dimensions: int = 384, seed: int = 7) -> Work:
    """A user with a fifth of the rows, and many with 0.8 % each; texts of 10 to 30 words, vectors in clusters.

    Half of the questions, in turn, are of the big user and half of one of the small ones. Each is made of some words of
    a memory and of a vector near that memory's.
    """
    dice = np.random.default_rng(seed)
    big, small = int(rows * BIG_SHARE), max(1, int(rows * SMALL_SHARE))
    users = [BIG] * big + [SMALL] * small
    users += [f"other-{number // small}" for number in range(rows - len(users))]
    centres = _unit(dice.normal(size=(CLUSTERS, dimensions)))
    chosen = _topics(dice, users)
    vectors = _unit(centres[chosen] + SPREAD * _unit(dice.normal(size=(rows, dimensions))))
    words = _words(dice, 12_000)
    texts = _texts(dice, words, chosen)
    questions, aims = [], []
    for number in range(2 * asked):
        user = (BIG, SMALL)[number % 2]
        row = int(dice.integers(0, big)) if user == BIG else big + int(dice.integers(0, small))
        told = [word for word in texts[row].rstrip(".").lower().split() if word not in COMMON]
        few = dice.permutation(len(told))[: int(dice.integers(3, 7))]
        said = " ".join(told[place] for place in sorted(few))
        questions.append(Question(user, f"{number + 1}, what about {said}?", (row,)))  # no two have one text
        aims.append(row)
    near = _unit(vectors[aims] + NEAR * _unit(dice.normal(size=(len(aims), dimensions))))
    return Work(f"made up, {rows} rows, seed {seed}", users, texts, vectors, questions, near)


def _topics(dice: np.random.Generator, users: Sequence[str]) -> Vector:
    """A cluster a row: each user speaks of some of them, the big one of many."""
    found = np.zeros(len(users), dtype=np.int64)
    for user, mine in _rows_of(users).items():
        own = dice.permutation(CLUSTERS)[: 100 if user == BIG else 12]
        found[mine] = own[dice.integers(0, len(own), len(mine))]
    return found


def _unit(raw: Vector) -> Vector:
    unit: Vector = (raw / np.linalg.norm(raw, axis=-1, keepdims=True)).astype(np.float32)
    return unit


def _words(dice: np.random.Generator, many: int) -> list[str]:
    """Different made-up words of one to three syllables, the same for a seed."""
    found: dict[str, None] = {}
    while len(found) < many:
        word = "".join(
            STARTS[dice.integers(len(STARTS))] + MIDDLES[dice.integers(len(MIDDLES))]
            for _ in range(int(dice.integers(1, 4)))
        )
        found.setdefault(word + ENDS[dice.integers(len(ENDS))])
    return list(found)


def _texts(dice: np.random.Generator, words: Sequence[str], clusters: Vector) -> list[str]:
    """A text a row: common words, words of its cluster, and words that are the rarer the later they come."""
    topics = dice.integers(0, len(words), (CLUSTERS, 40))
    texts = []
    for cluster in clusters:
        length = int(dice.integers(10, 31))
        kinds, rare = dice.random(length), dice.random(length) ** 3
        mine, plain = dice.integers(0, 40, length), dice.integers(0, len(COMMON), length)
        said = [
            COMMON[plain[n]] if kinds[n] < 0.4 else words[topics[cluster, mine[n]]] if kinds[n] < 0.7
            else words[int(rare[n] * len(words))]
            for n in range(length)
        ]  # fmt: skip
        texts.append(" ".join(said).capitalize() + ".")
    return texts


def truth(work: Work, k: int) -> list[set[int]]:
    """For each question the rows of its user whose vectors are nearest, by exact comparison."""
    rows = _rows_of(work.users)
    found = []
    for question, vector in zip(work.questions, work.question_vectors, strict=True):
        mine = rows[question.user]
        near = np.argsort(-(work.vectors[mine] @ vector), kind="stable")[:k]
        found.append({int(mine[place]) for place in near})
    return found


def _rows_of(users: Iterable[str]) -> dict[str, Vector]:
    rows: dict[str, list[int]] = {}
    for row, user in enumerate(users):
        rows.setdefault(user, []).append(row)
    return {user: np.asarray(mine) for user, mine in rows.items()}
