-- Put memories of a scope into topics; those whose topic stays are not written.
INSERT INTO engram.memory_topic_members AS k (tenant_id, scope_id, memory_id, topic_id)
SELECT %(tenant_id)s, %(scope_id)s, s.memory_id, s.topic_id
  FROM unnest(%(memory_ids)s::uuid[], %(topic_ids)s::integer[]) s(memory_id, topic_id)
    ON CONFLICT (tenant_id, scope_id, memory_id) DO UPDATE SET topic_id = excluded.topic_id
    WHERE k.topic_id IS DISTINCT FROM excluded.topic_id
