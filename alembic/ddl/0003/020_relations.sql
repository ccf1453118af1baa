-- The graph. `memory_relations` holds each relation as it stands, for reads of the present; `relation_changes` holds every state it
-- was ever in, for reads of the past. The table itself writes its history, so that no writer can forget to.
alter table engram.memory_relations
  add column holds_at timestamptz not null default '-infinity',
  add column changed_at timestamptz;

comment on table engram.memory_relations is 'Typed, weighted, directed edges between memories, as they stand.';

comment on column engram.memory_relations.holds_at is 'Since when it holds in the world; -infinity: for as long as both memories do.';

comment on column engram.memory_relations.changed_at is 'When its present state was recorded; null: when it was.';

-- From a memory along its relations, the heaviest first, in either direction.
create index memory_relations_out on engram.memory_relations (tenant_id, source_id, weight desc, target_id, relation_type)
  where ended_at is null;

create index memory_relations_in on engram.memory_relations (tenant_id, target_id, weight desc, source_id, relation_type)
  where ended_at is null;

create table engram.relation_changes (
  tenant_id text not null,
  source_id uuid not null,
  target_id uuid not null,
  relation_type text not null,
  change_id bigint generated always as identity,
  recorded_at timestamptz not null,
  holds_at timestamptz not null,                  -- from when on it is so in the world, until a later change says otherwise
  weight float8 not null,
  auto boolean not null,
  metadata jsonb not null default '{}',
  ended boolean not null,
  event_id uuid,
  primary key (tenant_id, source_id, target_id, relation_type, change_id),
  -- A switch of projections renames a relation and its history with it; an erased relation has none.
  foreign key (tenant_id, source_id, target_id, relation_type) references engram.memory_relations
    on update cascade on delete cascade
);

comment on table engram.relation_changes is 'Every state a relation was ever in, oldest first by change_id: time travel in the graph.';

create index relation_changes_target on engram.relation_changes (tenant_id, target_id, source_id, relation_type, change_id);

create index relation_changes_event on engram.relation_changes (tenant_id, event_id) where event_id is not null;

-- What was related before there was a history begins its history here. The owner is under the wall too, but for this statement.
alter table engram.memory_relations no force row level security;

insert into engram.relation_changes (tenant_id, source_id, target_id, relation_type, recorded_at, holds_at, weight, auto, metadata, ended,
  event_id)
select r.tenant_id, r.source_id, r.target_id, r.relation_type, s.at, r.holds_at, r.weight, r.auto, r.metadata, s.ended, r.event_id
  from engram.memory_relations r
 cross join lateral (values (r.recorded_at, false), (r.ended_at, true)) s(at, ended)
 where s.at is not null
 order by s.at;

alter table engram.memory_relations force row level security;

-- The writer of the history, as its owner: nobody else may write to it.
create function engram.note_relation() returns trigger
language plpgsql security definer
set search_path = engram, pg_temp
as $$
begin
  if current_setting('engram.seeding', true) = 'on' then
    return null;                                  -- a shadow is given the history itself
  end if;
  insert into relation_changes (tenant_id, source_id, target_id, relation_type, recorded_at, holds_at, weight, auto, metadata, ended, event_id)
  values (new.tenant_id, new.source_id, new.target_id, new.relation_type, coalesce(new.changed_at, new.recorded_at), new.holds_at,
          new.weight, new.auto, case when new.ended_at is null then new.metadata else '{}' end, new.ended_at is not null, new.event_id);
  return null;
end $$;

create trigger note_relation after insert on engram.memory_relations
  for each row execute function engram.note_relation();

create trigger note_changed_relation after update of weight, auto, metadata, ended_at, event_id on engram.memory_relations
  for each row
  when (row(old.weight, old.auto, old.metadata, old.ended_at, old.event_id)
        is distinct from row(new.weight, new.auto, new.metadata, new.ended_at, new.event_id))
  execute function engram.note_relation();

-- History is appended to. It is renamed and erased with its relation (by the foreign key), and emptied by an erasure.
create function engram.refuse_relation_change() returns trigger
language plpgsql
as $$
begin
  if pg_trigger_depth() = 1 and coalesce(current_setting('engram.erasing', true), '') <> 'on' then
    raise exception 'the history of relations is append-only' using errcode = '55000';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create trigger refuse_rows before update or delete on engram.relation_changes
  for each row execute function engram.refuse_relation_change();

create trigger refuse_truncate before truncate on engram.relation_changes
  for each statement execute function engram.refuse_relation_change();

