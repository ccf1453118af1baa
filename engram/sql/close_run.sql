-- Say how far a run has come, and what the key of its caller stands for from now on.
UPDATE engram.lifecycle_runs
   SET steps = %(steps)s, failed_steps = %(failed_steps)s, finished = %(finished)s,
       cycle = CASE WHEN %(asked)s::text IS NULL THEN cycle ELSE jsonb_build_object('asked', %(asked)s::text) END
 WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
