-- Start the counters of a memory.
INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id) VALUES (%(tenant_id)s, %(memory_id)s, %(scope_id)s)
