-- The newest of some events of each stream that the language model has yet to read; no further back than asked, since without
-- a model nothing moves its cursor.
SELECT s.stream_id::text, e.position
  FROM unnest(%(stream_ids)s::uuid[], %(afters)s::bigint[], %(uptos)s::bigint[]) s (stream_id, after, upto)
 CROSS JOIN LATERAL (
   SELECT max(x.position) AS position
     FROM engram.agent_events x
    WHERE x.tenant_id = engram.current_tenant() AND x.stream_id = s.stream_id AND 'llm' = ANY (x.derive)
      AND x.position > s.after AND (s.upto IS NULL OR x.position <= s.upto)
      AND x.position > coalesce((SELECT d.position FROM engram.derivations d
                                  WHERE d.tenant_id = x.tenant_id AND d.stream_id = x.stream_id AND d.deriver = 'llm'
                                    AND d.version = %(version)s), 0)) e
 WHERE e.position IS NOT NULL
