-- Begin a run of the life cycle; it is there already where a run is taken up again.
INSERT INTO engram.lifecycle_runs (tenant_id, run_id, scope_id, parent_id, step, reason, actor)
VALUES (%(tenant_id)s, %(run_id)s, %(scope_id)s, %(parent_id)s, %(step)s, %(reason)s, %(actor)s)
ON CONFLICT (tenant_id, run_id) DO NOTHING
