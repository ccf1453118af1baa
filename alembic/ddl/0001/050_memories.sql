create table engram.agent_memory (
  tenant_id text not null,
  memory_id uuid not null,
  scope_id bigint not null,
  fact text not null check (char_length(fact) <= 8192),
  fact_hash bytea not null check (octet_length(fact_hash) = 32),
  main_content text check (char_length(main_content) <= 200000),
  memory_type text not null check (memory_type in ('semantic', 'episodic', 'procedural', 'profile', 'project', 'task',
    'preference', 'constraint', 'decision', 'tool_result')),
  category text check (char_length(category) <= 64),
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  importance float8 not null check (importance between 0 and 1),
  confidence float8 not null check (confidence between 0 and 1),
  trust smallint not null check (trust between 0 and 5),
  layer text not null default 'working' check (layer in ('buffer', 'working', 'core')),
  status text not null check (status in ('active', 'superseded', 'contested', 'archived', 'deleted', 'quarantined')),
  status_reason text,
  critical_slot text check (octet_length(critical_slot) <= 1024),
  conflict_key text check (octet_length(conflict_key) <= 1100),
  topic_key text check (octet_length(topic_key) <= 1024),
  subject text,
  attribute text,
  value text,
  negates text,                                   -- the value this statement says no longer holds
  moot boolean not null default false,            -- a negation of something that was not believed: never head
  lineage_id uuid not null,
  revision integer not null check (revision > 0),
  superseded_by uuid,
  superseded_at timestamptz,
  put_away boolean not null default false,        -- superseded by an explicit act: keeps its place, is never head again
  consolidated_into uuid,
  valid_from timestamptz not null check (valid_from >= '1900-01-01+00' and valid_from < '2200-01-01+00'),
  valid_from_stated boolean not null,
  valid_to timestamptz check (valid_to >= '1900-01-01+00' and valid_to < '2200-01-01+00'),     -- shown: successor's start, or the stated end
  ended_at timestamptz check (ended_at >= '1900-01-01+00' and ended_at < '2200-01-01+00'),     -- stated end
  recorded_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz check (expires_at >= '1900-01-01+00' and expires_at < '2200-01-01+00'),
  surprise float8,
  source text check (char_length(source) <= 64),
  session_id text,
  task_run_id text,
  metadata jsonb not null default '{}',
  private boolean not null default false,
  deriver text,
  deriver_version integer,
  ordinal integer not null default 0,
  policy text not null,
  policy_version integer not null,
  rule text,
  event_id uuid not null,                         -- the event that gave it first
  actor text,
  embed_state text not null check (embed_state in ('embedded', 'pending', 'none')),
  -- where the row stands in its lineage: its latest statement
  stands_at timestamptz not null,
  stands_recorded_at timestamptz not null,
  stands_event_id uuid not null,
  stands_ordinal integer not null,
  primary key (tenant_id, memory_id),
  foreign key (tenant_id, scope_id) references engram.memory_scopes,
  foreign key (tenant_id, event_id) references engram.agent_events (tenant_id, event_id),
  foreign key (tenant_id, superseded_by) references engram.agent_memory (tenant_id, memory_id) deferrable initially deferred,
  check ((deriver is null) = (deriver_version is null))
) with (fillfactor = 85);

comment on table engram.agent_memory is 'Memories: what each says and its state. A projection of the ledger.';

-- One head a lineage, and one a conflict key: the database's own guard under the advisory locks.
create unique index agent_memory_one_head on engram.agent_memory (tenant_id, lineage_id)
  where status = 'active' and not moot;

create unique index agent_memory_one_key on engram.agent_memory (tenant_id, scope_id, conflict_key)
  where status = 'active' and not moot and conflict_key is not null;

-- A derivation has its effect once.
create unique index agent_memory_derived_once on engram.agent_memory (tenant_id, event_id, deriver, deriver_version, ordinal)
  where deriver is not null;

create unique index agent_memory_revision on engram.agent_memory (tenant_id, lineage_id, revision);

create index agent_memory_key on engram.agent_memory (tenant_id, scope_id, conflict_key) where conflict_key is not null;

