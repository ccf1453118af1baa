-- The SQL contract: views that anyone may build on. They run with the rights, and the tenant, of whoever asks.
create view engram.current_memories with (security_invoker = true) as
select m.tenant_id, s.namespace, s.agent_id, s.user_id, m.scope_id, m.memory_id, m.fact, m.memory_type, m.category, m.tags,
       m.importance, m.confidence, m.trust, m.layer, m.critical_slot, m.conflict_key, m.lineage_id, m.revision, m.valid_from,
       m.recorded_at, m.expires_at
  from engram.agent_memory m
  join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id
 where m.status = 'active' and m.consolidated_into is null
   and (m.expires_at is null or m.expires_at > clock_timestamp())
   and (m.ended_at is null or m.ended_at > clock_timestamp());

create function engram.memories_as_of(p_as_of timestamptz, p_known_at timestamptz default null)
returns table (tenant_id text, namespace text, agent_id text, user_id text, scope_id bigint, memory_id uuid, fact text,
  memory_type text, category text, tags text[], importance float8, confidence float8, trust smallint, layer text,
  critical_slot text, conflict_key text, lineage_id uuid, revision integer, valid_from timestamptz, recorded_at timestamptz,
  expires_at timestamptz)
language sql stable
as $$
  select m.tenant_id, s.namespace, s.agent_id, s.user_id, m.scope_id, m.memory_id, m.fact, m.memory_type, m.category, m.tags,
         m.importance, m.confidence, m.trust, m.layer, m.critical_slot, m.conflict_key, m.lineage_id, m.revision,
         m.valid_from, m.recorded_at, m.expires_at
    from engram.memories_at((select array_agg(x.scope_id) from engram.memory_scopes x), p_as_of, p_known_at) m
    join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id
   where m.status = 'active' and m.consolidated_into is null
     and (m.expires_at is null or m.expires_at > p_as_of) and (m.ended_at is null or m.ended_at > p_as_of)
$$;

create view engram.memory_lineage with (security_invoker = true) as
select m.tenant_id, m.scope_id, m.lineage_id, m.revision, m.memory_id, m.status, m.fact, m.valid_from, m.valid_to, m.recorded_at,
       m.superseded_at, m.superseded_by, m.status_reason as reason, m.actor
  from engram.agent_memory m;

create view engram.memory_timeline with (security_invoker = true) as
select c.tenant_id, c.scope_id, c.recorded_at as at, c.entry, c.memory_id, m.fact, c.previous_id, c.reason, c.actor, c.event_id
  from engram.memory_changes c
  left join engram.agent_memory m on m.tenant_id = c.tenant_id and m.memory_id = c.memory_id;

create view engram.conflicts with (security_invoker = true) as
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
 where r.relation_type = 'contradicts' and r.ended_at is null;

create view engram.critical_memories with (security_invoker = true) as
select c.tenant_id, c.scope_id, c.critical_slot, c.memory_id, c.fact,
       row_number() over (partition by c.tenant_id, c.scope_id order by coalesce(array_position(
         array['profile', 'constraint', 'preference', 'project', 'task', 'decision', 'tool_result'], c.memory_type), 8),
         c.recorded_at desc, c.memory_id) as "order"
  from engram.current_memories c
 where c.critical_slot is not null;

create view engram.derivation_backlog with (security_invoker = true) as
select j.tenant_id, j.scope_id, j.stream_id, j.kind, min(j.position) as position, s.position as head, count(*) as behind,
       clock_timestamp() - min(j.created_at) as oldest_age, j.state, max(j.error_class) as last_error
  from engram.memory_jobs j
  join engram.event_streams s on s.tenant_id = j.tenant_id and s.stream_id = j.stream_id
 where j.state in ('queued', 'running', 'paused', 'dead')
 group by j.tenant_id, j.scope_id, j.stream_id, j.kind, s.position, j.state;

create view engram.scope_stats with (security_invoker = true) as
select m.tenant_id, m.scope_id, m.status, m.layer, count(*) as memories, count(*) filter (where m.critical_slot is not null) as critical,
       count(*) filter (where m.embed_state = 'pending') as unembedded, max(m.recorded_at) as last_write
  from engram.agent_memory m
 group by m.tenant_id, m.scope_id, m.status, m.layer;
