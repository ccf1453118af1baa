"""Calibrating the embedding model of a tenant: what its cosines mean, measured and kept in its row."""

from __future__ import annotations

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
from engram.values import Calibration

# The thresholds that are cosines, and those that are distances; what is left is words, deviations and surprise.
COSINES: Final = (
    "near", "insert_dedup", "captured_dedup", "insert_merge", "dedup_cosine", "absorb", "merge", "merge_text",
    "merge_other_type", "reconcile_min", "reconcile_max", "audit_min", "audit_max", "core_overlap", "triage_dedup",
    "cluster", "redundant", "topic_assign", "topic_merge", "topic_inner", "topic_absorb", "topic_redundant",
)  # fmt: skip
DISTANCES: Final = ("conflict_distance", "conflict_distance_default", "link_distance")


def fall_back() -> tuple[dict[str, float], dict[str, float]]:
    """The thresholds of the local model that are cosines, and those that are distances. Pure."""
    rooms: tuple[Any, ...] = (gates.Thresholds(), thresholds.Thresholds(), links.Limits(), topics.Limits())
    known = {name: value for room in rooms for name, value in asdict(room).items()}
    return {name: known[name] for name in COSINES}, {name: known[name] for name in DISTANCES}


def calibrate(setup: Setup, pairs: object, *, keep: object) -> Operation[Calibration]:
    """Measure the tenant's model over pairs of texts, and keep what its thresholds are from then on."""
    given = calibrating.built_in() if pairs is None else calibrating.checked_pairs(pairs)
    keeps = inputs.flag(keep, "keep")
    tenant = setup.scope.tenant_id
    setup = yield from spaces.ready(setup, tenant)
    embedder = setup.embedder
    if embedder is None:
        raise Unavailable("there is no embedding model to calibrate")
    measure: Callable[[], calibrating.Measured] = lambda: calibrating.measure(embedder, given)  # noqa: E731
    measured = yield from steps.think(measure)
    if not measured.scale.has_order:
        raise ModelRejected(
            f"by {embedder.name} what says the same is no nearer than what does not: give it pairs in its own language",
            reason="no_order",
        )
    told = calibrating.on_the_scale(measured.scale, *fall_back())

    def effect(conn: Connection) -> bool:
        active, _ = semantic.ensure_model(conn, tenant, embedder)
        if active is None or active.model_id != embedder.model_id:
            return False
        return execute(conn, "keep_thresholds", tenant_id=tenant, model_id=active.model_id, thresholds=Jsonb(told)) == 1

    if keeps and not (yield from steps.write(tenant, effect, key="calibrate")):
        raise Conflict("the tenant's embedding model was changed meanwhile: calibrate the one that it has now")
    return Calibration(
        embedder.name, embedder.dimensions, len(given), measured.scale.unrelated, measured.scale.spread,
        measured.scale.alike, round(measured.first, 3), told, keeps,
    )  # fmt: skip
