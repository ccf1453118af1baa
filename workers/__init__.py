"""The workers under Dramatiq's own command: `dramatiq workers` from a checkout, `dramatiq engram.workers` elsewhere.

A ring over Redis wakes the service of the process; the jobs themselves are rows, found by polling too. `engram worker`
is the same without Dramatiq's command, and without Redis where there is none.
"""

from .actors import broker, ring

__all__ = ["broker", "ring"]
