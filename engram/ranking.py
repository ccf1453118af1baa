"""Ranking: scoring profiles that return every term, the fusion of ranks, which rows are shown, in which order. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar, get_args

from engram import decay, inputs
from engram.errors import InvalidInput, SettingsError
from engram.scope import Scope
from engram.values import (
    Kind,
    Layer,
    Memory,
    MemoryType,
    Mode,
    Status,
    Term,
    Trust,
    Value,
    kind_of,
)

Row = TypeVar("Row")
Sort = Literal["score", "recent", "accessed"]
Cut = Literal["none", "adaptive"]
SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
CUTS: Final[tuple[Cut, ...]] = get_args(Cut)

RRF_K: Final = 10  # the usual 60 with equal weights ranks below words alone: measured
CLASSIC_K: Final = 60
GATE_COVERAGE: Final = 0.5
ACTOR_BONUS: Final = 0.1  # inside each leg of a fusion, before it is ranked
SEMANTIC_FLOOR: Final = 0.10  # of a cosine in mode `hybrid`, or of a relevance
LIFECYCLE_FLOOR: Final = 0.30
FULL_BONUS: Final = 0.2  # relevance from which what other channels say of a row counts in full
SHORT_CJK: Final = 10  # characters under which a question in Chinese, Japanese or Korean is short
NEAREST_SHARE: Final = 1.2  # of the third quartile of distances, within which the adaptive cut keeps a row
NEAREST_TIMES: Final = 3.0  # the nearest distance, likewise
LEAST_DISTANCE: Final = 1e-9
MOST_WEIGHT: Final = 1_000.0
# How much of a row's weight its type loses with time.
FADING: Final[Mapping[str, float]] = {
    **dict.fromkeys(("constraint", "preference", "profile", "decision"), 0.25), "episodic": 0.75, "tool_result": 0.65,
}  # fmt: skip
OTHERS_FADING: Final = 0.625
NEARNESS: Final[Mapping[str, float]] = {"own": 0.7, "default": 0.85, "other": 1.0}
RECENCY_RATES: Final[Mapping[Layer, float]] = {"buffer": 5.0, "working": 1.0, "core": 0.05}
KIND_BIAS: Final[Mapping[Kind, float]] = {"procedural": 0.15, "semantic": 0.0, "episodic": -0.1}
LAYER_BIAS: Final[Mapping[Layer, float]] = {"core": 0.1, "working": 0.0, "buffer": -0.1}
WEEK_HOURS: Final = 168.0

WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    "recall": {
        "coverage": 1.0, "cosine": 0.5, "actor": 0.1, "answer": 0.5, "rest": 0.1,
        "graph": 0.08, "temporal": 0.06, "recent": 0.03, "namespace": 0.02, "wish": 0.1,
    },
    "hybrid": {"cosine": 0.40, "keyword": 0.20, "rest": 0.40},
    "simple": {"relevance": 0.5, "importance": 0.3, "recency": 0.2, "access": 0.0},
    "lifecycle_linear": {"relevance": 0.6, "importance": 0.2, "recency": 0.2},
    "activation": {"cosine": 0.6, "importance": 0.2, "confidence": 0.1, "recency": 0.1},
    "rrf": {"rrf": 1.0},
    "project": {},
    "lifecycle": {},
}  # fmt: skip
DEFAULT_PROFILE: Final = "recall"
MADE: Final[Any] = tuple.__new__  # a row of a type, whose own way to make one takes two calls
BUILT_IN: Final = ("default", *WEIGHTS)


class Used(NamedTuple):
    """How often a memory was returned and restated, as far as ranking asks."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
    repetition_count: int = 0


class Brief(NamedTuple):
    """What ranking asks of a memory: most of those that a search finds are never returned, and are brought as this."""

    memory_id: str
    scope: Scope
    memory_type: MemoryType
    category: str | None
    importance: float
    confidence: float
    trust: Trust
    layer: Layer
    status: Status
    critical_slot: str | None
    conflict_key: str | None
    lineage_id: str
    valid_from: datetime
    recorded_at: datetime
    session_id: str | None
    event_id: str
    actor: str | None
    labels: tuple[str, ...]
    activity: Used
    asks: bool  # it is evidence in a session, and whoever said it waits for an answer

    @property
    def is_critical(self) -> bool:
        """Whether a slot pins this memory into every context."""
        return self.critical_slot is not None


