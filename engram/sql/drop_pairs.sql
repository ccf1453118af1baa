-- Forget open pairs of which one is not current any more; should it come back, it is looked at again.
WITH gone AS (
  SELECT p.low_id, p.high_id, p.model_id, x.memory_id
    FROM engram.memory_pairs p
   CROSS JOIN LATERAL (
         SELECT m.memory_id FROM engram.agent_memory m
          WHERE m.tenant_id = p.tenant_id AND m.memory_id IN (p.low_id, p.high_id)
            AND (m.status <> 'active' OR m.consolidated_into IS NOT NULL) LIMIT 1) x
   WHERE p.tenant_id = %(tenant_id)s AND p.scope_id = %(scope_id)s AND p.model_id = %(model_id)s AND p.verdict IS NULL
   LIMIT %(limit)s),
dropped AS (
  DELETE FROM engram.memory_pairs p USING gone g
   WHERE p.tenant_id = %(tenant_id)s AND p.low_id = g.low_id AND p.high_id = g.high_id AND p.model_id = g.model_id),
unlooked AS (
  DELETE FROM engram.memory_looks l USING gone g
   WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = %(scope_id)s AND l.memory_id = g.memory_id AND l.model_id = g.model_id)
SELECT count(*) AS dropped FROM gone
