-- The streams of an export: how far each has come, how far it is derived, and what jobs still wait for it.
SELECT s.scope_id,
       json_build_object('stream_id', s.stream_id, 'type', s.kind, 'name', s.name, 'position', s.position, 'created_at', s.created_at,
         'derived', (SELECT coalesce(json_agg(json_build_object('deriver', d.deriver, 'version', d.version, 'position', d.position)
                                              ORDER BY d.deriver COLLATE "C", d.version), '[]')
                       FROM engram.derivations d WHERE d.tenant_id = s.tenant_id AND d.stream_id = s.stream_id),
         'waiting', (SELECT coalesce(json_agg(json_build_object('job', j.kind, 'position', j.position)
                                              ORDER BY j.kind COLLATE "C"), '[]')
                       FROM (SELECT w.kind, min(w.position) AS position FROM engram.memory_jobs w
                              WHERE w.tenant_id = s.tenant_id AND w.stream_id = s.stream_id AND w.kind = ANY(%(jobs)s)
                                AND w.state IN ('queued', 'running', 'paused', 'dead') AND w.position IS NOT NULL
                              GROUP BY w.kind) j)) AS line
  FROM engram.event_streams s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s)
 ORDER BY s.stream_id
