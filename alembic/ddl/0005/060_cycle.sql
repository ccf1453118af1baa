-- The consolidation cycle: what a run of it goes by, and who finds the scopes that are due without looking at all of them.
alter table engram.lifecycle_runs add column cycle jsonb;

comment on column engram.lifecycle_runs.cycle is
  'Of a cycle: the epoch it began in, the last change it takes account of, whether it merges, and who runs it.';

alter table engram.memory_scopes add column warned smallint not null default 0;

comment on column engram.memory_scopes.warned is 'How full it was last said to be: 0, 80, 90 or 100 percent of the most memories it may hold.';

create index lifecycle_runs_open on engram.lifecycle_runs (tenant_id, scope_id, started_at)
  where not finished and step = 'consolidate' and undone_by is null;

-- A layer of a scope in pieces, and the rows that something is kept in mind about.
create index agent_memory_layer on engram.agent_memory (tenant_id, scope_id, layer, memory_id)
  where status = 'active' and consolidated_into is null;

create index agent_memory_marked on engram.agent_memory (tenant_id, scope_id, memory_id) where marks <> '{}';

-- What expired and was not put away yet; the daily look goes from the longest ago on.
create index agent_memory_expired on engram.agent_memory (expires_at, tenant_id, scope_id)
  where status = 'active' and expires_at is not null and critical_slot is null
    and coalesce(category, '') not in ('verbatim', 'source_chunk');

-- Changes come in the order of their numbers: a few bytes find what was written since a look.
create index memory_changes_numbers on engram.memory_changes using brin (change_id);

create table engram.cycle_looks (
  tenant_id text primary key,                     -- that of the jobs of the whole database
  looked_to bigint not null,
  seen_to bigint not null
);

comment on table engram.cycle_looks is
  'How far the looks for scopes with writes have come: `looked_to`, and `seen_to`, the last number there was then: the next goes so far.';

-- What was written before there were cycles waits for the next write of its scope.
insert into engram.cycle_looks (tenant_id, looked_to, seen_to)
select 'engram', q.last_value, q.last_value from engram.memory_changes_change_id_seq q;

-- Finding what is due is the work of one job for every tenant, so its functions look over the wall: at numbers, never at words.
create policy scheduler on engram.memory_changes for select to engram_scheduler using (true);

grant select (tenant_id, change_id, scope_id, run_id, entry) on engram.memory_changes to engram_scheduler;

create policy scheduler on engram.memory_scopes for select to engram_scheduler using (true);

grant select (tenant_id, scope_id, cycled_change_id, shelf_of) on engram.memory_scopes to engram_scheduler;

create policy scheduler on engram.agent_memory for select to engram_scheduler using (true);

grant select (tenant_id, scope_id, status, expires_at, critical_slot, category) on engram.agent_memory to engram_scheduler;

create policy scheduler on engram.cycle_looks to engram_scheduler using (true) with check (true);

grant select, update on engram.cycle_looks to engram_scheduler;

grant select on sequence engram.memory_changes_change_id_seq to engram_scheduler;

grant insert on engram.memory_jobs to engram_scheduler;

grant create on schema engram to engram_scheduler;

set local role engram_scheduler;

-- A change is looked at once, a period after it was first seen: by then whatever has a lower number is committed too.
-- A job that waits will take account of it; one that runs may be past the change already, so that another is queued.
create function engram.queue_cycles() returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_from bigint;
  v_to bigint;
  v_queued integer;
begin
  select l.looked_to, l.seen_to into v_from, v_to from cycle_looks l for update;
  with written as materialized (
    select c.tenant_id, c.scope_id, max(c.change_id) as last
      from memory_changes c
     where c.change_id > v_from and c.change_id <= v_to and c.scope_id > 0 and c.run_id is null and c.entry <> 'embedded'
     group by c.tenant_id, c.scope_id)
  insert into memory_jobs (tenant_id, job_id, scope_id, kind, dedup_key, priority)
  select w.tenant_id, gen_random_uuid(), w.scope_id, 'consolidate',
         sha256(convert_to(format('consolidate/%s/%s', w.scope_id, w.last), 'UTF8')), 200
    from written w
    join memory_scopes s on s.tenant_id = w.tenant_id and s.scope_id = w.scope_id
   where s.shelf_of is null and s.cycled_change_id < w.last
     and not exists (
       select from memory_jobs j
        where j.tenant_id = w.tenant_id and j.scope_id = w.scope_id and j.kind = 'consolidate'
          and j.state in ('queued', 'paused'))
  on conflict (tenant_id, dedup_key) do nothing;
  get diagnostics v_queued = row_count;
  update cycle_looks set looked_to = v_to, seen_to = (select q.last_value from memory_changes_change_id_seq q);
  return v_queued;
end $$;

comment on function engram.queue_cycles is 'Queue a cycle for every scope that was written to between the look before the last one and the last one.';

create function engram.queue_expiries(p_grace interval, p_limit integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_queued integer;
begin
  with gone as (
    select o.tenant_id, o.scope_id
      from (select m.tenant_id, m.scope_id from agent_memory m
             where m.status = 'active' and m.expires_at is not null and m.critical_slot is null
               and coalesce(m.category, '') not in ('verbatim', 'source_chunk') and m.expires_at < statement_timestamp() - p_grace
             order by m.expires_at limit p_limit) o
     where o.scope_id > 0
     group by o.tenant_id, o.scope_id)
  insert into memory_jobs (tenant_id, job_id, scope_id, kind, dedup_key, priority)
  select g.tenant_id, gen_random_uuid(), g.scope_id, 'expire',
         sha256(convert_to(format('expire/%s/%s', g.scope_id, extract(epoch from statement_timestamp())::bigint), 'UTF8')), 200
    from gone g
   where not exists (
     select from memory_jobs j
      where j.tenant_id = g.tenant_id and j.scope_id = g.scope_id and j.kind = 'expire' and j.state in ('queued', 'running', 'paused'))
  on conflict (tenant_id, dedup_key) do nothing;
  get diagnostics v_queued = row_count;
  return v_queued;
end $$;

comment on function engram.queue_expiries is 'Queue a job for every scope with memories that expired longer ago than the grace; of so many rows at most.';

revoke all on function engram.queue_cycles, engram.queue_expiries from public;

grant execute on function engram.queue_cycles, engram.queue_expiries to engram_app;

set local role engram_owner;

revoke create on schema engram from engram_scheduler;