-- The relations of a memory as they were known at one moment and true at another: of each the last change known by then among
-- those that speak of then.
create function engram.relations_at(p_memory_id uuid, p_inbound boolean, p_as_of timestamptz, p_known_at timestamptz default null)
returns setof engram.relation_changes
language sql stable rows 20
as $$
  select s.* from (
    select distinct on (c.target_id, c.relation_type) c.*
      from engram.relation_changes c
     where not p_inbound and c.tenant_id = engram.current_tenant() and c.source_id = p_memory_id
       and c.recorded_at <= coalesce(p_known_at, 'infinity') and c.holds_at <= coalesce(p_as_of, 'infinity')
     order by c.target_id, c.relation_type, c.change_id desc) s
   where not s.ended
   union all
  select s.* from (
    select distinct on (c.source_id, c.relation_type) c.*
      from engram.relation_changes c
     where p_inbound and c.tenant_id = engram.current_tenant() and c.target_id = p_memory_id
       and c.recorded_at <= coalesce(p_known_at, 'infinity') and c.holds_at <= coalesce(p_as_of, 'infinity')
     order by c.source_id, c.relation_type, c.change_id desc) s
   where not s.ended
$$;

comment on function engram.relations_at is 'The relations of a memory, outbound or inbound, as of a moment and as known at a moment.';

-- What an erased event said of relations, and the relations of the memories that were emptied with it, in every projection. The
-- ties of a lineage stay, with the places of its tombstones. No older state comes back by erasing the newer one.
create function engram.erase_relations(p_event_id uuid, p_memory_ids uuid[]) returns void
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_said relation_changes;
  v_before relation_changes;
begin
  perform set_config('engram.erasing', 'on', true);
  delete from memory_relations r
   where r.tenant_id = v_tenant and r.source_id = any (p_memory_ids) and r.relation_type not in ('supersedes', 'revision_of');
  delete from memory_relations r
   where r.tenant_id = v_tenant and r.target_id = any (p_memory_ids) and r.relation_type not in ('supersedes', 'revision_of');
  for v_said in
    select c.* from relation_changes c
     where c.tenant_id = v_tenant and c.event_id = p_event_id and not c.ended
       and (c.auto or exists (select from agent_events e
             where e.tenant_id = v_tenant and e.event_id = p_event_id and e.event_type = 'relation_added'))
  loop
    -- What it said of the relation may still stand in later states.
    update relation_changes c set metadata = '{}'
     where c.tenant_id = v_tenant and c.source_id = v_said.source_id and c.target_id = v_said.target_id
       and c.relation_type = v_said.relation_type and c.change_id > v_said.change_id and c.metadata = v_said.metadata;
    select c.* into v_before from relation_changes c
     where c.tenant_id = v_tenant and c.source_id = v_said.source_id and c.target_id = v_said.target_id
       and c.relation_type = v_said.relation_type and c.change_id < v_said.change_id
     order by c.change_id desc limit 1;
    if found then
      update relation_changes c set metadata = '{}', weight = v_before.weight, auto = v_before.auto, ended = true
       where c.tenant_id = v_tenant and c.source_id = v_said.source_id and c.target_id = v_said.target_id
         and c.relation_type = v_said.relation_type and c.change_id = v_said.change_id;
    else
      delete from relation_changes c
       where c.tenant_id = v_tenant and c.source_id = v_said.source_id and c.target_id = v_said.target_id
         and c.relation_type = v_said.relation_type and c.change_id = v_said.change_id;
    end if;
    -- The state that stands is that of the last change left; without any there is no relation.
    perform set_config('engram.seeding', 'on', true);
    select c.* into v_before from relation_changes c
     where c.tenant_id = v_tenant and c.source_id = v_said.source_id and c.target_id = v_said.target_id
       and c.relation_type = v_said.relation_type
     order by c.change_id desc limit 1;
    if not found then
      delete from memory_relations r
       where r.tenant_id = v_tenant and r.source_id = v_said.source_id and r.target_id = v_said.target_id
         and r.relation_type = v_said.relation_type;
    else
      update memory_relations r
         set weight = v_before.weight, auto = v_before.auto, event_id = v_before.event_id,
             metadata = case when v_before.ended then '{}' else v_before.metadata end,
             ended_at = case when v_before.ended then coalesce(r.ended_at, v_before.recorded_at) end
       where r.tenant_id = v_tenant and r.source_id = v_said.source_id and r.target_id = v_said.target_id
         and r.relation_type = v_said.relation_type;
    end if;
    perform set_config('engram.seeding', 'off', true);
  end loop;
  perform set_config('engram.erasing', 'off', true);
end $$;

comment on function engram.erase_relations is 'Erase what an event said of relations, and the relations of emptied memories, with their history.';

revoke all on function engram.note_relation, engram.refuse_relation_change, engram.erase_relations from public;

grant execute on function engram.erase_relations to engram_app;

-- As before, but that a shadow begins with the relations as they were known then, and with their history.
create or replace function engram.seed_projection(p_shadow bigint) returns bigint
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_replay memory_replays;
  v_digit text;
  v_rows bigint;
