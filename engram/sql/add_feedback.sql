-- Keep which memories a call rated, how, and of which recall.
INSERT INTO engram.memory_feedback (tenant_id, run_id, scope_id, value, memory_ids, recall_id)
VALUES (%(tenant_id)s, %(run_id)s::uuid, %(scope_id)s, %(value)s, %(memory_ids)s::uuid[], %(recall_id)s::uuid)
