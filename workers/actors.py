"""The broker of this process, the actor that hears rings, and the service beside it."""

from __future__ import annotations

from typing import Final

import dramatiq

from engram import dispatch
from engram.errors import SettingsError
from engram.service import Service
from engram.settings import load

SETTINGS: Final = load()
if SETTINGS.redis_url is None:
    raise SettingsError("REDIS_URL: Dramatiq needs one; `engram worker` needs none", name="redis_url")

broker: Final = dispatch.broker(SETTINGS.redis_url.get_secret_value(), dispatch.LISTENING)
dramatiq.set_broker(broker)
service: Service | None = None


def wake() -> None:
    """Let the workers of this process look for jobs."""
    if service is not None:
        service.worker.wake()


ring: Final = dispatch.add_actor(broker, wake)


class Beside(dramatiq.Middleware):
    """Starts the service with Dramatiq's worker, with as many threads, and stops it before."""

    def after_worker_boot(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:  # noqa: ARG002
        """Begin to work."""
        global service
        service = Service(SETTINGS, worker.worker_threads, listens=False)
        service.start()

    def before_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:  # noqa: ARG002
        """Finish what has begun, and give back the rest."""
        if service is not None:
            service.stop()


broker.add_middleware(Beside())
