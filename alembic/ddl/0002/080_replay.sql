-- Replay: memories derived again beside the live ones. A shadow is a scope of its own with a number below zero; no row of it is
-- shown unless a transaction asks for shadows, whatever its statements say. Its memories have the ids of the live ones they
-- stand for but for the version digit, so that one switch, back and forth, is an exchange of scopes and digits.
alter table engram.memory_scopes
  add column shadow_of bigint,
  add foreign key (tenant_id, shadow_of) references engram.memory_scopes,
  add check ((shadow_of is null) = (scope_id > 0)),
  drop constraint memory_scopes_tenant_id_namespace_agent_id_user_id_key;

create unique index memory_scopes_owner on engram.memory_scopes (tenant_id, namespace, agent_id, user_id) nulls not distinct
  where scope_id > 0;

comment on column engram.memory_scopes.shadow_of is 'The scope whose ledger this shadow was derived from again; null for every live scope.';

-- A derivation has its effect once in each projection.
drop index engram.agent_memory_derived_once;

create unique index agent_memory_derived_once
  on engram.agent_memory (tenant_id, scope_id, event_id, deriver, deriver_version, ordinal) where deriver is not null;

-- A switch renames what refers to a memory together with it: the references are checked when it is through.
alter table engram.agent_memory
  alter constraint agent_memory_tenant_id_scope_id_fkey deferrable;

alter table engram.memory_sources
  alter constraint memory_sources_tenant_id_memory_id_fkey deferrable;

alter table engram.memory_activity
  alter constraint memory_activity_tenant_id_memory_id_fkey deferrable;

alter table engram.memory_changes
  alter constraint memory_changes_tenant_id_memory_id_fkey deferrable;

alter table engram.memory_changes
  alter constraint memory_changes_tenant_id_scope_id_fkey deferrable;

alter table engram.memory_relations
  alter constraint memory_relations_tenant_id_source_id_fkey deferrable;

alter table engram.memory_relations
  alter constraint memory_relations_tenant_id_target_id_fkey deferrable;

create function engram.shadows_shown() returns boolean
language sql stable parallel safe
as $$ select coalesce(current_setting('engram.shadows', true) = 'on', false) $$;

comment on function engram.shadows_shown() is 'Whether this transaction works on shadows; false for every read and every write of live memories.';

-- The second wall. The words are read by their owner's functions, whose index no other rule may stand before.
do $$
declare
  name text;
begin
  foreach name in array array['memory_scopes', 'agent_memory', 'memory_activity', 'memory_changes', 'memory_embeddings',
                              'memory_lexemes', 'memory_terms', 'memory_graphs', 'memory_actors'] loop
    execute format('create policy shadow on engram.%I as restrictive to %s using (scope_id > 0 or (select engram.shadows_shown()))',
                   name, case name when 'memory_lexemes' then 'engram_app' else 'public' end);
  end loop;
end $$;

create table engram.memory_replays (
  tenant_id text not null,
  shadow_id bigint not null check (shadow_id < 0),
  scope_id bigint not null check (scope_id > 0),
  replay_id uuid not null,                                      -- what callers name it by
  state text not null default 'building' check (state in ('building', 'ready', 'former')),
  digit text not null check (digit ~ '^[89a-f0-5]$'),           -- stands for the 7 of a UUIDv7 in the ids of the shadow
  policy text not null,                                         -- name and version, as in default@1
  derivers text[],
  since timestamptz,
  place bigint not null default 0,                              -- the steps up to here are taken
  started_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, shadow_id),
  foreign key (tenant_id, shadow_id) references engram.memory_scopes,
  foreign key (tenant_id, scope_id) references engram.memory_scopes
);

comment on table engram.memory_replays is 'Shadows: projections of a scope''s ledger beside the live one, being built, ready, or the one that was live before.';

create unique index memory_replays_id on engram.memory_replays (tenant_id, replay_id);

create index memory_replays_scope on engram.memory_replays (tenant_id, scope_id);