class Signals(NamedTuple):
    """All that a profile may look at for one row."""

    cosine: float | None = None
    coverage: float = 0.0
    semantic_rank: int | None = None
    keyword_rank: int | None = None
    keyword_relevance: float = 0.0  # coverage as a share of the best coverage found; where words are compared, Jaccard
    actor: bool = False
    answers: float | None = None  # the nearness of the question it answers, where one was found; see `nearness`
    memory_type: MemoryType = "semantic"
    layer: Layer = "working"
    critical: bool = False
    importance: float = 0.5
    confidence: float = 0.5
    age_days: float = 0.0
    idle_hours: float = 0.0  # since the last access, or since creation
    accesses: int = 0
    repetitions: int = 0
    nearness: Literal["own", "default", "other"] = "own"
    epochs: float = 0.0
    mode: Mode = "hybrid"
    raised: float | None = None  # relevance after `dual_hit`, which may pass 1
    closeness: float | None = None  # 0..1, to what was found; None where the graph channel did not find it
    in_time: float | None = None  # 0..1, nearness to the window asked for; None where that channel did not find it
    recent: float | None = None  # 0..1, where the question asks for what is recent
    preferred: bool = False  # of the own namespace, where the read sees another one too
    floored: bool = True  # False where the caller's own `min_score` stands in place of a profile's floor
    wish: bool = False  # what the asker wants done every time, or likes, where something new is asked for

    @property
    def cos(self) -> float:
        """The cosine, where a missing or negative one counts as 0."""
        return _share(self.cosine or 0.0)

    @property
    def relevance(self) -> float:
        """The cosine, or the keyword relevance where there is no vector; what `with_dual_hit` made of them."""
        if self.raised is not None:
            return self.raised
        return self.keyword_relevance if self.cosine is None else self.cos

    @property
    def fades(self) -> bool:
        """Whether time takes anything from this row: critical and core rows stay."""
        return not (self.critical or self.layer == "core")

    @property
    def kind(self) -> Kind:
        """The kind of the row's type."""
        return kind_of(self.memory_type)


Part = tuple[float, float, float]  # a term before it is shown: its value, its weight and what it added


class Scored(NamedTuple):
    """A score and the parts it came from; `relevant` is False where the profile's gate would drop the row.

    `most` is the most that relevance can be under the profile.
    """

    score: float
    parts: Mapping[str, Part]
    relevance: float
    relevant: bool = True
    most: float = 1.0

    @property
    def terms(self) -> dict[str, Term]:
        """Every term of the score; relevance too, of no weight where the sum has its parts. Made for what is shown."""
        terms = {name: Term(*part) for name, part in self.parts.items()}
        return terms if "relevance" in terms else {**terms, "relevance": Term(self.relevance, 0.0, 0.0)}

    @property
    def shown_relevance(self) -> float:
        """The value of the term relevance."""
        part = self.parts.get("relevance")
        return self.relevance if part is None else part[0]

    def added(self, name: str) -> float:
        """What a term added to the score; 0 where there is none."""
        part = self.parts.get(name)
        return 0.0 if part is None else part[2]

    @property
    def distance(self) -> float:
        """How far from as relevant as can be, from 0 to 1."""
        return min(max(1.0 - self.relevance / self.most, 0.0), 1.0)


class Scorer(Protocol):
    """What scores a row under a built-in profile."""

    def __call__(self, signals: Signals, weights: Mapping[str, float]) -> Scored:
        """The score with these weights."""
        ...


