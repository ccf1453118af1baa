-- The life of a memory: the clock of activity, the marks of the life cycle, and the runs that can be undone.
alter table engram.memory_scopes add column cycled_change_id bigint not null default 0;

comment on column engram.memory_scopes.epoch is 'The clock of the life cycle: one more for each cycle of a scope that was written to. Silence does not age a memory.';

comment on column engram.memory_scopes.cycled_change_id is 'The last change of its memories that a cycle has seen.';

alter table engram.agent_memory
  add column born_epoch bigint not null default 0,
  add column layer_epoch bigint not null default 0,
  add column marks jsonb not null default '{}';

comment on column engram.agent_memory.born_epoch is 'The epoch of its scope when it was written.';

comment on column engram.agent_memory.layer_epoch is 'The epoch of its scope when it came into its layer.';

comment on column engram.agent_memory.marks is 'What the life cycle keeps in mind about it: gate refusals, triage. Not tags.';

alter table engram.memory_activity add column accessed_epoch bigint;

comment on column engram.memory_activity.accessed_epoch is 'The epoch of its scope at the last access; null: not since there are epochs.';

alter table engram.memory_changes
  add column run_id uuid,
  add column because text;

comment on column engram.memory_changes.run_id is 'The run of the life cycle that made the change.';

comment on column engram.memory_changes.because is 'Why the run made it, without words of the memory.';

alter table engram.memory_changes drop constraint memory_changes_entry_check;

alter table engram.memory_changes add constraint memory_changes_entry_check
  check (entry in ('added', 'revised', 'superseded', 'reinforced', 'contested', 'conflict', 'rejected', 'archived', 'restored',
    'forgotten', 'expired', 'erased', 'annotated', 'ended', 'reordered', 'embedded', 'endorsed', 'consolidated', 'rated', 'undone'));

create index memory_changes_run on engram.memory_changes (tenant_id, run_id, change_id) where run_id is not null;

create table engram.lifecycle_runs (
  tenant_id text not null,
  run_id uuid not null,
  scope_id bigint not null,
  parent_id uuid,                                 -- the cycle it was a step of, or for an undo what it undid
  step text not null check (step ~ '^[a-z][a-z_]{0,63}$'),
  reason text,
  actor text,
  started_at timestamptz not null default clock_timestamp(),
  steps text[] not null default '{}',             -- of a cycle: those that are done
  failed_steps text[] not null default '{}',
  finished boolean not null default false,
  undone_by uuid,
  primary key (tenant_id, run_id),
  foreign key (tenant_id, scope_id) references engram.memory_scopes
);

comment on table engram.lifecycle_runs is 'Runs of the life cycle; what each changed is in memory_changes.run_id.';

create index lifecycle_runs_scope on engram.lifecycle_runs (tenant_id, scope_id, started_at desc, run_id);

create index lifecycle_runs_parent on engram.lifecycle_runs (tenant_id, parent_id) where parent_id is not null;

grant insert, update on engram.lifecycle_runs to engram_app;

-- The changeable columns of a memory, as `memory_changes.state` keeps them.
create or replace function engram.memory_state(m engram.agent_memory) returns jsonb
language sql immutable parallel safe
as $$
  select jsonb_build_object(
    'memory_type', m.memory_type, 'category', m.category, 'tags', to_jsonb(m.tags), 'importance', m.importance,
    'confidence', m.confidence, 'trust', m.trust, 'layer', m.layer, 'status', m.status, 'status_reason', m.status_reason,
    'critical_slot', m.critical_slot, 'moot', m.moot, 'superseded_by', m.superseded_by, 'superseded_at', m.superseded_at,
    'put_away', m.put_away, 'consolidated_into', m.consolidated_into, 'valid_to', m.valid_to, 'ended_at', m.ended_at,
    'expires_at', m.expires_at, 'source', m.source, 'metadata', m.metadata, 'private', m.private,
    'stands_at', m.stands_at, 'stands_recorded_at', m.stands_recorded_at, 'stands_event_id', m.stands_event_id,
    'stands_ordinal', m.stands_ordinal, 'layer_epoch', m.layer_epoch, 'marks', m.marks)
$$;
