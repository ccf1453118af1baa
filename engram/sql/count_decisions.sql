-- How often a projection decided what, by which rule, about which type of memory; evidence is not judged, and counts for nothing.
SELECT c.decision->>'kind' AS kind, c.decision->>'rule' AS rule, m.memory_type, count(*)::integer AS decisions
  FROM engram.memory_changes c
  LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.decision IS NOT NULL
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk') AND coalesce(m.deriver, '') <> %(model)s
   AND (%(since)s::timestamptz IS NULL OR c.recorded_at > %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR c.recorded_at < %(until)s::timestamptz)
 GROUP BY 1, 2, 3
 ORDER BY 1, 2, 3