@dataclass(frozen=True, slots=True)
class ProfileWeights:
    """A built-in profile with some of its weights replaced; their sum must stay what it was."""

    base: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Profile(Value):
    """A scoring profile of your own: the sum of named signals, each times its weight.

    `weights` maps signals to finite numbers; a negative one counts against a row. All signals are from 0 to 1:
    `relevance` (the cosine, or the share of the question's words where there is no vector), `cosine`, `coverage`,
    `coverage_squared`, `keyword` (coverage as a share of the best found), `actor`, `answer`, `graph`, `temporal`,
    `recent`, `namespace`, `wish`, `importance`, `decayed_importance`, `recency`, `decay`, `retention`, `access`,
    `repetition`, `confidence`, `critical`, `core`, and `rest` (importance and decay, mixed by type). Rows whose
    relevance is under `floor` are left out. Raises SettingsError for a name, weight or floor that makes no sense.
    """

    name: str
    weights: Mapping[str, float]
    floor: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z][\w.:-]{0,63}", self.name, re.ASCII):
            raise _wrong("a name of 1 to 64 letters, digits and . _ - : that begins with a letter")
        if self.name in BUILT_IN:
            raise _wrong("a name that is not built in")
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise _wrong("weights that map signals to numbers")
        if not set(self.weights) <= set(SIGNALS):
            raise _wrong(f"weights of signals, which are {', '.join(SIGNALS)}")
        if not all(_is_number(weight) and abs(weight) <= MOST_WEIGHT for weight in self.weights.values()):
            raise _wrong(f"finite weights of at most {MOST_WEIGHT:,.0f}")
        if not any(weight > 0 for weight in self.weights.values()):
            raise _wrong("at least one weight above 0")
        if not _is_number(self.floor) or not 0 <= self.floor <= 1:
            raise _wrong("a floor from 0 to 1")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))


AnyProfile = str | ProfileWeights | Profile


JSON_KEYS: Final = ("name", "weights", "floor", "base")


def resolve(given: object, known: Sequence[Profile] = ()) -> AnyProfile:
    """The profile that a caller named or made: a name, one of `known` by its name, a value, or its JSON form.

    JSON is `{"name", "weights", "floor"}`, or `{"base", "weights"}` for a built-in one with other weights. Raises
    InvalidInput for what is no profile, SettingsError for ProfileWeights that make no sense.
    """
    if isinstance(given, Mapping):
        try:
            return resolve(_from_json(inputs.keys(given, "profile", JSON_KEYS)), known)
        except SettingsError as error:
            raise InvalidInput("profile", error.expected, "something else") from None
    if isinstance(given, str):
        found = next((profile for profile in known if profile.name == given), None)
        if found is not None:
            return found
        if given not in BUILT_IN:
            names = ", ".join((*BUILT_IN, *(profile.name for profile in known)))
            raise InvalidInput("profile", f"one of {names}", "another name")
        return DEFAULT_PROFILE if given == "default" else str(given)
    if not isinstance(given, Profile | ProfileWeights):
        raise InvalidInput("profile", "a name, a Profile or its JSON form", type(given).__name__)
    if isinstance(given, ProfileWeights):
        weights_of(given)
    return given


def _from_json(given: Mapping[Any, Any]) -> Profile | ProfileWeights:
    names = set(given)
    if "base" in names and names <= {"base", "weights"}:
        base, weights = given["base"], given.get("weights", {})
        if not isinstance(base, str) or not isinstance(weights, Mapping):
            raise _wrong("the name of a profile as base, and weights that map names to numbers")
        return ProfileWeights(base, dict(weights))
    if not {"name", "weights"} <= names or not names <= {"name", "weights", "floor"}:
        raise _wrong("name, weights and floor, or base and weights")
    return Profile(**given)


def _wrong(expected: str) -> SettingsError:
    return SettingsError(f"profile: expected {expected}", expected=expected)


def name_of(profile: AnyProfile) -> str:
    """The name of a profile, for results and logs."""
    if isinstance(profile, Profile):
        return profile.name
    name = profile if isinstance(profile, str) else profile.base
    return DEFAULT_PROFILE if name == "default" else name


def compares_words(profile: AnyProfile) -> bool:
    """Whether a profile asks how many of the words of question and memory are shared where there is no vector."""
    return name_of(profile) == "simple"


def score(signals: Signals, profile: AnyProfile = DEFAULT_PROFILE) -> Scored:
    """The score of a row under a profile, with everything it came from."""
    return scorer(profile)(signals)


def scorer(profile: AnyProfile) -> Callable[[Signals], Scored]:
    """What scores rows under a profile, its weights looked up once."""
    if isinstance(profile, Profile):
        return partial(_own, profile=profile)
    name, weights = weights_of(profile)
    return partial(SCORERS[name], weights=weights)


