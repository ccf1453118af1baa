-- Queue a cycle for every scope that was written to.
SELECT engram.queue_cycles()