begin
  perform set_config('engram.shadows', 'on', true);
  select r.* into strict v_replay from memory_replays r where r.tenant_id = v_tenant and r.shadow_id = p_shadow;
  v_digit := v_replay.digit;
  insert into agent_memory
    select r.* from engram.memories_at(array[v_replay.scope_id], null, v_replay.since) m
      join agent_memory l on l.tenant_id = m.tenant_id and l.memory_id = m.memory_id
     cross join lateral jsonb_populate_record(m, jsonb_build_object('scope_id', p_shadow,
       'memory_id', redigit(m.memory_id, '7', v_digit), 'lineage_id', redigit(m.lineage_id, '7', v_digit),
       'superseded_by', case when exists (select from agent_memory h where h.tenant_id = v_tenant and h.memory_id = m.superseded_by
          and h.scope_id = v_replay.scope_id) then redigit(m.superseded_by, '7', v_digit) else m.superseded_by end,
       'consolidated_into', redigit(m.consolidated_into, '7', v_digit))
       || case when l.status_reason = 'erased' then '{"status": "deleted", "status_reason": "erased"}' else '{}' end::jsonb) r;
  get diagnostics v_rows = row_count;
  insert into memory_sources
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select r.* from seeded join memory_sources q on q.tenant_id = v_tenant and q.memory_id = seeded.before
     cross join lateral jsonb_populate_record(q, jsonb_build_object('memory_id', seeded.now)) r
     where q.recorded_at <= v_replay.since;
  insert into memory_activity (tenant_id, memory_id, scope_id, repetition_count)
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select v_tenant, seeded.now, p_shadow, (
             select count(*) from memory_changes c
              where c.tenant_id = v_tenant and c.memory_id = seeded.before and c.entry = 'reinforced'
                and c.recorded_at <= v_replay.since)
      from seeded;
  insert into memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason, actor, event_id)
    select c.tenant_id, redigit(c.memory_id, '7', v_digit), p_shadow, c.recorded_at, c.entry, c.status,
           redigit(c.previous_id, '7', v_digit), redigit_change(c.state, '7', v_digit), redigit_change(c.decision, '7', v_digit),
           c.reason, c.actor, c.event_id
      from memory_changes c
     where c.tenant_id = v_tenant and c.scope_id = v_replay.scope_id and c.recorded_at <= v_replay.since
     order by c.change_id;
  perform set_config('engram.seeding', 'on', true);
  insert into memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, recorded_at, ended_at, event_id,
    holds_at, changed_at)
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select distinct on (a.now, b.now, c.relation_type) c.tenant_id, a.now, b.now, c.relation_type, c.weight, c.auto, c.metadata,
           r.recorded_at, case when c.ended then c.recorded_at end, c.event_id, c.holds_at, c.recorded_at
      from seeded a
      join relation_changes c on c.tenant_id = v_tenant and c.source_id = a.before
      join seeded b on b.before = c.target_id
      join memory_relations r on r.tenant_id = v_tenant and r.source_id = c.source_id and r.target_id = c.target_id
       and r.relation_type = c.relation_type
     where c.recorded_at <= v_replay.since
     order by a.now, b.now, c.relation_type, c.change_id desc;
  perform set_config('engram.seeding', 'off', true);
  insert into relation_changes (tenant_id, source_id, target_id, relation_type, recorded_at, holds_at, weight, auto, metadata, ended,
    event_id)
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select c.tenant_id, a.now, b.now, c.relation_type, c.recorded_at, c.holds_at, c.weight, c.auto, c.metadata, c.ended, c.event_id
      from seeded a
      join relation_changes c on c.tenant_id = v_tenant and c.source_id = a.before
      join seeded b on b.before = c.target_id
     where c.recorded_at <= v_replay.since
     order by c.change_id;
  insert into memory_embeddings
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select r.* from memory_embeddings e join seeded on seeded.before = e.memory_id
     cross join lateral jsonb_populate_record(e, jsonb_build_object('memory_id', seeded.now, 'scope_id', p_shadow, 'indexed', false)) r
     where e.tenant_id = v_tenant and e.scope_id = v_replay.scope_id;
  insert into memory_lexemes (tenant_id, scope_id, memory_id, lexemes, own_terms)
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select l.tenant_id, p_shadow, seeded.now,
           replace(' ' || l.lexemes::text, ' ''' || v_replay.scope_id || ':', ' ''' || p_shadow || ':')::tsvector, l.own_terms
      from memory_lexemes l join seeded on seeded.before = l.memory_id
     where l.tenant_id = v_tenant and l.scope_id = v_replay.scope_id;
  return v_rows;
end $$;

comment on function engram.seed_projection is 'Fill a new shadow with the live memories as they were known at the moment it begins with.';
