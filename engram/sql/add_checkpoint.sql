-- A new checkpoint; a version is given once.
INSERT INTO engram.agent_checkpoints (tenant_id, task_run_id, version, checkpoint_id, scope_id, stream_id, position, body, sha256,
    source_event_ids, based_on, trust, made_by, prompt_hash, event_id, recorded_at)
VALUES (%(tenant_id)s, %(task_run_id)s, %(version)s, %(checkpoint_id)s, %(scope_id)s, %(stream_id)s, %(position)s, %(body)s,
    %(sha256)s, %(source_event_ids)s::uuid[], %(based_on)s, %(trust)s, %(made_by)s, %(prompt_hash)s, %(event_id)s, %(at)s)
