-- What two scopes say of one thing is a conflict where neither hides the other: a reader of both is told both (S-5).
create or replace view engram.conflicts with (security_invoker = true) as
select m.tenant_id, m.scope_id, 'contested' as kind, m.memory_id, h.memory_id as other_id, m.fact, h.fact as other_fact, m.trust,
       h.trust as other_trust, m.recorded_at as since
  from engram.agent_memory m
  join engram.agent_memory h on h.tenant_id = m.tenant_id and h.lineage_id = m.lineage_id and h.status = 'active'
 where m.status = 'contested'
union all
select a.tenant_id, a.scope_id, 'contradicts', a.memory_id, b.memory_id, a.fact, b.fact, a.trust, b.trust, r.recorded_at
  from engram.memory_relations r
  join engram.agent_memory a on a.tenant_id = r.tenant_id and a.memory_id = r.source_id and a.status = 'active'
  join engram.agent_memory b on b.tenant_id = r.tenant_id and b.memory_id = r.target_id and b.status = 'active'
 where r.relation_type = 'contradicts' and r.ended_at is null
union all
-- Both are read by whoever reads the user and the namespace that either names; the nearer is of the user before the agent, then
-- of a namespace before the default one, and hides the farther unless that is trusted more.
select n.tenant_id, n.scope_id, 'cross_scope', n.memory_id, f.memory_id, n.fact, f.fact, n.trust, f.trust,
       greatest(n.recorded_at, f.recorded_at)
  from engram.current_memories n
  join engram.current_memories f
    on f.tenant_id = n.tenant_id and f.agent_id = n.agent_id and f.conflict_key = n.conflict_key and f.trust < n.trust
   and (n.user_id = f.user_id or n.user_id is null or f.user_id is null)
   and (n.namespace = f.namespace or 'default' in (n.namespace, f.namespace))
   and (n.user_id is null, n.namespace = 'default') < (f.user_id is null, f.namespace = 'default')
 where lower(n.fact) <> lower(f.fact);