create index agent_memory_exact on engram.agent_memory (tenant_id, scope_id, fact_hash) where status = 'active';

create index agent_memory_recent on engram.agent_memory (tenant_id, scope_id, recorded_at desc, memory_id);

create index agent_memory_critical on engram.agent_memory (tenant_id, scope_id)
  where critical_slot is not null and status = 'active';

-- The short ids that people type.
create index agent_memory_short on engram.agent_memory (tenant_id, (right(memory_id::text, 8)));

create index agent_memory_heir on engram.agent_memory (tenant_id, superseded_by) where superseded_by is not null;

create index agent_memory_event on engram.agent_memory (tenant_id, event_id);

create index agent_memory_unembedded on engram.agent_memory (tenant_id, scope_id) where embed_state = 'pending';

-- The statements a memory rests on: the event, the exact characters, and when what they say began to hold.
create table engram.memory_sources (
  tenant_id text not null,
  memory_id uuid not null,
  event_id uuid not null,
  ordinal integer not null default 0,
  char_start integer not null check (char_start >= 0),
  char_end integer not null check (char_end >= char_start),
  quote_hash bytea not null check (octet_length(quote_hash) = 32),
  verified boolean not null,
  valid_from timestamptz not null,                -- since when it holds
  holds_at timestamptz not null,                  -- when it was last said to hold: not before valid_from
  recorded_at timestamptz not null,
  deriver text,
  deriver_version integer,
  trust smallint not null check (trust between 0 and 5),
  primary key (tenant_id, memory_id, event_id, ordinal),
  foreign key (tenant_id, memory_id) references engram.agent_memory (tenant_id, memory_id),
  foreign key (tenant_id, event_id) references engram.agent_events (tenant_id, event_id)
);

create index memory_sources_event on engram.memory_sources (tenant_id, event_id);

comment on table engram.memory_sources is 'Citations: spans are code points of the stored content, half-open.';

-- Hot counters, allowed to lose a beat; apart from the wide row so that a count never rewrites a fact.
create table engram.memory_activity (
  tenant_id text not null,
  memory_id uuid not null,
  scope_id bigint not null,
  access_count bigint not null default 0,
  last_accessed_at timestamptz,
  repetition_count integer not null default 0,
  positive integer not null default 0,
  negative integer not null default 0,
  primary key (tenant_id, memory_id),
  foreign key (tenant_id, memory_id) references engram.agent_memory (tenant_id, memory_id)
) with (fillfactor = 70);

-- Every change of a memory's state, with the state it left: history, and what was known at any moment.
create table engram.memory_changes (
  tenant_id text not null,
  change_id bigint generated always as identity,
  memory_id uuid,
  scope_id bigint not null,
  recorded_at timestamptz not null default clock_timestamp(),
  entry text not null check (entry in ('added', 'revised', 'superseded', 'reinforced', 'contested', 'conflict', 'rejected',
    'archived', 'restored', 'forgotten', 'expired', 'erased', 'annotated', 'ended', 'reordered', 'embedded', 'endorsed')),
  status text,
  previous_id uuid,
  state jsonb,
  decision jsonb,
  reason text,
  actor text,
  event_id uuid,
  primary key (tenant_id, change_id),
  foreign key (tenant_id, memory_id) references engram.agent_memory (tenant_id, memory_id),
  foreign key (tenant_id, scope_id) references engram.memory_scopes
);

create index memory_changes_memory on engram.memory_changes (tenant_id, memory_id, change_id desc);

create index memory_changes_scope on engram.memory_changes (tenant_id, scope_id, change_id desc);

create index memory_changes_event on engram.memory_changes (tenant_id, event_id) where event_id is not null;

comment on table engram.memory_changes is 'One row a change of a memory; `state` holds the changeable columns as they were left.';

create table engram.memory_relations (
  tenant_id text not null,
  source_id uuid not null,
  target_id uuid not null,
  relation_type text not null check (relation_type ~ '^[a-z][a-z0-9_]{0,63}$'),
  weight float8 not null default 1 check (weight between 0 and 1),
  auto boolean not null default false,
  metadata jsonb not null default '{}',
  recorded_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  event_id uuid,
  primary key (tenant_id, source_id, target_id, relation_type),
  check (source_id <> target_id),
  foreign key (tenant_id, source_id) references engram.agent_memory (tenant_id, memory_id),
  foreign key (tenant_id, target_id) references engram.agent_memory (tenant_id, memory_id)
);

