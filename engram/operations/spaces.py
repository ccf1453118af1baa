"""Which model an operation embeds with: the one its tenant uses, recognised at a process's first use of it."""

from __future__ import annotations

from dataclasses import replace

from engram.channels import semantic
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation


def ready(setup: Setup, tenant_id: str) -> Operation[Setup]:
    """The setup with the embedder of a tenant's model. The first time it is looked up and probed; later it is known.

    A model that this process lacks, or that is not what it was, becomes an embedder that says so when it is asked.
    """
    embedders = setup.embedders
    if setup.embedder is None or embedders is None:
        return setup
    known = embedders.of(tenant_id)
    if known is None:
        model = yield from steps.read(tenant_id, lambda conn: semantic.active_model(conn, tenant_id))
        known = yield from steps.think(lambda: embedders.adopt(tenant_id, model))
    return replace(setup, embedder=known)


def ready_for(setup: Setup, tenant_id: str, model_id: int | None) -> Operation[Setup]:
    """The setup with the embedder of the model that a tenant was just seen to use; None before its first memory."""
    if setup.embedders is None or model_id is None:
        return setup
    known = setup.embedders.of(tenant_id)
    if known is not None and known.model_id == model_id:
        return setup if known is setup.embedder else replace(setup, embedder=known)
    setup.embedders.forget(tenant_id)
    return (yield from ready(setup, tenant_id))
