-- The log of recalls: what was asked, how it was searched for, what was found and what was given. It holds no text of any memory.
create table engram.recall_log (
  tenant_id text not null,
  recall_id uuid not null,                        -- made by the library, in the order of time
  scope_id bigint,                                -- whose recall it was; null where several scopes read as one
  scope_ids bigint[] not null,                    -- what it could see
  recorded_at timestamptz not null default clock_timestamp(),
  known_at timestamptz not null default clock_timestamp(),  -- what was known by then is what it read
  kind text not null check (kind in ('search', 'deep_search', 'recall', 'build_context')),
  query text,                                     -- null once something it may quote was erased
  words text[] not null default '{}',             -- of the query and its filter, so that an erasure finds it
  plan jsonb not null,
  found jsonb not null,
  chosen uuid[] not null default '{}',
  intent text,
  degraded text[] not null default '{}',
  versions jsonb not null,
  tokens integer check (tokens >= 0),
  milliseconds float8 not null check (milliseconds >= 0),
  primary key (tenant_id, recall_id),
  check (query is not null or words = '{}')
);

comment on table engram.recall_log is 'One row a recall, search or context: the question, the plan, ids and scores, and the versions of what ranked them.';

create index recall_log_scope on engram.recall_log (tenant_id, scope_id, recall_id desc);

-- Rows come in the order of time: a few bytes find those that are old.
create index recall_log_time on engram.recall_log using brin (recorded_at);

grant insert, update, delete on engram.recall_log to engram_app;

-- Retention is the work of one job for every tenant, so its function looks over the wall, and sees when a row was written.
create policy scheduler on engram.recall_log to engram_scheduler using (true);

grant select (tenant_id, recall_id, recorded_at), delete on engram.recall_log to engram_scheduler;

grant create on schema engram to engram_scheduler;

set local role engram_scheduler;

create function engram.purge_recalls(p_age interval, p_limit integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_purged integer;
begin
  with old as (
    select o.tenant_id, o.recall_id from recall_log o
     where o.recorded_at < clock_timestamp() - greatest(p_age, interval '1 day')
     limit p_limit)
  delete from recall_log l using old where l.tenant_id = old.tenant_id and l.recall_id = old.recall_id;
  get diagnostics v_purged = row_count;
  return v_purged;
end $$;

comment on function engram.purge_recalls is 'Remove the log of recalls older than an age, at least a day, of every tenant.';

revoke all on function engram.purge_recalls from public;

grant execute on function engram.purge_recalls to engram_app;

set local role engram_owner;

revoke create on schema engram from engram_scheduler;

-- How recalls fare, by day: how many, how many found nothing or had to do without a channel, and how long they took.
create view engram.recall_quality with (security_invoker = true) as
select l.tenant_id, l.scope_id, (l.recorded_at at time zone 'UTC')::date as day, l.kind, l.intent, count(*) as recalls,
       count(*) filter (where l.chosen = '{}') as empty, count(*) filter (where l.degraded <> '{}') as degraded,
       percentile_cont(0.5) within group (order by l.milliseconds) as p50_ms,
       percentile_cont(0.95) within group (order by l.milliseconds) as p95_ms
  from engram.recall_log l
 group by l.tenant_id, l.scope_id, (l.recorded_at at time zone 'UTC')::date, l.kind, l.intent;

comment on view engram.recall_quality is 'Recalls by day, kind and intent: how many, how many came back empty or degraded, and how long they took.';
