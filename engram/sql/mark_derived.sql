-- Note at streams how far they have been read. What need not be durable waits for no disk: what a crash loses of it is noted with
-- what is read next.
SELECT engram.mark_derived(%(stream_ids)s::uuid[])
  FROM set_config('synchronous_commit', CASE WHEN %(durable)s THEN current_setting('synchronous_commit') ELSE 'off' END, true)