create table engram.replay_steps (
  tenant_id text not null,
  shadow_id bigint not null,
  place bigint not null check (place > 0),
  event_id uuid not null,
  part text not null check (octet_length(part) between 1 and 64),   -- the deriver, or 'direct'
  at timestamptz not null,                                      -- when the live memories learned of it
  problem text,                                                 -- why it could not be taken under the new rules
  primary key (tenant_id, shadow_id, place),
  unique (tenant_id, shadow_id, event_id, part),
  foreign key (tenant_id, shadow_id) references engram.memory_replays
);

comment on table engram.replay_steps is 'What a replay goes through, in the order in which the live memories did.';

grant insert, update, delete on engram.memory_replays, engram.replay_steps to engram_app;

-- An id of one projection as an id of another: the version digit changes, an id of neither stays.
create function engram.redigit(p_id uuid, p_from text, p_to text) returns uuid
language sql immutable parallel safe
as $$ select case when substr(p_id::text, 15, 1) = p_from then overlay(p_id::text placing p_to from 15 for 1)::uuid else p_id end $$;

create function engram.redigit_change(p_state jsonb, p_from text, p_to text) returns jsonb
language sql immutable parallel safe
as $$
  select case when p_state is null then null else p_state || coalesce((
    select jsonb_object_agg(f.name, case
             when f.value is null or jsonb_typeof(f.value) = 'null' then f.value
             when jsonb_typeof(f.value) = 'string' then to_jsonb(engram.redigit((f.value #>> '{}')::uuid, p_from, p_to))
             when f.name = 'surprise' then engram.redigit_change(f.value, p_from, p_to)
             else (select coalesce(jsonb_agg(engram.redigit_change(n.item, p_from, p_to) order by n.place), '[]')
                     from jsonb_array_elements(f.value) with ordinality n(item, place)) end)
      from (values ('superseded_by'), ('consolidated_into'), ('memory_id'), ('target_id'), ('closest_id'), ('nearest'), ('surprise')) k(name)
      cross join lateral (select k.name, p_state -> k.name as value) f
     where p_state ? k.name), '{}') end
$$;

comment on function engram.redigit_change is 'The ids inside a kept state or decision, as ids of another projection.';

-- All rows of a projection with another digit, and in another scope: the memories first, then what hangs on them. The ids are
-- worked out before they are joined: a condition with a function of ours in it may use no index under row-level security.
create function engram.move_projection(p_from bigint, p_through bigint, p_to bigint, p_old text, p_new text) returns bigint
language plpgsql
set search_path = engram, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant text := engram.current_tenant();
  v_rows bigint;
begin
  update agent_memory m
     set memory_id = redigit(m.memory_id, p_old, p_new), lineage_id = redigit(m.lineage_id, p_old, p_new), scope_id = p_through,
         superseded_by = case when exists (select from agent_memory h
              where h.tenant_id = v_tenant and h.memory_id = m.superseded_by and h.scope_id = p_from)
           then redigit(m.superseded_by, p_old, p_new) else m.superseded_by end,
         consolidated_into = redigit(m.consolidated_into, p_old, p_new)
   where m.tenant_id = v_tenant and m.scope_id = p_from;
  get diagnostics v_rows = row_count;
  with moved as materialized (
    select m.memory_id as now, redigit(m.memory_id, p_new, p_old) as before from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = p_through)
  update memory_sources q set memory_id = moved.now from moved where q.tenant_id = v_tenant and q.memory_id = moved.before;
  with moved as materialized (
    select m.memory_id as now, redigit(m.memory_id, p_new, p_old) as before from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = p_through)
  update memory_activity a set memory_id = moved.now, scope_id = p_to
    from moved where a.tenant_id = v_tenant and a.memory_id = moved.before;
  update memory_changes c
     set memory_id = redigit(c.memory_id, p_old, p_new), previous_id = redigit(c.previous_id, p_old, p_new), scope_id = p_through,
         state = redigit_change(c.state, p_old, p_new), decision = redigit_change(c.decision, p_old, p_new)
   where c.tenant_id = v_tenant and c.scope_id = p_from;
  with moved as materialized (
    select m.memory_id as now, redigit(m.memory_id, p_new, p_old) as before from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = p_through)
  update memory_relations r set source_id = a.now, target_id = b.now
    from moved a, moved b
   where r.tenant_id = v_tenant and r.source_id = a.before and r.target_id = b.before;
  update memory_embeddings e set memory_id = redigit(e.memory_id, p_old, p_new), scope_id = p_to, indexed = false
   where e.tenant_id = v_tenant and e.scope_id = p_from and substr(e.memory_id::text, 15, 1) = p_old;
  update memory_lexemes l
     set memory_id = redigit(l.memory_id, p_old, p_new), scope_id = p_to,
         lexemes = replace(' ' || l.lexemes::text, ' ''' || p_from || ':', ' ''' || p_to || ':')::tsvector
   where l.tenant_id = v_tenant and l.scope_id = p_from and substr(l.memory_id::text, 15, 1) = p_old;
  return v_rows;
end $$;

-- Live and shadow change places. The caller holds the lock of the scope: nothing else writes to either meanwhile.
create function engram.switch_projection(p_shadow bigint) returns bigint
language plpgsql security definer
set search_path = engram, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant text := engram.current_tenant();
  v_replay memory_replays;
  v_digit text;                                    -- of those that leave: a shadow has two in turn
  v_transit bigint := p_shadow - 4000000000000;    -- no scope: no two projections may be in one, not even in passing
  v_before uuid[];
  v_now uuid[];
  v_rows bigint;
begin
  perform set_config('engram.shadows', 'on', true);
  select r.* into v_replay from memory_replays r where r.tenant_id = v_tenant and r.shadow_id = p_shadow for update;
  if not found then
    raise exception 'no such shadow' using errcode = 'P0002';
  end if;
  v_digit := translate(v_replay.digit, '89abcdef012345', '98badcfe103254');
  set constraints all deferred;
  v_rows := engram.move_projection(v_replay.scope_id, v_transit, p_shadow, '7', v_digit);
  v_rows := v_rows + engram.move_projection(p_shadow, v_replay.scope_id, v_replay.scope_id, v_replay.digit, '7');
  update agent_memory set scope_id = p_shadow where tenant_id = v_tenant and scope_id = v_transit;
  update memory_changes set scope_id = p_shadow where tenant_id = v_tenant and scope_id = v_transit;
  -- What other scopes' memories refer to: the one with the same id, and the one that left where there is none.
  with came as materialized (
    select m.memory_id as now, redigit(m.memory_id, '7', v_replay.digit) as before from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = v_replay.scope_id)
  update agent_memory o set superseded_by = came.now
    from came
   where o.tenant_id = v_tenant and o.superseded_by = came.before and o.scope_id not in (v_replay.scope_id, p_shadow);
  with gone as materialized (
    select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = p_shadow)
  select array_agg(g.before), array_agg(g.now) into v_before, v_now
    from gone g where not exists (select from agent_memory m where m.tenant_id = v_tenant and m.memory_id = g.before);
  update agent_memory o set superseded_by = g.now
    from unnest(v_before, v_now) g(before, now)
   where o.tenant_id = v_tenant and o.superseded_by = g.before and o.scope_id not in (v_replay.scope_id, p_shadow);
  update memory_relations r set source_id = g.now
    from unnest(v_before, v_now) g(before, now) where r.tenant_id = v_tenant and r.source_id = g.before;
  update memory_relations r set target_id = g.now
    from unnest(v_before, v_now) g(before, now) where r.tenant_id = v_tenant and r.target_id = g.before;
  -- How often a memory was read, and how it was rated, is no matter of derivation.
  with pairs as materialized (
    select m.memory_id, redigit(m.memory_id, '7', v_digit) as other from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = v_replay.scope_id)
  update memory_activity a
     set access_count = b.access_count, last_accessed_at = b.last_accessed_at, positive = b.positive, negative = b.negative
    from pairs, memory_activity b
   where a.tenant_id = v_tenant and a.memory_id = pairs.memory_id and b.tenant_id = v_tenant and b.memory_id = pairs.other;
  -- Counted again by upkeep.
  delete from memory_terms t where t.tenant_id = v_tenant and t.scope_id in (v_replay.scope_id, p_shadow);
  delete from memory_graphs g where g.tenant_id = v_tenant and g.scope_id = p_shadow;
  update memory_replays r set digit = v_digit, state = case r.state when 'former' then 'ready' else 'former' end,
         policy = coalesce((select m.policy || '@' || m.policy_version from agent_memory m
           where m.tenant_id = v_tenant and m.scope_id = p_shadow order by m.recorded_at desc, m.memory_id limit 1), r.policy),
         changed_at = clock_timestamp()
   where r.tenant_id = v_tenant and r.shadow_id = p_shadow;
  return v_rows;
end $$;

comment on function engram.switch_projection is 'Let a shadow and the live memories of its scope change places; how many memories that were.';

-- A shadow is gone without a trace: it was never anything but derived.
create function engram.drop_projection(p_shadow bigint) returns bigint
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_rows bigint;
begin
  perform set_config('engram.shadows', 'on', true);
  perform from memory_replays r where r.tenant_id = v_tenant and r.shadow_id = p_shadow for update;
  if not found then
    raise exception 'no such shadow' using errcode = 'P0002';
  end if;
  delete from memory_relations r using agent_memory m
   where m.tenant_id = v_tenant and m.scope_id = p_shadow and r.tenant_id = v_tenant and r.source_id = m.memory_id;
  delete from memory_relations r using agent_memory m
   where m.tenant_id = v_tenant and m.scope_id = p_shadow and r.tenant_id = v_tenant and r.target_id = m.memory_id;
  update agent_memory o set superseded_by = null
    from agent_memory m
   where m.tenant_id = v_tenant and m.scope_id = p_shadow and o.tenant_id = v_tenant and o.superseded_by = m.memory_id
     and o.scope_id <> p_shadow;
  delete from memory_sources q using agent_memory m
   where m.tenant_id = v_tenant and m.scope_id = p_shadow and q.tenant_id = v_tenant and q.memory_id = m.memory_id;
  delete from memory_activity where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_changes where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_embeddings where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_lexemes where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_terms where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_graphs where tenant_id = v_tenant and scope_id = p_shadow;
  delete from memory_actors where tenant_id = v_tenant and scope_id = p_shadow;
  delete from agent_memory where tenant_id = v_tenant and scope_id = p_shadow;
  get diagnostics v_rows = row_count;
  delete from replay_steps where tenant_id = v_tenant and shadow_id = p_shadow;
  delete from memory_replays where tenant_id = v_tenant and shadow_id = p_shadow;
  delete from memory_scopes where tenant_id = v_tenant and scope_id = p_shadow;
  return v_rows;
end $$;

comment on function engram.drop_projection is 'Drop a shadow with everything that was derived for it; how many memories that were.';

-- Begin a shadow with the memories as they were known at a moment: what came before it is not derived again.
create function engram.seed_projection(p_shadow bigint) returns bigint
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
  insert into memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, recorded_at, ended_at, event_id)
    with seeded as materialized (
      select m.memory_id as now, redigit(m.memory_id, v_digit, '7') as before from agent_memory m
       where m.tenant_id = v_tenant and m.scope_id = p_shadow)
    select r.tenant_id, a.now, b.now, r.relation_type, r.weight, r.auto, r.metadata, r.recorded_at,
           case when r.ended_at <= v_replay.since then r.ended_at end, r.event_id
      from seeded a
      join memory_relations r on r.tenant_id = v_tenant and r.source_id = a.before
      join seeded b on b.before = r.target_id
     where r.recorded_at <= v_replay.since;
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

revoke all on function engram.switch_projection, engram.drop_projection, engram.seed_projection, engram.move_projection from public;

grant execute on function engram.switch_projection, engram.drop_projection, engram.seed_projection to engram_app;
