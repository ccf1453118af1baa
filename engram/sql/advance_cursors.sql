-- Move derivers' cursors, those that are still where the caller saw them.
WITH moves AS MATERIALIZED (
  SELECT g.stream_id, g.deriver, g.version, g.old, g.new
    FROM unnest(%(stream_ids)s::uuid[], %(derivers)s::text[], %(versions)s::integer[], %(olds)s::bigint[], %(news)s::bigint[])
         g (stream_id, deriver, version, old, new))
INSERT INTO engram.derivations AS d (tenant_id, stream_id, deriver, version, position)
SELECT engram.current_tenant(), m.stream_id, m.deriver, m.version, m.new
  FROM moves m
 WHERE m.old = (SELECT coalesce(max(x.position), 0) FROM engram.derivations x
                 WHERE x.tenant_id = engram.current_tenant() AND x.stream_id = m.stream_id AND x.deriver = m.deriver)
 ORDER BY m.stream_id, m.deriver
ON CONFLICT (tenant_id, stream_id, deriver, version) DO UPDATE
   SET position = excluded.position
 WHERE d.position <= (SELECT m.old FROM moves m
                       WHERE m.stream_id = excluded.stream_id AND m.deriver = excluded.deriver AND m.version = excluded.version)
