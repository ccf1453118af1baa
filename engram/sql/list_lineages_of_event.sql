-- The lineages of the memories that were made of an event, or by a model that read other events beside it, and of those it only changed;
-- and what guards them.
SELECT m.lineage_id::text, m.scope_id, m.conflict_key, bool_or(g.made) AS made
  FROM (SELECT o.memory_id, true AS made FROM engram.agent_memory o
         WHERE o.tenant_id = %(tenant_id)s
           AND o.event_id = ANY (%(event_id)s::uuid || %(beside)s::uuid[])
           AND (o.event_id = %(event_id)s::uuid OR o.deriver = 'llm' OR EXISTS (SELECT FROM engram.memory_sources a
                  WHERE a.tenant_id = o.tenant_id AND a.memory_id = o.memory_id AND a.event_id = %(event_id)s::uuid AND a.ordinal >= 10000))
         UNION ALL
        SELECT c.memory_id, false FROM engram.memory_changes c
         WHERE c.tenant_id = %(tenant_id)s AND c.event_id = %(event_id)s::uuid) g
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = g.memory_id
 GROUP BY m.lineage_id, m.scope_id, m.conflict_key
 ORDER BY 1