def weights_of(profile: AnyProfile) -> tuple[str, Mapping[str, float]]:
    """The name and weights of a profile; SettingsError when it is unknown or the weights do not keep their sum."""
    if isinstance(profile, Profile):
        return profile.name, profile.weights
    if isinstance(profile, str):
        name = DEFAULT_PROFILE if profile == "default" else profile
        if name not in WEIGHTS:
            raise _wrong(f"one of {', '.join(BUILT_IN)}")
        return name, WEIGHTS[name]
    name, base = weights_of(profile.base)
    unknown = set(profile.weights) - set(base)
    if unknown:
        raise _wrong(f"weights that {name} has: {', '.join(base) or 'none'}")
    if not all(_is_number(value) and value >= 0 for value in profile.weights.values()):
        raise _wrong(f"finite weights for {name}, none negative")
    merged = {**base, **profile.weights}
    if abs(sum(merged.values()) - sum(base.values())) > 0.01:
        raise _wrong(f"weights that keep the sum of {name}, {sum(base.values()):.2f}")
    return name, merged


def reach(profile: AnyProfile, mode: Mode) -> float:
    """How relevant a row can be by a search in a mode, as a share of what it can be where all channels are asked.

    Only `recall` sums what the words and the vector say; by other profiles one of them is enough.
    """
    name, weights = weights_of(profile)
    if name != DEFAULT_PROFILE or mode == "hybrid":
        return 1.0
    unasked = weights["coverage" if mode == "semantic" else "cosine"]
    whole = weights["coverage"] + weights["cosine"] + weights["actor"]
    return (whole - unasked) / whole if whole else 1.0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# Fusion --------------------------------------------------------------------------------------------------------------


def reciprocal(ranks: Sequence[int | None], k: float = RRF_K, weights: Sequence[float] | None = None) -> float:
    """Reciprocal rank fusion: the sum of w / (k + rank) over the channels that found the row."""
    chosen = weights if weights is not None else [1.0] * len(ranks)
    return sum(weight / (k + rank) for rank, weight in zip(ranks, chosen, strict=True) if rank is not None)


def nearness(coverage: float, cosine: float | None) -> float:
    """What words and vector say of a row together: coverage squared, and half the cosine. Pure."""
    return coverage**2 + 0.5 * max(cosine or 0.0, 0.0)


def keyword_gate(best_coverage: float) -> float:
    """How far rank fusion may believe the keyword channel: fully only when its best row covers half the question."""
    return min(1.0, best_coverage / GATE_COVERAGE)


def keyword_score(*ranks: int | None) -> float:
    """The classic keyword score of two channels: each adds 30 / (60 + rank)."""
    return reciprocal(ranks, CLASSIC_K, [30.0] * len(ranks))


def dual_hit(
    cosine: float | None,
    keyword: float | None,
    *,
    short_cjk: bool = False,
    cjk: bool = False,
    term_present: bool = True,
) -> float:
    """Relevance of a row by the channels that found it: both strengthen each other, one alone is held back."""
    if cosine is None:
        return (0.40 if cjk else 0.25) * (keyword or 0.0)
    if keyword is None:
        return cosine if term_present else 0.7 * cosine
    boosted = cosine * (1 + keyword * (0.6 if short_cjk else 0.3) * min(1.0, cosine / 0.45))
    return max(boosted, 0.50 + 0.35 * keyword) if short_cjk else boosted


@dataclass(frozen=True, slots=True)
class Leg:
    """What one channel found for one query: its own value for each row, by memory id, best highest.

    `gated` legs are believed only as far as their best value covers the question: those of the keyword channel.
    """

    name: str
    values: Mapping[str, float]
    weight: float = 1.0
    gated: bool = False

    @property
    def belief(self) -> float:
        """The weight of the leg's ranks."""
        return self.weight * (keyword_gate(max(self.values.values(), default=0.0)) if self.gated else 1.0)


@dataclass(frozen=True, slots=True)
class Fused:
    """A row's fused score, with a term for each leg that found it, and its rank there."""

    memory_id: str
    score: float
    terms: Mapping[str, Term]
    ranks: Mapping[str, int]


