-- Jobs at scale: whose turn it is, jobs that sleep until their hour, one job a stream at a time, and the old ones swept out.
alter table engram.memory_jobs add column asleep boolean not null default false;

comment on column engram.memory_jobs.asleep is
  'Waits for run_at: after a failure, in a pause, or by order. Woken by the next claim or rescue after that.';

drop index engram.memory_jobs_due;

-- Only what can be taken now, so that a claim never walks over what waits, nor over kinds it was not asked for.
create index memory_jobs_ready on engram.memory_jobs (tenant_id, kind, priority, run_at, job_id)
  where state = 'queued' and not asleep;

-- For who wakes them, over all tenants. Every hour is after the beginning of time: said so that no statement about one tenant,
-- which does not say it, walks over the jobs of all others here.
create index memory_jobs_asleep on engram.memory_jobs (run_at)
  where asleep and state in ('queued', 'paused') and run_at > '-infinity';

-- For whoever waits for one tenant: a process that runs its own jobs asks when the next falls due.
create index memory_jobs_next on engram.memory_jobs (tenant_id, kind, run_at) where asleep and state in ('queued', 'paused');

create index memory_jobs_stream on engram.memory_jobs (tenant_id, stream_id, kind, position)
  where state = 'queued' and stream_id is not null;

create index memory_jobs_running on engram.memory_jobs (tenant_id, stream_id, kind) where state = 'running';

create index memory_jobs_finished on engram.memory_jobs (finished_at) where state in ('done', 'cancelled');

