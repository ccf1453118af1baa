-- What the gates need to know of a candidate: its exact twins, the head and lineage of its key, and how many rows share its type.
SELECT (SELECT jsonb_agg(jsonb_build_object('memory_id', m.memory_id, 'conflict_key', m.conflict_key, 'valid_from', m.valid_from,
                                            'trust', m.trust))
          FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.fact_hash = %(fact_hash)s AND m.status = 'active'
           AND (m.expires_at IS NULL OR m.expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()))
           AND (m.ended_at IS NULL OR m.ended_at > coalesce(%(now)s::timestamptz, clock_timestamp())) AND m.private = %(private)s
           AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')) AS exact,
       (SELECT jsonb_build_object('memory_id', m.memory_id, 'fact', m.fact, 'trust', m.trust, 'importance', m.importance,
                                  'gone', coalesce(m.ended_at <= coalesce(%(now)s::timestamptz, clock_timestamp()), false) OR coalesce(m.expires_at <= coalesce(%(now)s::timestamptz, clock_timestamp()), false))
          FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.conflict_key = %(conflict_key)s::text
           AND m.status = 'active' AND NOT m.moot) AS head,
       (SELECT m.lineage_id::text FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.conflict_key = %(conflict_key)s::text
           AND m.status <> 'quarantined' LIMIT 1) AS lineage_id,
       (SELECT count(*) FROM (
          SELECT 1 FROM engram.agent_memory m
           WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_type = %(memory_type)s
             AND m.status = 'active' AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk') LIMIT 1000) AS alike) AS same_type
