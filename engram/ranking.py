"""Ranking: fusing what the channels found, and named scoring profiles that return every term. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from engram import decay
from engram.errors import SettingsError
from engram.values import Kind, Layer, MemoryType, Mode, Term, kind_of

RRF_K: Final = 10  # the usual 60 with equal weights ranks below words alone: measured
CLASSIC_K: Final = 60
GATE_COVERAGE: Final = 0.5
SEMANTIC_FLOOR: Final = 0.10
LASTING: Final = frozenset({"constraint", "preference", "profile", "decision"})
NEARNESS: Final[Mapping[str, float]] = {"own": 0.7, "default": 0.85, "other": 1.0}
RECENCY_RATES: Final[Mapping[Layer, float]] = {"buffer": 5.0, "working": 1.0, "core": 0.05}
KIND_BIAS: Final[Mapping[Kind, float]] = {"procedural": 0.15, "semantic": 0.0, "episodic": -0.1}
LAYER_BIAS: Final[Mapping[Layer, float]] = {"core": 0.1, "working": 0.0, "buffer": -0.1}
WEEK_HOURS: Final = 168.0

WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    "recall": {"coverage": 1.0, "cosine": 0.5, "actor": 0.1, "rest": 0.1},
    "hybrid": {"cosine": 0.40, "keyword": 0.20, "rest": 0.40},
    "simple": {"relevance": 0.5, "importance": 0.3, "recency": 0.2, "access": 0.0},
    "lifecycle_linear": {"relevance": 0.6, "importance": 0.2, "recency": 0.2},
    "activation": {"cosine": 0.6, "importance": 0.2, "confidence": 0.1, "recency": 0.1},
    "rrf": {"rrf": 1.0},
    "project": {},
    "lifecycle": {},
}
DEFAULT_PROFILE: Final = "recall"


@dataclass(frozen=True, slots=True)
class Signals:
    """All that a profile may look at for one row."""

    cosine: float | None = None
    coverage: float = 0.0
    semantic_rank: int | None = None
    keyword_rank: int | None = None
    keyword_relevance: float = 0.0  # coverage as a share of the best coverage found
    actor: bool = False
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

    @property
    def cos(self) -> float:
        """The cosine, where a missing or negative one counts as 0."""
        return min(max(self.cosine or 0.0, 0.0), 1.0)

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


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and the terms it came from; `relevant` is False where the profile's gate would drop the row."""

    score: float
    terms: Mapping[str, Term]
    relevance: float
    relevant: bool = True


Scorer = Callable[[Signals, Mapping[str, float]], Scored]


@dataclass(frozen=True, slots=True)
class ProfileWeights:
    """A profile with some of its weights replaced; their sum must stay what it was."""

    base: str
    weights: Mapping[str, float]


def score(signals: Signals, profile: str | ProfileWeights = DEFAULT_PROFILE) -> Scored:
    """The score of a row under a profile, with every term."""
    name, weights = weights_of(profile)
    return SCORERS[name](signals, weights)


def weights_of(profile: str | ProfileWeights) -> tuple[str, Mapping[str, float]]:
    """The name and weights of a profile; SettingsError when it is unknown or the weights do not keep their sum."""
    if isinstance(profile, str):
        name = DEFAULT_PROFILE if profile == "default" else profile
        if name not in WEIGHTS:
            raise SettingsError(f"profile: expected one of {', '.join(('default', *WEIGHTS))}")
        return name, WEIGHTS[name]
    name, base = weights_of(profile.base)
    unknown = set(profile.weights) - set(base)
    if unknown:
        raise SettingsError(f"profile {name}: it has the weights {', '.join(base) or 'none'}")
    if not all(
        isinstance(value, int | float) and math.isfinite(value) and value >= 0 for value in profile.weights.values()
    ):
        raise SettingsError(f"profile {name}: weights must be finite and not negative")
    merged = {**base, **profile.weights}
    if abs(sum(merged.values()) - sum(base.values())) > 0.01:
        raise SettingsError(f"profile {name}: its weights must keep the sum {sum(base.values()):.2f}")
    return name, merged


# Fusion --------------------------------------------------------------------------------------------------------------