def fuse_ranks(
    legs: Sequence[Leg],
    k: float = RRF_K,
    *,
    actors: Set[str] = frozenset(),
    recorded: Mapping[str, datetime] | None = None,
) -> list[Fused]:
    """Rank the rows of several legs by gated reciprocal rank fusion, best first.

    Each leg is ranked by its values, to which rows in `actors` (those of the actor asked about) add 0.1 first; rows
    share no rank. Ties end with the newest by `recorded`, then with the id.
    """
    if not _is_number(k) or k < 0:
        raise InvalidInput("k", "a number of 0 or more", "another one")
    if len({leg.name for leg in legs}) != len(legs):
        raise ValueError("two legs have the same name: a term of one would hide the other's")
    times = recorded or {}

    def newest(memory_id: str) -> tuple[float, str]:
        return -times[memory_id].timestamp() if memory_id in times else 0.0, memory_id

    terms: dict[str, dict[str, Term]] = {}
    ranks: dict[str, dict[str, int]] = {}
    for leg in legs:
        values = {one: value + (ACTOR_BONUS if one in actors else 0.0) for one, value in leg.values.items()}
        belief = leg.belief
        for place, one in enumerate(sorted(values, key=lambda one: (-values[one], *newest(one))), 1):
            share = 1 / (k + place)
            terms.setdefault(one, {})[leg.name] = Term(share, belief, belief * share)
            ranks.setdefault(one, {})[leg.name] = place
    fused = [
        Fused(one, math.fsum(term.contribution for term in parts.values()), parts, ranks[one])
        for one, parts in terms.items()
    ]
    return sorted(fused, key=lambda one: (-one.score, *newest(one.memory_id)))


# Profiles ------------------------------------------------------------------------------------------------------------


def type_mix(signals: Signals) -> float:
    """Decay and importance mixed by what the type lives from, scaled to 0..1."""
    return _mixed(signals, _decay_left(signals))


def _mixed(signals: Signals, left: float) -> float:
    """`type_mix`, where what decay left is known. Pure."""
    share = FADING.get(signals.memory_type, OTHERS_FADING)
    return share * left + (1 - share) * signals.importance


def _add(
    values: Mapping[str, float],
    weights: Mapping[str, float],
    relevance: float,
    relevant: bool = True,
    **shown: float,
) -> Scored:
    parts = {name: (value, weights[name], value * weights[name]) for name, value in values.items()}
    total = math.fsum(part[2] for part in parts.values())
    # Shown terms explain without adding: a weight of 0 says so.
    parts.update({name: (value, 0.0, 0.0) for name, value in shown.items() if name not in parts})
    return Scored(total, parts, relevance, relevant)


def _decay_left(signals: Signals) -> float:
    return decay.access_decay(signals.idle_hours) if signals.fades else 1.0


def _recall(signals: Signals, weights: Mapping[str, float]) -> Scored:
    # What the other profiles call is written out here: this one scores every row of nearly every search.
    cosine = signals.cosine or 0.0
    cosine = 0.0 if cosine < 0 else 1.0 if cosine > 1 else cosine
    fades = not (signals.critical or signals.layer == "core")
    left = decay.access_decay(signals.idle_hours) if fades else 1.0
    share = FADING.get(signals.memory_type, OTHERS_FADING)
    mixed = share * left + (1 - share) * signals.importance
    coverage, words, near, by = signals.coverage, weights["coverage"], weights["cosine"], weights["actor"]
    # Coverage counts by its square: a weak match of words must not drown the vector.
    worded, by_actor = words * coverage**2, by if signals.actor else 0.0
    own = worded + cosine * near
    relevance, most, rest = own + by_actor, words + by, weights["rest"]
    parts: dict[str, Part] = {}
    if signals.cosine is not None:
        parts["cosine"] = (cosine, near, cosine * near)
        most += near
    parts["actor"] = (1.0 if signals.actor else 0.0, by, by_actor)
    parts["rest"] = (mixed, rest, mixed * rest)
    parts["coverage"] = (coverage, words, worded)
    if signals.answers is not None:
        parts["answer"] = answer = _answer(signals.answers, weights["answer"], own)
        relevance += answer[2]
        most += answer[2]
    _add_bonuses(parts, signals, weights, relevance)
    parts["decay"] = (left, 0.0, 0.0)
    scored: Scored = MADE(
        Scored, (math.fsum([added for _, _, added in parts.values()]), parts, relevance, True, most or 1.0)
    )
    return scored


