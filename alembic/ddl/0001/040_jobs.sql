-- The outbox: work born in the transaction of its event, held under a lease with a fencing token. A doorbell may ring for a
-- row; the truth is the row.
create table engram.memory_jobs (
  tenant_id text not null,
  job_id uuid not null,
  scope_id bigint,
  kind text not null check (octet_length(kind) between 1 and 64),
  stream_id uuid,
  position bigint,
  payload jsonb not null default '{}',
  dedup_key bytea not null check (octet_length(dedup_key) = 32),
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'dead', 'cancelled', 'paused')),
  priority smallint not null default 100,
  run_at timestamptz not null default clock_timestamp(),
  attempt integer not null default 0 check (attempt >= 0),
  max_attempts integer not null default 5 check (max_attempts > 0),
  crashes integer not null default 0 check (crashes >= 0),
  lease_token uuid,
  lease_until timestamptz,
  error_class text check (octet_length(error_class) <= 64),
  error_text text check (octet_length(error_text) <= 4096),
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (tenant_id, job_id),
  unique (tenant_id, dedup_key),
  check ((state = 'running') = (lease_token is not null) and (state = 'running') = (lease_until is not null)),
  check ((state in ('done', 'dead', 'cancelled')) = (finished_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
        autovacuum_analyze_scale_factor = 0.05);

comment on table engram.memory_jobs is 'Rows of work: born with their event, claimed under a lease, finished under its token.';

create index memory_jobs_due on engram.memory_jobs (tenant_id, priority, run_at, job_id) where state = 'queued';

create index memory_jobs_lease on engram.memory_jobs (lease_until) where state = 'running';

create index memory_jobs_open on engram.memory_jobs (tenant_id, scope_id, kind)
  where state in ('queued', 'running', 'paused', 'dead');

create table engram.derivations (
  tenant_id text not null,
  stream_id uuid not null,
  deriver text not null check (octet_length(deriver) between 1 and 64),
  version integer not null check (version > 0),
  position bigint not null check (position > 0),
  primary key (tenant_id, stream_id, deriver, version),
  foreign key (tenant_id, stream_id) references engram.event_streams
) with (fillfactor = 50);

comment on table engram.derivations is 'How far each deriver has come in each stream; moved in the transaction of the effect.';

grant insert, update on engram.memory_jobs, engram.derivations to engram_app;

grant select, update on engram.memory_jobs to engram_scheduler;

-- The only policy that looks over the wall between tenants: for one role that can log in nowhere, on one table, and it owns
-- nothing but the two functions below.
create policy scheduler on engram.memory_jobs to engram_scheduler using (true) with check (true);

set local role engram_scheduler;

create function engram.claim_jobs(p_kinds text[], p_limit integer, p_lease interval, p_tenant text default null)
returns setof engram.memory_jobs
language plpgsql security definer
set search_path = engram, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenants text[];
  v_tenant text;
  v_left integer := p_limit;
  v_share integer;
  v_taken integer;
  v_round integer;
begin
  -- The tenants with work, by hopping from one to the next in the index: a million jobs of one tenant cost one hop.
  with recursive hop as (
    (select j.tenant_id from memory_jobs j
      where j.state = 'queued' and (p_tenant is null or j.tenant_id = p_tenant) order by j.tenant_id limit 1)
    union all
    select (select j.tenant_id from memory_jobs j where j.state = 'queued' and j.tenant_id > hop.tenant_id
             order by j.tenant_id limit 1)
      from hop where hop.tenant_id is not null and p_tenant is null)
  select array_agg(hop.tenant_id order by random()) into v_tenants from hop where hop.tenant_id is not null;
  -- Round one gives every tenant its share, round two what is left to whoever has more.
  for v_round in 1..2 loop
    v_share := case when v_round = 1 then greatest(1, p_limit / greatest(1, cardinality(v_tenants))) else p_limit end;
    foreach v_tenant in array coalesce(v_tenants, '{}') loop
      exit when v_left <= 0;
      return query
        with due as (
          select d.job_id from memory_jobs d
           where d.tenant_id = v_tenant and d.state = 'queued' and d.kind = any (p_kinds) and d.run_at <= clock_timestamp()
           order by d.priority, d.run_at, d.job_id
           limit least(v_share, v_left)
             for update skip locked)
        update memory_jobs j
           set state = 'running', attempt = j.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = clock_timestamp() + p_lease
          from due
         where j.tenant_id = v_tenant and j.job_id = due.job_id
        returning j.*;
      get diagnostics v_taken = row_count;
      v_left := v_left - v_taken;
    end loop;
  end loop;
end $$;

comment on function engram.claim_jobs is
  'Take due jobs of the named kinds, tenant by tenant, each under a fresh lease; kinds that are not named stay untouched.';

create function engram.rescue_jobs(p_limit integer, p_max_crashes integer) returns integer
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_rescued integer;
begin
  with lost as (
    select l.tenant_id, l.job_id from memory_jobs l
     where l.state = 'running' and l.lease_until < clock_timestamp()
     order by l.lease_until
     limit p_limit
       for update skip locked)
  update memory_jobs j
     set crashes = j.crashes + 1, lease_token = null, lease_until = null, error_class = 'worker_lost', error_text = null,
         state = case when j.crashes + 1 >= p_max_crashes or j.attempt >= j.max_attempts then 'dead' else 'queued' end,
         finished_at = case when j.crashes + 1 >= p_max_crashes or j.attempt >= j.max_attempts then clock_timestamp() end,
         run_at = clock_timestamp() + least(interval '1 second' * power(2, least(j.attempt, 20)), interval '10 minutes')
                  * (0.5 + random() / 2)
    from lost
   where j.tenant_id = lost.tenant_id and j.job_id = lost.job_id
     and j.state = 'running' and j.lease_until < clock_timestamp();
  get diagnostics v_rescued = row_count;
  return v_rescued;
end $$;

comment on function engram.rescue_jobs is 'Queue again the jobs whose worker was lost; one that loses too many workers is dead.';

revoke all on function engram.claim_jobs, engram.rescue_jobs from public;

grant execute on function engram.claim_jobs, engram.rescue_jobs to engram_app;

set local role engram_owner;

-- The fence: the first statement of every effect. A worker that lost its lease stops here.
create function engram.hold_job(p_job uuid, p_token uuid) returns void
language plpgsql
set search_path = engram, pg_temp
as $$
begin
  perform from memory_jobs j
    where j.tenant_id = engram.current_tenant() and j.job_id = p_job and j.lease_token = p_token and j.state = 'running'
      for update;
  if not found then
    raise exception 'the lease of the job is lost' using errcode = '55P99';
  end if;
end $$;

comment on function engram.hold_job is 'Lock a running job under its token; SQLSTATE 55P99 when another has it now.';
