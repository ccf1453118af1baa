"""Calibrating the embedding model of a tenant: what its cosines mean, measured and kept in its row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from engram import gates, inputs
from engram.channels import semantic
from engram.database import Connection, Jsonb, execute
from engram.embedding import calibrating
from engram.errors import Conflict, ModelRejected, Unavailable
from engram.lifecycle import links, thresholds, topics
from engram.operations import spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scales import Scale
from engram.values import Calibration

# The thresholds that are cosines, and those that are distances; what is left is words, deviations and surprise.
COSINES: Final = (
    "near", "insert_dedup", "captured_dedup", "insert_merge", "dedup_cosine", "absorb", "merge", "merge_text",
    "merge_other_type", "reconcile_min", "reconcile_max", "audit_min", "audit_max", "core_overlap", "triage_dedup",
    "cluster", "redundant", "topic_redundant",
)  # fmt: skip
DISTANCES: Final = ("conflict_distance", "conflict_distance_default", "link_distance")
TOGETHER: Final = 0.3  # the cosine of two members of a topic, about


def fall_back() -> tuple[dict[str, float], dict[str, float]]:
    """The thresholds of the local model that are cosines, and those that are distances. Pure."""
    rooms: tuple[Any, ...] = (gates.Thresholds(), thresholds.Thresholds(), links.Limits(), topics.Limits())
    known = {name: value for room in rooms for name, value in asdict(room).items()}
    return {name: known[name] for name in COSINES}, {name: known[name] for name in DISTANCES}


def on_the_scale(scale: Scale) -> dict[str, float]:
    """All thresholds where they are by a model of this scale, and the scale itself. Pure."""
    return calibrating.on_the_scale(scale, *fall_back()) | _of_topics(scale)


def _of_topics(scale: Scale) -> dict[str, float]:
    """The thresholds of topics, which go by means of vectors: those keep the direction that all have in common. Pure.

    Of members that have a cosine of `TOGETHER`, a mean has that as its square; with the shared direction it is longer.
    """
    limits, shared, own = topics.LIMITS, scale.shared, 1 - scale.shared
    square = TOGETHER * own + shared

    def to_a_mean(cosine: float) -> float:
        return (cosine * math.sqrt(TOGETHER) * own + shared) / math.sqrt(square)

    found = {
        "topic_assign": to_a_mean(limits.topic_assign),
        "topic_absorb": to_a_mean(limits.topic_absorb),
        "topic_merge": (limits.topic_merge * TOGETHER * own + shared) / square,
        "topic_inner": math.sqrt(limits.topic_inner**2 * own + shared),
    }
    return {name: round(value, calibrating.DIGITS) for name, value in found.items()}


def calibrate(setup: Setup, pairs: object, *, keep: object) -> Operation[Calibration]:
    """Measure the tenant's model over pairs of texts, and keep what its thresholds are from then on."""
    given = calibrating.built_in() if pairs is None else calibrating.checked_pairs(pairs)
    keeps = inputs.flag(keep, "keep")
    tenant = setup.scope.tenant_id
    active = yield from steps.read(tenant, lambda conn: semantic.active_model(conn, tenant))
    setup = yield from spaces.ready_for(setup, tenant, None if active is None else active.model_id)
    embedder = setup.embedder
    if embedder is None:
        raise Unavailable("there is no embedding model to calibrate")
    measure: Callable[[], calibrating.Measured] = lambda: calibrating.measure(embedder, given)  # noqa: E731
    measured = yield from steps.think(measure)
    if not measured.scale.has_order:
        raise ModelRejected(
            f"by {embedder.name} what says the same is hardly nearer than what does not: give it pairs in a language"
            " that it reads, about things that have nothing to do with each other",
            reason="no_order",
        )
    told = on_the_scale(measured.scale)

    def effect(conn: Connection) -> bool:
        active, _ = semantic.ensure_model(conn, tenant, embedder)
        if active is None or active.model_id != embedder.model_id:
            return False
        return execute(conn, "keep_thresholds", tenant_id=tenant, model_id=active.model_id, thresholds=Jsonb(told)) == 1

    if keeps and not (yield from steps.write(tenant, effect, key="calibrate")):
        if setup.embedders is not None:
            setup.embedders.forget(tenant)
        raise Conflict("the tenant's embedding model was changed meanwhile: calibrate the one that it has now")
    return Calibration(
        embedder.name, embedder.dimensions, len(given), measured.scale.unrelated, measured.scale.spread,
        measured.scale.alike, round(measured.first, 3), told, keeps,
    )  # fmt: skip