def _part(value: float, weight: float) -> Part:
    return value, weight, value * weight


def _share(value: float) -> float:
    """A number held between 0 and 1."""
    return 0.0 if value < 0 else 1.0 if value > 1 else value  # many times a search: faster than min and max


def _answer(asked: float, weight: float, own: float) -> Part:
    """Half the nearness of the question that a row answers, and no more than its own."""
    return _part(min(max(asked, 0.0), own / weight) if weight > 0 else 0.0, weight)


def _add_bonuses(parts: dict[str, Part], signals: Signals, weights: Mapping[str, float], relevance: float) -> None:
    """What else speaks for a row: at most 0.29 together, and less for a row that is itself hardly relevant.

    So they order near ties, and lift no row of relevance up to 0.04 over one of 0.2 or more, whatever `rest` adds.
    """
    share = _share(relevance / FULL_BONUS)
    if signals.closeness is not None:
        parts["graph"] = _part(_share(signals.closeness), weights["graph"] * share)
    if signals.in_time is not None:
        parts["temporal"] = _part(_share(signals.in_time), weights["temporal"] * share)
    if signals.recent is not None:
        parts["recent"] = _part(_share(signals.recent), weights["recent"] * share)
    if signals.preferred:
        parts["namespace"] = _part(1.0, weights["namespace"] * share)
    if signals.wish:
        parts["wish"] = _part(1.0, weights["wish"] * share)


def _hybrid(signals: Signals, weights: Mapping[str, float]) -> Scored:
    found = signals.keyword_rank is not None
    relevant = signals.cos > SEMANTIC_FLOOR or found
    left = _decay_left(signals)
    mix = type_mix(signals)
    if signals.mode == "keyword" or signals.cosine is None:
        mix = 0.625 * left + 0.375 * signals.importance
        values, chosen = {"keyword": signals.keyword_relevance, "rest": mix}, {"keyword": 0.60, "rest": 0.40}
        return _add(values, chosen, signals.relevance, found, decay=left)
    if signals.mode == "semantic":
        return _add({"cosine": signals.cos, "rest": mix}, {"cosine": 0.60, "rest": 0.40}, signals.cos, True, decay=left)
    keyword = keyword_score(signals.semantic_rank, signals.keyword_rank)
    return _add({"cosine": signals.cos, "keyword": keyword, "rest": mix}, weights, signals.cos, relevant, decay=left)


def _simple(signals: Signals, weights: Mapping[str, float]) -> Scored:
    age = signals.age_days if signals.fades else 0.0
    return _add(
        {
            "relevance": signals.relevance,
            "importance": min(1.0, decay.ebbinghaus(signals.importance, age, signals.accesses)),
            "recency": max(0.0, 1 - signals.age_days / 90),
            "access": min(signals.accesses / 100, 1.0),
        },
        weights,
        signals.relevance,
        decay=decay.PROFILES["ebbinghaus"].factor(age),
    )


def _project(signals: Signals, weights: Mapping[str, float]) -> Scored:  # noqa: ARG001
    stale = 1 + 0.2 * min(1.0, max(0.0, signals.age_days - 14) / 180) if signals.accesses == 0 else 1.0
    factors = {
        "distance": 1 - signals.relevance,
        "namespace": NEARNESS[signals.nearness],
        "frequency": 1 - min(0.04 * math.log2(1 + signals.accesses), 0.15),
        "importance": 1 - 0.2 * signals.importance,
        "recency": 1 - 0.1 * math.exp(-signals.age_days / 30),
        "stale": stale,
    }
    distance = math.prod(factors.values())
    return Scored(1 - distance, {name: (value, 1.0, 0.0) for name, value in factors.items()}, signals.relevance)


