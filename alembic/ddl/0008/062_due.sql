-- When the next job of each of some tenants falls due, for a process that looks after all of them: asked tenant by tenant it took a
-- transaction each. It reads as the scheduler, as what claims the jobs does, and tells nothing of them but a time.
grant create on schema engram to engram_scheduler;

set local role engram_scheduler;

create function engram.jobs_due_in(p_tenants text[], p_kinds text[])
returns table (tenant_id text, seconds float8)
language plpgsql stable security definer rows 10
set search_path = engram, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select t.tenant_id, extract(epoch from d.at - clock_timestamp())::float8
    from unnest(p_tenants) t(tenant_id)
   cross join lateral (
         select coalesce(
                  (select r.run_at                           -- what is ready is due: the rest is looked at only without it
                     from unnest(p_kinds) k(kind)
                    cross join lateral (
                          select j.run_at
                            from memory_jobs j
                           where j.tenant_id = t.tenant_id and j.kind = k.kind and j.state = 'queued' and not j.asleep
                           order by j.priority, j.run_at, j.job_id
                           limit 1) r
                    limit 1),
                  least(
                    (select min(a.run_at)                    -- one of each kind
                       from unnest(p_kinds) k(kind)
                      cross join lateral (
                            select j.run_at
                              from memory_jobs j
                             where j.tenant_id = t.tenant_id and j.kind = k.kind and j.asleep and j.state in ('queued', 'paused')
                             order by j.run_at
                             limit 1) a),
                    (select j.lease_until
                       from memory_jobs j
                      where j.tenant_id = t.tenant_id and j.kind = any (p_kinds) and j.state = 'running'
                      order by j.lease_until
                      limit 1))) as at offset 0) d
   where d.at is not null;
end $$;

comment on function engram.jobs_due_in is 'Seconds until the next job of each of some tenants falls due, or until a lease of one ends; no row where none is open.';

revoke all on function engram.jobs_due_in from public;

grant execute on function engram.jobs_due_in to engram_app;

set local role engram_owner;

revoke create on schema engram from engram_scheduler;
