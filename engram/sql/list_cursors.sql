-- How far derivers have come in streams. One version goes on where another stood, a newer or, where two releases run side by side, an
-- older one: what came earlier is a replay's.
SELECT s.stream_id::text, w.deriver, w.version,
       coalesce((SELECT max(d.position) FROM engram.derivations d
                  WHERE d.tenant_id = engram.current_tenant() AND d.stream_id = s.stream_id AND d.deriver = w.deriver), 0) AS position
  FROM unnest(%(stream_ids)s::uuid[]) s (stream_id)
 CROSS JOIN unnest(%(derivers)s::text[], %(versions)s::integer[]) w (deriver, version)