def lifecycle_weight(signals: Signals) -> float:
    """How much a memory weighs in its life cycle: importance, use, kind and layer."""
    importance = decay.fade_by_epochs(signals.importance, signals.kind, signals.epochs if signals.fades else 0.0)
    repeated = min(0.7, 0.17 * math.log(1 + signals.repetitions))
    accessed = min(0.55, 0.12 * math.log(1 + signals.accesses))
    return importance + repeated + accessed + KIND_BIAS[signals.kind] + LAYER_BIAS[signals.layer]


def weight_of(memory: Memory, epochs: float = 0.0) -> float:
    """How much a memory weighs in its life cycle, by what the row says and the epochs it has lived through.

    What is pinned or of the core weighs the same after any.
    """
    return lifecycle_weight(
        Signals(
            memory_type=memory.memory_type, layer=memory.layer, critical=memory.is_critical,
            importance=memory.importance, accesses=memory.activity.access_count,
            repetitions=memory.activity.repetition_count, epochs=epochs,
        )
    )  # fmt: skip


def _layer_recency(signals: Signals) -> float:
    return math.exp(-RECENCY_RATES[signals.layer] * max(signals.idle_hours, 0.0) / WEEK_HOURS)


def _lifecycle(signals: Signals, weights: Mapping[str, float]) -> Scored:  # noqa: ARG001
    weight, recency = lifecycle_weight(signals), _layer_recency(signals)
    raw = signals.relevance * (1 + 0.4 * weight + 0.2 * recency)
    parts = {
        "relevance": (signals.relevance, 1.0, 0.0),
        "weight": (weight, 0.4, 0.0),
        "recency": (recency, 0.2, 0.0),
        "decay": (_epochs_left(signals), 0.0, 0.0),
    }
    kept = signals.cos >= LIFECYCLE_FLOOR or signals.keyword_rank is not None or signals.closeness is not None
    return Scored(math.tanh(raw), parts, signals.relevance, kept or not signals.floored)


def _epochs_left(signals: Signals) -> float:
    return decay.fade_by_epochs(1.0, signals.kind, signals.epochs if signals.fades else 0.0)


def _lifecycle_linear(signals: Signals, weights: Mapping[str, float]) -> Scored:
    importance = decay.fade_by_epochs(signals.importance, signals.kind, signals.epochs if signals.fades else 0.0)
    values = {"relevance": signals.relevance, "importance": importance, "recency": _layer_recency(signals)}
    return _add(values, weights, signals.relevance, decay=_epochs_left(signals))


def _activation(signals: Signals, weights: Mapping[str, float]) -> Scored:
    recency = decay.retention(signals.idle_hours / 24, signals.accesses) if signals.fades else 1.0
    values = {
        "cosine": signals.relevance,
        "importance": signals.importance,
        "confidence": signals.confidence,
        "recency": recency,
    }
    return _add(values, weights, signals.relevance, decay=recency)


def _rrf(signals: Signals, weights: Mapping[str, float]) -> Scored:
    fused = reciprocal([signals.semantic_rank, signals.keyword_rank], RRF_K, [1.0, 1.0])
    return _add({"rrf": fused}, weights, signals.relevance)


def _namespace(signals: Signals) -> float:
    return 1.0 if signals.nearness == "own" else 0.5 if signals.nearness == "default" else 0.0


SIGNALS: Final[Mapping[str, Callable[[Signals], float]]] = {
    "relevance": lambda row: min(row.relevance, 1.0),
    "cosine": lambda row: row.cos,
    "coverage": lambda row: row.coverage,
    "coverage_squared": lambda row: row.coverage**2,
    "keyword": lambda row: row.keyword_relevance,
    "actor": lambda row: float(row.actor),
    "answer": lambda row: min(row.answers or 0.0, 1.0),
    "graph": lambda row: row.closeness or 0.0,
    "temporal": lambda row: row.in_time or 0.0,
    "recent": lambda row: row.recent or 0.0,
    "namespace": _namespace,
    "wish": lambda row: float(row.wish),
    "importance": lambda row: row.importance,
    "decayed_importance": lambda row: min(
        decay.ebbinghaus(row.importance, row.age_days if row.fades else 0.0, row.accesses), 1.0
    ),
    "recency": lambda row: max(0.0, 1 - row.age_days / 90),
    "decay": _decay_left,
    "retention": lambda row: decay.retention(row.idle_hours / 24, row.accesses) if row.fades else 1.0,
    "access": lambda row: min(row.accesses / 100, 1.0),
    "repetition": lambda row: min(row.repetitions / 10, 1.0),
    "confidence": lambda row: row.confidence,
    "critical": lambda row: float(row.critical),
    "core": lambda row: float(row.layer == "core"),
    "rest": type_mix,
}
"""What a profile of one's own may weigh, each from 0 to 1."""


