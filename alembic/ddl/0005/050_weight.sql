-- Ratings of what was recalled.
create table engram.memory_feedback (
  tenant_id text not null,
  run_id uuid not null,
  scope_id bigint not null,
  value smallint not null check (value in (-1, 1)),
  memory_ids uuid[] not null,
  recall_id uuid,                                 -- a row of recall_log, until that is swept
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, run_id),
  foreign key (tenant_id, run_id) references engram.lifecycle_runs (tenant_id, run_id),
  foreign key (tenant_id, scope_id) references engram.memory_scopes
);

comment on table engram.memory_feedback is 'One row a rating: which memories, up or down, and of which recall.';

create index memory_feedback_recall on engram.memory_feedback (tenant_id, recall_id) where recall_id is not null;

grant insert on engram.memory_feedback to engram_app;

-- How recalls fare, by day, with what was said of what they gave; a rating that was taken back says nothing.
create or replace view engram.recall_quality with (security_invoker = true) as
select l.tenant_id, l.scope_id, (l.recorded_at at time zone 'UTC')::date as day, l.kind, l.intent, count(*) as recalls,
       count(*) filter (where l.chosen = '{}') as empty, count(*) filter (where l.degraded <> '{}') as degraded,
       percentile_cont(0.5) within group (order by l.milliseconds) as p50_ms,
       percentile_cont(0.95) within group (order by l.milliseconds) as p95_ms,
       coalesce(sum(f.positive), 0)::bigint as positive, coalesce(sum(f.negative), 0)::bigint as negative
  from engram.recall_log l
  left join lateral (
       select count(*) filter (where g.value = 1) as positive, count(*) filter (where g.value = -1) as negative
         from engram.memory_feedback g
         join engram.lifecycle_runs r on r.tenant_id = g.tenant_id and r.run_id = g.run_id and r.undone_by is null
        where g.tenant_id = l.tenant_id and g.recall_id = l.recall_id) f on true
 group by l.tenant_id, l.scope_id, (l.recorded_at at time zone 'UTC')::date, l.kind, l.intent;

comment on view engram.recall_quality is 'Recalls by day, kind and intent: how many, how many came back empty or degraded, how long they took, and how they were rated.';