create index memory_relations_target on engram.memory_relations (tenant_id, target_id, relation_type);

-- The changeable columns of a memory, as `memory_changes.state` keeps them.
create function engram.memory_state(m engram.agent_memory) returns jsonb
language sql immutable parallel safe
as $$
  select jsonb_build_object(
    'memory_type', m.memory_type, 'category', m.category, 'tags', to_jsonb(m.tags), 'importance', m.importance,
    'confidence', m.confidence, 'trust', m.trust, 'layer', m.layer, 'status', m.status, 'status_reason', m.status_reason,
    'critical_slot', m.critical_slot, 'moot', m.moot, 'superseded_by', m.superseded_by, 'superseded_at', m.superseded_at,
    'put_away', m.put_away, 'consolidated_into', m.consolidated_into, 'valid_to', m.valid_to, 'ended_at', m.ended_at,
    'expires_at', m.expires_at, 'source', m.source, 'metadata', m.metadata, 'private', m.private,
    'stands_at', m.stands_at, 'stands_recorded_at', m.stands_recorded_at, 'stands_event_id', m.stands_event_id,
    'stands_ordinal', m.stands_ordinal)
$$;

-- The memories of some scopes as they were known at one moment and true at another; statuses are those of that moment.
-- Status `deleted` with reason `since_forgotten` marks what has been forgotten since.
create function engram.memories_at(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz default null)
returns setof engram.agent_memory
language sql stable
as $$
  with known as materialized (
    select r.*
      from engram.agent_memory m
      cross join lateral (
        select c.state from engram.memory_changes c
         where c.tenant_id = m.tenant_id and c.memory_id = m.memory_id
           and c.recorded_at <= coalesce(p_known_at, 'infinity') and c.state is not null
         order by c.change_id desc limit 1) c
      cross join lateral jsonb_populate_record(m, c.state) r
     where m.tenant_id = engram.current_tenant() and m.scope_id = any (p_scopes)
  ), stood as (
    select k.memory_id, k.lineage_id, k.trust, s.stands_at, s.recorded_at, s.event_id, s.ordinal,
           row_number() over (partition by k.lineage_id
             order by k.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc) as place,
           first_value(row(s.stands_at, s.recorded_at, s.event_id, s.ordinal)) over (partition by k.lineage_id
             order by k.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc) as head
      from known k
      cross join lateral (
        select case when s.holds_at <= p_as_of then s.holds_at else s.valid_from end as stands_at, s.recorded_at, s.event_id, s.ordinal
          from engram.memory_sources s
         where s.tenant_id = k.tenant_id and s.memory_id = k.memory_id and s.valid_from <= p_as_of
           and s.recorded_at <= coalesce(p_known_at, 'infinity')
         order by 1 desc, s.recorded_at desc, s.event_id desc, s.ordinal desc limit 1) s
     where not k.moot and k.status <> 'quarantined' and (k.status <> 'deleted' or k.status_reason is distinct from 'retracted')
  )
  select r.*
    from known k
    left join stood s using (memory_id)
    cross join lateral jsonb_populate_record(row(k.*)::engram.agent_memory, case
      when p_as_of is null then '{}'::jsonb
      when k.status = 'deleted' and s.place = 1 and k.status_reason = 'forgotten'
        then jsonb_build_object('status', 'deleted', 'status_reason', 'since_forgotten')
      when k.status in ('deleted', 'archived', 'quarantined') or k.moot then '{}'::jsonb
      when k.put_away and k.superseded_at <= p_as_of then '{}'::jsonb
      when s.place = 1 then jsonb_build_object('status', 'active', 'superseded_by', null, 'superseded_at', null)
      when row(s.stands_at, s.recorded_at, s.event_id, s.ordinal) > s.head then jsonb_build_object('status', 'contested')
      else jsonb_build_object('status', 'superseded') end) r
   where p_as_of is null or s.memory_id is not null
$$;
