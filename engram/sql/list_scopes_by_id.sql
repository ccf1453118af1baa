-- Scopes by their numbers. One by one: of a list the planner would guess that reading the whole tenant is as cheap.
SELECT s.scope_id, s.namespace, s.agent_id, s.user_id
  FROM unnest(%(scope_ids)s::bigint[]) g (scope_id)
 CROSS JOIN LATERAL (
       SELECT o.scope_id, o.namespace, o.agent_id, o.user_id
         FROM engram.memory_scopes o
        WHERE o.tenant_id = %(tenant_id)s AND o.scope_id = g.scope_id
       OFFSET 0) s
