-- Mark done some of the queued jobs of streams whose event has been read by every deriver that waits for it.
SELECT engram.finish_derived_jobs(%(stream_ids)s::uuid[], %(uptos)s::bigint[], 1000)
