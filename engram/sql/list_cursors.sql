-- How far derivers have come in streams. A new version goes on where the one before it stood: what came earlier is a replay's.
SELECT s.stream_id::text, w.deriver, w.version,
       coalesce((SELECT max(d.position) FROM engram.derivations d
                  WHERE d.tenant_id = engram.current_tenant() AND d.stream_id = s.stream_id AND d.deriver = w.deriver
                    AND d.version <= w.version), 0) AS position
  FROM unnest(%(stream_ids)s::uuid[]) s (stream_id)
 CROSS JOIN unnest(%(derivers)s::text[], %(versions)s::integer[]) w (deriver, version)
