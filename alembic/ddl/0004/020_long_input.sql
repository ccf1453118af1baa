-- Long inputs. A document has a stream of its own, so that no conversation waits behind it; its chunks are memories on a shelf,
-- a scope beside the scope they belong to, so that no search, count or gate comes upon them unless it asks for shelves.
alter table engram.event_streams
  drop constraint event_streams_kind_check,
  add constraint event_streams_kind_check check (kind in ('session', 'task', 'scope', 'document'));

alter table engram.memory_scopes
  add column shelf_of bigint,
  add foreign key (tenant_id, shelf_of) references engram.memory_scopes,
  add check (shelf_of is null or (scope_id > 0 and shelf_of > 0));

comment on column engram.memory_scopes.shelf_of is 'The scope whose documents'' chunks are kept here; null for every scope that is no shelf.';

drop index engram.memory_scopes_owner;

create unique index memory_scopes_owner on engram.memory_scopes (tenant_id, namespace, agent_id, user_id) nulls not distinct
  where scope_id > 0 and shelf_of is null;

create unique index memory_scopes_shelf on engram.memory_scopes (tenant_id, shelf_of) where shelf_of is not null;

-- Chunks are no facts: the public views go on without them.
create or replace view engram.current_memories with (security_invoker = true) as
select m.tenant_id, s.namespace, s.agent_id, s.user_id, m.scope_id, m.memory_id, m.fact, m.memory_type, m.category, m.tags,
       m.importance, m.confidence, m.trust, m.layer, m.critical_slot, m.conflict_key, m.lineage_id, m.revision, m.valid_from,
       m.recorded_at, m.expires_at
  from engram.agent_memory m
  join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id and s.shelf_of is null
 where m.status = 'active' and m.consolidated_into is null
   and (m.expires_at is null or m.expires_at > clock_timestamp())
   and (m.ended_at is null or m.ended_at > clock_timestamp());

create or replace function engram.memories_as_of(p_as_of timestamptz, p_known_at timestamptz default null)
returns table (tenant_id text, namespace text, agent_id text, user_id text, scope_id bigint, memory_id uuid, fact text,
  memory_type text, category text, tags text[], importance float8, confidence float8, trust smallint, layer text,
  critical_slot text, conflict_key text, lineage_id uuid, revision integer, valid_from timestamptz, recorded_at timestamptz,
  expires_at timestamptz)
language sql stable
as $$
  select m.tenant_id, s.namespace, s.agent_id, s.user_id, m.scope_id, m.memory_id, m.fact, m.memory_type, m.category, m.tags,
         m.importance, m.confidence, m.trust, m.layer, m.critical_slot, m.conflict_key, m.lineage_id, m.revision,
         m.valid_from, m.recorded_at, m.expires_at
    from engram.memories_at((select array_agg(x.scope_id) from engram.memory_scopes x where x.shelf_of is null), p_as_of, p_known_at) m
    join engram.memory_scopes s on s.tenant_id = m.tenant_id and s.scope_id = m.scope_id
   where m.status = 'active' and m.consolidated_into is null
     and (m.expires_at is null or m.expires_at > p_as_of) and (m.ended_at is null or m.ended_at > p_as_of)
$$;
