-- Pairs of like memories, judged or not, the most alike first.
SELECT p.low_id::text, p.high_id::text, p.similarity
  FROM engram.memory_pairs p
  JOIN engram.agent_memory m ON m.tenant_id = p.tenant_id AND m.memory_id = p.low_id
  JOIN engram.agent_memory o ON o.tenant_id = p.tenant_id AND o.memory_id = p.high_id
 WHERE p.tenant_id = %(tenant_id)s AND p.scope_id = %(scope_id)s AND p.model_id = %(model_id)s AND p.similarity >= %(least)s
   AND /*taking part*/
   AND o.status = 'active' AND NOT o.moot AND o.consolidated_into IS NULL AND o.critical_slot IS NULL AND NOT o.private
 ORDER BY p.similarity DESC, p.low_id, p.high_id
 LIMIT %(limit)s