def _own(signals: Signals, profile: Profile) -> Scored:
    values = {name: SIGNALS[name](signals) for name in profile.weights}
    relevant = not signals.floored or signals.relevance >= profile.floor
    return _add(values, profile.weights, signals.relevance, relevant, decay=_decay_left(signals))


SCORERS: Final[Mapping[str, Scorer]] = {
    "recall": _recall,
    "hybrid": _hybrid,
    "simple": _simple,
    "project": _project,
    "lifecycle": _lifecycle,
    "lifecycle_linear": _lifecycle_linear,
    "activation": _activation,
    "rrf": _rrf,
}


def with_dual_hit(signals: Signals, cjk: int = 0) -> Signals:
    """The same row with its relevance raised or held back by which channels found it (profile `lifecycle`).

    `cjk` counts the question's Chinese, Japanese and Korean characters. What the graph links to a hit counts as one.
    """
    keyword = signals.keyword_relevance if signals.keyword_rank is not None else None
    raised = dual_hit(
        None if signals.cosine is None else signals.cos, keyword, short_cjk=0 < cjk < SHORT_CJK, cjk=cjk > 0,
        term_present=signals.mode == "semantic",  # there nobody has looked for the words
    )  # fmt: skip
    return signals._replace(raised=raised if signals.closeness is None else max(raised, 1.0))


# Choosing ------------------------------------------------------------------------------------------------------------


def best_first(score: float, memory: Memory | Brief) -> tuple[Any, ...]:
    """What rows are sorted by, best first: score, then the newest recorded, then the id. Never equal for two rows."""
    return -score, -memory.recorded_at.timestamp(), memory.memory_id


def listed(rows: Sequence[Row], sort: Sort, memory_of: Callable[[Row], Memory | Brief]) -> list[Row]:
    """Chosen rows in the order asked for: as they are, the newest recorded first, or the last accessed first."""
    if sort == "score":
        return list(rows)

    def key(row: Row) -> tuple[Any, ...]:
        memory = memory_of(row)
        if sort == "recent":
            return best_first(0.0, memory)
        last = memory.activity.last_accessed_at
        return -last.timestamp() if last else math.inf, *best_first(0.0, memory)

    return sorted(rows, key=key)


def adaptive_cut(distances: Sequence[float]) -> float:
    """The greatest distance a row may have: 1.2 times the third quartile or 3 times the nearest, whichever is less.

    The nearest row is always kept.
    """
    if not distances:
        return LEAST_DISTANCE
    ordered = sorted(distances)
    place = 0.75 * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    quartile = below + (above - below) * (place - math.floor(place))
    return max(min(NEAREST_SHARE * quartile, NEAREST_TIMES * ordered[0]), LEAST_DISTANCE)


def round_robin(
    rows: Sequence[Row], session_of: Callable[[Row], str | None], per_session: int, limit: int
) -> list[Row]:
    """At most `limit` rows, at most `per_session` of a session, so that no long conversation takes every place.

    Each session in turn gives its best row, the session of the best row first, until the places are taken. Rows of no
    session take their turn together, without a bound. The chosen keep the order they came in.
    """
    turns: dict[str | None, int] = {}
    waiting: list[tuple[int, int]] = []
    for place, row in enumerate(rows):
        session = session_of(row)
        turn = turns[session] = turns.get(session, 0) + 1
        if session is None or turn <= per_session:
            waiting.append((turn, place))
    return [rows[place] for place in sorted(place for _, place in sorted(waiting)[:limit])]


def is_good_enough(scores: Sequence[float], limit: int, good_enough: float | None) -> bool:
    """Whether the first channels found all that was asked for: `limit` rows whose score is above `good_enough`."""
    return good_enough is not None and limit > 0 and sum(score > good_enough for score in scores) >= limit