def reciprocal(ranks: Sequence[int | None], k: float = RRF_K, weights: Sequence[float] | None = None) -> float:
    """Reciprocal rank fusion: the sum of w / (k + rank) over the channels that found the row."""
    chosen = weights if weights is not None else [1.0] * len(ranks)
    return sum(weight / (k + rank) for rank, weight in zip(ranks, chosen, strict=True) if rank is not None)


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


# Profiles ------------------------------------------------------------------------------------------------------------


def type_mix(signals: Signals) -> float:
    """Decay and importance mixed by what the type lives from, scaled to 0..1."""
    left = decay.access_decay(signals.idle_hours) if signals.fades else 1.0
    if signals.memory_type in LASTING:
        share = 0.25
    elif signals.memory_type == "episodic":
        share = 0.75
    elif signals.memory_type == "tool_result":
        share = 0.65
    else:
        share = 0.625
    return share * left + (1 - share) * signals.importance


def _add(
    values: Mapping[str, float],
    weights: Mapping[str, float],
    relevance: float,
    relevant: bool = True,
    **shown: float,
) -> Scored:
    terms = {name: Term(value, weights[name], value * weights[name]) for name, value in values.items()}
    total = math.fsum(term.contribution for term in terms.values())
    # Shown terms explain without adding: a weight of 0 says so.
    terms.update({name: Term(value, 0.0, 0.0) for name, value in shown.items() if name not in terms})
    return Scored(total, terms, relevance, relevant)


def _decay_left(signals: Signals) -> float:
    return decay.access_decay(signals.idle_hours) if signals.fades else 1.0


def _recall(signals: Signals, weights: Mapping[str, float]) -> Scored:
    values = {"cosine": signals.cos, "actor": 1.0 if signals.actor else 0.0, "rest": type_mix(signals)}
    parts = {name: Term(value, weights[name], value * weights[name]) for name, value in values.items()}
    # Coverage counts by its square: a weak match of words must not drown the vector.
    parts["coverage"] = Term(signals.coverage, weights["coverage"], weights["coverage"] * signals.coverage**2)
    relevance = parts["coverage"].contribution + parts["cosine"].contribution + parts["actor"].contribution
    terms = {**parts, "decay": Term(_decay_left(signals), 0.0, 0.0)}
    if signals.cosine is None:
        del terms["cosine"]
    return Scored(relevance + parts["rest"].contribution, terms, relevance)


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


def _project(signals: Signals, _weights: Mapping[str, float]) -> Scored:
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
    return Scored(1 - distance, {name: Term(value, 1.0, 0.0) for name, value in factors.items()}, signals.relevance)


def lifecycle_weight(signals: Signals) -> float:
    """How much a memory weighs in its life cycle: importance, use, kind and layer."""
    importance = decay.fade_by_epochs(signals.importance, signals.kind, signals.epochs if signals.fades else 0.0)
    repeated = min(0.7, 0.17 * math.log(1 + signals.repetitions))
    accessed = min(0.55, 0.12 * math.log(1 + signals.accesses))
    return importance + repeated + accessed + KIND_BIAS[signals.kind] + LAYER_BIAS[signals.layer]


def _layer_recency(signals: Signals) -> float:
    return math.exp(-RECENCY_RATES[signals.layer] * max(signals.idle_hours, 0.0) / WEEK_HOURS)


def _lifecycle(signals: Signals, _weights: Mapping[str, float]) -> Scored:
    weight, recency = lifecycle_weight(signals), _layer_recency(signals)
    raw = signals.relevance * (1 + 0.4 * weight + 0.2 * recency)
    terms = {
        "relevance": Term(signals.relevance, 1.0, 0.0),
        "weight": Term(weight, 0.4, 0.0),
        "recency": Term(recency, 0.2, 0.0),
    }
    return Scored(math.tanh(raw), terms, signals.relevance)


def _lifecycle_linear(signals: Signals, weights: Mapping[str, float]) -> Scored:
    importance = decay.fade_by_epochs(signals.importance, signals.kind, signals.epochs if signals.fades else 0.0)
    values = {"relevance": signals.relevance, "importance": importance, "recency": _layer_recency(signals)}
    return _add(values, weights, signals.relevance)


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


def with_dual_hit(signals: Signals) -> Signals:
    """The same row with its relevance raised or held back by which channels found it (profile `lifecycle`)."""
    keyword = signals.keyword_relevance if signals.keyword_rank is not None else None
    return replace(signals, raised=dual_hit(signals.cosine, keyword))
