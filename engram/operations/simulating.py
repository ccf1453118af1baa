"""Simulating: what a policy would have made of past events, derived beside the live memories, compared, and dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from engram import ids, inputs
from engram.database import Connection, fetch_all, fetch_value
from engram.derivation import llm
from engram.errors import InvalidInput
from engram.lifecycle.deeds import NEW
from engram.operations import extracting, replaying, steps
from engram.operations.replaying import Shadow
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.values import PolicyReport

RULED: Final = tuple(name for name in replaying.NAMES if name != llm.NAME)
SILENCE: Final = timedelta(minutes=10)  # after which a simulation that took no step was killed
ASKED: Final = (extracting.COMPONENT, extracting.ADJUDICATE)


def simulate_policy(
    setup: Setup, policy: object, *, since: object, until: object, given: Mapping[str, Any]
) -> Operation[PolicyReport]:
    """Run a policy over the scope's past events in a shadow that nobody sees, and say how it would have decided."""
    scope = setup.reading(given).scope.for_write()
    start, end = inputs.optional(inputs.moment, since, "since"), inputs.optional(inputs.moment, until, "until")
    if start is not None and end is not None and end <= start:
        raise InvalidInput("until", "a time after since", "one that is not")
    setup = replace(setup, policy=replaying.policy_named(setup, policy), llm=None)
    call = Writing(scope)
    shadow = yield from steps.write(
        scope.tenant_id, lambda conn: _opened(conn, call, replaying.label(setup.policy), start), key="simulate"
    )
    try:
        yield from replaying.catch_up(setup, shadow, None, until=end)
        report = yield from steps.read(scope.tenant_id, lambda conn: _report(setup, conn, shadow, start, end))
    except Exception:
        yield from _dropped(call, shadow)
        raise
    yield from _dropped(call, shadow)
    return report


def _opened(conn: Connection, call: Writing, policy: str, since: datetime | None) -> Shadow:
    """A shadow of its own, under a name by which it is known for one; those of simulations that were killed go."""
    scope_id = replaying.scope_id_of(conn, call.scope)
    replaying.lock_out(conn, call.tenant_id, scope_id)
    names = [ids.id_of(NEW, call.tenant_id, scope_id, "simulation", number) for number in range(replaying.MOST)]
    now = fetch_value(conn, "read_clock")
    taken = set()
    for shadow in replaying.shadows(conn, call.scope, scope_id):
        if shadow.name in names and now - shadow.changed_at > SILENCE:
            replaying.drop_shadow(conn, call, shadow.name)
        else:
            taken.add(shadow.name)
    free = next((name for name in names if name not in taken), ids.new_id())
    return replaying.begun(conn, call.scope, policy, RULED, since, named=free)


def _dropped(call: Writing, shadow: Shadow) -> Operation[int]:
    return (
        yield from steps.write(
            call.tenant_id, lambda conn: replaying.drop_shadow(conn, call, shadow.name), key="simulate"
        )
    )


def _report(
    setup: Setup, conn: Connection, shadow: Shadow, since: datetime | None, until: datetime | None
) -> PolicyReport:
    asked = {"tenant_id": shadow.scope.tenant_id, "until": until}
    live = {"scope_id": shadow.scope_id, "model": llm.NAME}
    apart = {row.memory_id for row in fetch_all(conn, "list_uncompared", **asked, **live)}
    diff = replaying.compared(conn, shadow, apart)
    timed = asked | {"since": since, "model": llm.NAME}
    made = fetch_all(conn, "count_decisions", scope_id=shadow.shadow_id, **timed)
    had = fetch_all(conn, "count_decisions", scope_id=shadow.scope_id, **timed)
    calls = fetch_all(
        conn, "sum_past_calls", scope_id=shadow.scope_id, since=since, components=_components(setup), **asked
    )
    now = replaying.shadow_named(conn, shadow.scope, shadow.name)
    return PolicyReport(
        policy=shadow.policy, since=since, until=until, steps=now.steps,
        decisions=_summed(made, "kind"), rules=_summed(made, "rule"), types=_summed(made, "memory_type"),
        stored=_summed(had, "kind"), added=diff.added, dropped=diff.dropped, changed=diff.changed,
        counts=diff.counts, problems=diff.problems, calls=sum(row.calls for row in calls),
        cost=sum((Decimal(row.cost) for row in calls), Decimal(0)),
    )  # fmt: skip


def _components(setup: Setup) -> list[str]:
    """The components that would ask a language model again; the policy may have switched them off."""
    return [name for name in ASKED if setup.policy.llm.get(name) != "off"]


def _summed(rows: Any, column: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        name = getattr(row, column)
        if name is not None:
            found[name] = found.get(name, 0) + row.decisions
    return dict(sorted(found.items()))
