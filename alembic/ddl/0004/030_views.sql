-- Chunks are no facts in the views of revisions, changes and counts either.
create or replace view engram.memory_lineage with (security_invoker = true) as
select m.tenant_id, m.scope_id, m.lineage_id, m.revision, m.memory_id, m.status, m.fact, m.valid_from, m.valid_to, m.recorded_at,
       m.superseded_at, m.superseded_by, m.status_reason as reason, m.actor
  from engram.agent_memory m
  join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id and s.shelf_of is null;

create or replace view engram.memory_timeline with (security_invoker = true) as
select c.tenant_id, c.scope_id, c.recorded_at as at, c.entry, c.memory_id, m.fact, c.previous_id, c.reason, c.actor, c.event_id
  from engram.memory_changes c
  join engram.memory_scopes s on s.tenant_id = c.tenant_id and s.scope_id = c.scope_id and s.shelf_of is null
  left join engram.agent_memory m on m.tenant_id = c.tenant_id and m.memory_id = c.memory_id;

create or replace view engram.scope_stats with (security_invoker = true) as
select m.tenant_id, m.scope_id, m.status, m.layer, count(*) as memories, count(*) filter (where m.critical_slot is not null) as critical,
       count(*) filter (where m.embed_state = 'pending') as unembedded, max(m.recorded_at) as last_write
  from engram.agent_memory m
  join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id and s.shelf_of is null
 group by m.tenant_id, m.scope_id, m.status, m.layer;
