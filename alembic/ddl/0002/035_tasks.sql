-- Task runs and their checkpoints: a projection of the events of a run's own stream. What a checkpoint says is kept here only, as
-- bytes under their hash; its event in the ledger holds the hash, so that the chain vouches for the bytes as long as they are there.
create table engram.agent_task_runs (
  tenant_id text not null,
  task_run_id uuid not null,
  scope_id bigint not null,
  stream_id uuid not null,
  goal text not null check (char_length(goal) <= 8192),
  status text not null default 'active' check (status in ('active', 'paused', 'completed', 'failed', 'cancelled')),
  outcome text check (char_length(outcome) <= 8192),
  parent_task_id uuid,
  session_id text check (octet_length(session_id) between 1 and 200),
  metadata jsonb not null default '{}',
  trust smallint not null check (trust between 0 and 5),
  started_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  forgotten_at timestamptz,
  event_id uuid not null,                         -- which event said the goal, the outcome and the metadata: redacting one
  outcome_event_id uuid,                          -- empties what it said
  metadata_event_id uuid,
  primary key (tenant_id, task_run_id),
  unique (tenant_id, scope_id, task_run_id),
  foreign key (tenant_id, scope_id, parent_task_id) references engram.agent_task_runs (tenant_id, scope_id, task_run_id),
  foreign key (tenant_id, stream_id) references engram.event_streams,
  check ((status in ('completed', 'failed', 'cancelled')) = (ended_at is not null))
) with (fillfactor = 70);

create index agent_task_runs_recent on engram.agent_task_runs (tenant_id, scope_id, started_at desc, task_run_id desc);

comment on table engram.agent_task_runs is 'Long-running work with a goal, a state and a stream of its own. A projection of the ledger.';

create table engram.agent_checkpoints (
  tenant_id text not null,
  task_run_id uuid not null,
  version integer not null check (version > 0),
  checkpoint_id uuid not null,
  scope_id bigint not null,
  stream_id uuid not null,
  position bigint not null check (position >= 0),
  body bytea check (octet_length(body) <= 16777216),     -- null: erased, the version keeps its place
  sha256 bytea not null check (octet_length(sha256) = 32),
  source_event_ids uuid[] not null default '{}',
  based_on integer check (based_on < version),           -- the version whose words this one carries on
  trust smallint not null check (trust between 0 and 5),
  made_by text not null check (octet_length(made_by) between 1 and 200),
  prompt_hash text check (octet_length(prompt_hash) <= 64),
  event_id uuid not null,
  recorded_at timestamptz not null,
  primary key (tenant_id, task_run_id, version),
  unique (tenant_id, event_id),
  foreign key (tenant_id, task_run_id) references engram.agent_task_runs
);

create index agent_checkpoints_scope on engram.agent_checkpoints (tenant_id, scope_id);

comment on table engram.agent_checkpoints is 'States to resume a task run from: each version once, pinned to a position of its stream.';

grant insert, update on engram.agent_task_runs to engram_app;

grant insert, update (body) on engram.agent_checkpoints to engram_app;
