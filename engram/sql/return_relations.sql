-- Let the relations to memories of other scopes that a projection took along come back with it: its ids are those of live memories again.
WITH came AS MATERIALIZED (
  SELECT m.memory_id AS now, engram.redigit(m.memory_id, '7', %(digit)s) AS before
    FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s),
told AS (
  UPDATE engram.memory_relations r SET source_id = came.now FROM came
   WHERE r.tenant_id = %(tenant_id)s AND r.source_id = came.before)
UPDATE engram.memory_relations r SET target_id = came.now FROM came
 WHERE r.tenant_id = %(tenant_id)s AND r.target_id = came.before
