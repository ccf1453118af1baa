"""Jobs laid out for worker processes, and the looks at them that the tests take from outside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import psycopg

from engram import Engram, Scope
from engram.embedded import EmbeddedServer
from engram.settings import load

SAYS = ("I live in Ottawa. My dog is called Rex.", "I moved to Toronto. I no longer have a dog.")


@dataclass
class Table:
    """A tenant whose jobs wait for workers, and the looks at it that the tests take."""

    server: EmbeddedServer
    tenant: str

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.server.url(), "ENGRAM_EMBEDDING_MODEL": "none", "ENGRAM_POOL_SIZE": "4"}

    def door(self, tenant: str, dispatch: str, redis_url: str | None = None) -> Engram:
        settings = load({}, dispatch=dispatch, embedding_model="none", pool_size=2, redis_url=redis_url)
        return Engram(self.server.url(), scope=Scope(tenant), settings=settings)

    def lay(self, many: int, *, says: tuple[str, ...] = SAYS, tenant: str | None = None) -> None:
        """Jobs for workers: several events a user, one job an event."""
        with self.door(tenant or self.tenant, "doorbell") as door:
            for number in range(many // len(says)):
                for said in says:
                    door.remember(said, user_id=f"user{number}")

    def rows(self, query: str, *params: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
            return conn.execute(query.encode(), params).fetchall()

    def states(self) -> dict[str, int]:
        counted = "select state, count(*) from engram.memory_jobs where tenant_id = %s and kind = any (%s) group by 1"
        found = self.rows(counted, self.tenant, ["derive", "dream"])
        return {str(state): int(str(count)) for state, count in found}

    def done(self) -> bool:
        """Whether every job is done; pauses of minutes between many failures are cut short."""
        with suppress(psycopg.OperationalError):
            self.rows("update engram.memory_jobs set run_at = clock_timestamp() where state = 'queued'"
                      " and tenant_id = %s and run_at > clock_timestamp() + interval '1 second' returning 1",
                      self.tenant)  # fmt: skip
            return set(self.states()) == {"done"}
        return False

    def patient(self) -> None:
        """Let a job lose as many workers as this test kills."""
        self.rows("update engram.memory_jobs set max_attempts = 1000 where tenant_id = %s returning 1", self.tenant)

    def memories(self, tenant: str) -> dict[str, list[tuple[object, ...]]]:
        """What each user's memory is: facts, states, revisions, and where each came from."""
        found = self.rows(
            "select s.user_id, m.fact, m.status, m.revision, m.deriver, e.position, x.ordinal"
            " from engram.agent_memory m join engram.memory_scopes s using (tenant_id, scope_id)"
            " left join engram.memory_sources x using (tenant_id, memory_id)"
            " left join engram.agent_events e on e.tenant_id = x.tenant_id and e.event_id = x.event_id"
            " where m.tenant_id = %s order by 1, 6, 5, 7, 2",
            tenant,
        )
        users: dict[str, list[tuple[object, ...]]] = {}
        for user, *rest in found:
            users.setdefault(str(user), []).append(tuple(rest))
        return users

    def check(self, many: int, *, says: tuple[str, ...] = SAYS) -> None:
        """0 lost, 0 doubled, 0 partial: each user's memory is what one undisturbed derivation makes of the words."""
        with self.door(f"{self.tenant}-model", "inline") as door:
            for said in says:
                door.remember(said, user_id="user0")
        [model] = self.memories(f"{self.tenant}-model").values()
        found = self.memories(self.tenant)
        assert len(model) > len(says)
        assert len(found) == many // len(says)
        wrong = {user: memory for user, memory in found.items() if memory != model}
        assert wrong == {}, f"{len(wrong)} of {len(found)} users differ"