create table engram.job_turns (
  tenant_id text primary key,
  served_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

comment on table engram.job_turns is 'When each tenant was last served, among several that had work: the longest ago comes first.';

create policy scheduler on engram.job_turns to engram_scheduler using (true) with check (true);

grant select, insert, update on engram.job_turns to engram_scheduler;

grant delete on engram.memory_jobs to engram_scheduler;

grant create on schema engram to engram_scheduler;

set local role engram_scheduler;

update engram.memory_jobs set asleep = true where state = 'queued' and run_at > clock_timestamp();

drop function engram.claim_jobs(text[], integer, interval, text);

create function engram.wake_jobs(p_limit integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_woken integer;
begin
  with due as (
    select w.tenant_id, w.job_id from memory_jobs w
     where w.asleep and w.state in ('queued', 'paused') and w.run_at > '-infinity' and w.run_at <= statement_timestamp()
     order by w.run_at
     limit p_limit
       for update skip locked)
  update memory_jobs j set asleep = false, state = 'queued'
    from due
   where j.tenant_id = due.tenant_id and j.job_id = due.job_id;
  get diagnostics v_woken = row_count;
  return v_woken;
end $$;

comment on function engram.wake_jobs is 'Make the jobs ready whose hour has come, paused ones too; every claim and rescue begins with it.';

-- What of one tenant may be taken now, oldest first: at most one job of a kind in each stream, and none where one runs, since a
-- second would do the same work in vain. Only so many are looked at; "more" says that there are others behind them.
create function engram.oldest_jobs(p_tenant text, p_kinds text[], p_window integer, out ids uuid[], out more boolean)
language sql stable
set search_path = engram, pg_temp
as $$
  with seen as (
    select d.job_id, d.kind, d.stream_id, d.priority, d.run_at, d.nth
      from unnest(p_kinds) k (kind)
     cross join lateral (
       select j.job_id, j.kind, j.stream_id, j.priority, j.run_at,
              row_number() over (order by j.priority, j.run_at, j.job_id) as nth
         from memory_jobs j
        where j.tenant_id = p_tenant and j.kind = k.kind and j.state = 'queued' and not j.asleep
          and j.run_at <= statement_timestamp()
        order by j.priority, j.run_at, j.job_id
        limit p_window) d),
  free as (
    select distinct on (s.kind, coalesce(s.stream_id, s.job_id)) s.job_id
      from seen s
     where (select 1 from memory_jobs r
        where r.tenant_id = p_tenant and r.stream_id = s.stream_id and r.kind = s.kind and r.state = 'running' limit 1) is null
     order by s.kind, coalesce(s.stream_id, s.job_id), s.nth)
  select (select array_agg(f.job_id) from free f), (select coalesce(bool_or(s.nth = p_window), false) from seen s)
$$;

-- The same where what is oldest all belongs to a few long streams: the first job of one stream after the other.
create function engram.jobs_by_stream(p_tenant text, p_kinds text[], p_hops integer) returns uuid[]
language sql stable
set search_path = engram, pg_temp
as $$
  with recursive hop as (
    (select j.stream_id, j.kind, 1 as nth from memory_jobs j
      where j.tenant_id = p_tenant and j.stream_id is not null and j.state = 'queued'
      order by j.stream_id, j.kind limit 1)
    union all
    select n.stream_id, n.kind, hop.nth + 1
      from hop
     cross join lateral (
       select j.stream_id, j.kind from memory_jobs j
        where j.tenant_id = p_tenant and j.stream_id is not null and j.state = 'queued'
          and (j.stream_id, j.kind) > (hop.stream_id, hop.kind)
        order by j.stream_id, j.kind limit 1) n
     where hop.nth < p_hops)
  select array_agg(f.job_id)
    from hop
   cross join lateral (
     select j.job_id from memory_jobs j
      where j.tenant_id = p_tenant and j.stream_id = hop.stream_id and j.kind = hop.kind and j.state = 'queued'
        and not j.asleep and j.run_at <= statement_timestamp()
      order by j.position limit 1) f
   where hop.kind = any (p_kinds)
     and (select 1 from memory_jobs r
       where r.tenant_id = p_tenant and r.stream_id = hop.stream_id and r.kind = hop.kind and r.state = 'running' limit 1) is null
$$;

create function engram.claim_jobs(p_kinds text[], p_limit integer, p_lease interval, p_tenant text default null,
  p_token uuid default null)
returns setof engram.memory_jobs
language plpgsql security definer
set search_path = engram, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_token uuid := coalesce(p_token, gen_random_uuid());
  v_tenants text[];
  v_rooms bigint[];
  v_served text[] := '{}';
  v_ids uuid[];
  v_more boolean;
  v_left integer := p_limit;
  v_want integer;
  v_taken integer;
begin
  if p_token is not null then
    -- Asked again, because the COMMIT of the first time was lost: what this token took then.
    return query update memory_jobs j set lease_until = clock_timestamp() + p_lease
      where j.state = 'running' and j.lease_token = p_token returning j.*;
    if found then
      return;
    end if;
  end if;
  perform engram.wake_jobs(1000);
  -- The tenants with work, by hopping from one to the next in the index: a million jobs of one tenant cost one hop.
  with recursive hop as (
    (select j.tenant_id from memory_jobs j
      where j.state = 'queued' and not j.asleep and (p_tenant is null or j.tenant_id = p_tenant) order by j.tenant_id limit 1)
    union all
    select (select j.tenant_id from memory_jobs j where j.state = 'queued' and not j.asleep and j.tenant_id > hop.tenant_id
             order by j.tenant_id limit 1)
      from hop where hop.tenant_id is not null and p_tenant is null)
  select array_agg(hop.tenant_id) into v_tenants from hop where hop.tenant_id is not null;
  -- Among several the one served longest ago comes first, and at first none gets more than brings it level with the others.
  if cardinality(v_tenants) > 1 then
    with running as (
      select r.tenant_id, count(*) as jobs from memory_jobs r where r.state = 'running' group by r.tenant_id),
    level as (
      select ceil((p_limit + coalesce(sum(r.jobs), 0)) / cardinality(v_tenants)) as jobs
        from running r where r.tenant_id = any (v_tenants))
    select array_agg(w.tenant_id order by w.served_at nulls first, w.random),
           array_agg(greatest(0, w.room) order by w.served_at nulls first, w.random)
      into v_tenants, v_rooms
      from (select h.tenant_id, t.served_at, random() as random, l.jobs - coalesce(r.jobs, 0) as room
              from unnest(v_tenants) h (tenant_id)
             cross join level l
              left join running r on r.tenant_id = h.tenant_id
              left join job_turns t on t.tenant_id = h.tenant_id) w;
  end if;
  for v_round in 1..2 loop                                -- the second gives what is left to whoever has more
    exit when v_left <= 0 or v_round = 2 and v_rooms is null;
    for v_nth in 1..coalesce(cardinality(v_tenants), 0) loop
      v_want := case when v_round = 1 then least(v_left, coalesce(v_rooms[v_nth], v_left)) else v_left end;
      for v_look in 1..2 loop                             -- the second only where the first saw nothing but long streams
        exit when v_want <= 0 or v_look = 2 and not v_more;
        if v_look = 1 then
          select o.ids, o.more into v_ids, v_more from engram.oldest_jobs(v_tenants[v_nth], p_kinds, 4 * v_want + 16) o;
        else
          v_ids := engram.jobs_by_stream(v_tenants[v_nth], p_kinds, 4 * v_want + 16);
        end if;
        return query
          with due as (
            select d.job_id from memory_jobs d
             where d.tenant_id = v_tenants[v_nth] and d.job_id = any (v_ids)
               and (d.state = 'queued') is true             -- said so that no index but the primary key seems to fit
             order by d.priority, d.run_at, d.job_id
             limit v_want
               for update skip locked)
          update memory_jobs j
             set state = 'running', attempt = j.attempt + 1, lease_token = v_token, lease_until = clock_timestamp() + p_lease
            from due
           where j.tenant_id = v_tenants[v_nth] and j.job_id = due.job_id
          returning j.*;
        get diagnostics v_taken = row_count;
        v_left := v_left - v_taken;
        v_want := v_want - v_taken;
        if v_taken > 0 then
          v_served := v_served || v_tenants[v_nth];
        end if;
      end loop;
    end loop;
  end loop;
  if v_rooms is not null and v_served <> '{}' then
    insert into job_turns (tenant_id, served_at)
      select distinct s.tenant_id, clock_timestamp() from unnest(v_served) s (tenant_id)
       where not exists (select from job_turns x where x.tenant_id = s.tenant_id)
       order by s.tenant_id
      on conflict do nothing;
    update job_turns t set served_at = clock_timestamp()   -- a turn that another worker notes at this moment is as good
      from (select x.tenant_id from job_turns x where x.tenant_id = any (v_served) for update skip locked) s
     where t.tenant_id = s.tenant_id;
  end if;
end $$;

comment on function engram.claim_jobs is
  'Take ready jobs of the named kinds, the tenant served longest ago first, one job a stream; the same token finds them again.';

create or replace function engram.rescue_jobs(p_limit integer, p_max_crashes integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_rescued integer;
begin
  perform engram.wake_jobs(10 * p_limit);
  with lost as (
    select l.tenant_id, l.job_id, l.crashes + 1 >= p_max_crashes or l.attempt >= l.max_attempts as final
      from memory_jobs l
     where l.state = 'running' and l.lease_until < clock_timestamp()
     order by l.lease_until
     limit p_limit
       for update skip locked)
  update memory_jobs j
     set crashes = j.crashes + 1, lease_token = null, lease_until = null, error_class = 'worker_lost', error_text = null,
         state = case when lost.final then 'dead' else 'queued' end,
         finished_at = case when lost.final then clock_timestamp() end,
         asleep = not lost.final,
         run_at = clock_timestamp() + least(interval '1 second' * power(2, least(j.attempt, 20)), interval '10 minutes')
                  * (0.5 + random() / 2)
    from lost
   where j.tenant_id = lost.tenant_id and j.job_id = lost.job_id
     and j.state = 'running' and j.lease_until < clock_timestamp();
  get diagnostics v_rescued = row_count;
  return v_rescued;
end $$;

create function engram.purge_jobs(p_age interval, p_limit integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_purged integer;
begin
  with old as (
    select o.tenant_id, o.job_id from memory_jobs o
     where o.state in ('done', 'cancelled') and o.finished_at < clock_timestamp() - p_age
     order by o.finished_at
     limit p_limit
       for update skip locked)
  delete from memory_jobs j using old where j.tenant_id = old.tenant_id and j.job_id = old.job_id;
  get diagnostics v_purged = row_count;
  return v_purged;
end $$;

comment on function engram.purge_jobs is 'Remove jobs done or cancelled long ago, of every tenant; the dead stay until they are revived or cancelled.';

revoke all on function engram.wake_jobs, engram.oldest_jobs, engram.jobs_by_stream, engram.claim_jobs, engram.purge_jobs from public;

grant execute on function engram.claim_jobs, engram.purge_jobs to engram_app;

set local role engram_owner;

revoke create on schema engram from engram_scheduler;

-- What is behind, deriver by deriver, from the events and the cursors themselves: work without a job is shown as well.
drop view engram.derivation_backlog;

create view engram.derivation_backlog with (security_invoker = true) as
with work as (
  select j.tenant_id, j.stream_id, j.kind,
         (array_agg(j.state order by array_position(array['running', 'queued', 'paused', 'dead'], j.state)))[1] as state,
         (array_agg(j.error_class order by j.run_at desc) filter (where j.error_class is not null))[1] as error_class
    from engram.memory_jobs j
   where j.state in ('queued', 'running', 'paused', 'dead') and j.kind in ('derive', 'extract') and j.stream_id is not null
   group by j.tenant_id, j.stream_id, j.kind)
select s.tenant_id, s.scope_id, s.stream_id, b.deriver, b.version, b.position, s.position as head, b.behind,
       statement_timestamp() - b.oldest as oldest_age,
       coalesce(case when b.deriver = 'llm' then x.state end, d.state, 'none') as state,
       case when b.deriver = 'llm' and x.stream_id is not null then x.error_class else d.error_class end as last_error
  from engram.event_streams s
  left join work d on d.tenant_id = s.tenant_id and d.stream_id = s.stream_id and d.kind = 'derive'
  left join work x on x.tenant_id = s.tenant_id and x.stream_id = s.stream_id and x.kind = 'extract'
  left join lateral (
    select min(c.position) as position from engram.derivations c where c.tenant_id = s.tenant_id and c.stream_id = s.stream_id
    ) slowest on true
 cross join lateral (
    select w.deriver, max(c.version) as version, coalesce(max(c.position), 0) as position, count(*) as behind,
           min(e.recorded_at) as oldest
      from engram.agent_events e
     cross join lateral unnest(e.derive) w (deriver)
      left join lateral (
        select c.version, c.position from engram.derivations c
         where c.tenant_id = e.tenant_id and c.stream_id = e.stream_id and c.deriver = w.deriver
         order by c.version desc limit 1) c on true
     where e.tenant_id = s.tenant_id and e.stream_id = s.stream_id and e.position > coalesce(c.position, 0)
       and (coalesce(d.stream_id, x.stream_id) is not null or e.position > coalesce(slowest.position, 0))
     group by w.deriver) b
 where s.derivable > coalesce(slowest.position, 0) or coalesce(d.stream_id, x.stream_id) is not null;

comment on view engram.derivation_backlog is
  'Streams that a deriver has not read to the end: its cursor, the head, the events between, and what the work is doing.';
