-- What takes and ends jobs by their ids keeps its plans. Each is looked up by its key, one after the other: of a list of keys a plan
-- for no values may read whatever waits in a tenant.
create function engram.claim_named_jobs(p_job_ids uuid[], p_lease interval, p_token uuid)
returns setof engram.memory_jobs
language plpgsql
set search_path = engram, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := engram.current_tenant();
  v_id uuid;
begin
  foreach v_id in array p_job_ids loop
    perform from memory_jobs j
      where j.tenant_id = v_tenant and j.job_id = v_id
        and (j.state = 'queued' and j.run_at <= clock_timestamp() or j.state = 'running' and j.lease_token = p_token)
        for update skip locked;
    if found then
      return query
        update memory_jobs j
           set state = 'running', attempt = j.attempt + (j.state = 'queued')::integer, lease_token = p_token,
               lease_until = clock_timestamp() + p_lease
         where j.tenant_id = v_tenant and j.job_id = v_id
        returning j.*;
    end if;
  end loop;
end $$;

comment on function engram.claim_named_jobs is
  'Take named jobs of this tenant under a fresh lease: those still queued and due, and those taken under this very token before.';

create function engram.finish_jobs(p_job_ids uuid[], p_tokens uuid[])
returns integer
language plpgsql
set search_path = engram, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := engram.current_tenant();
  v_done integer := 0;
begin
  for v_nth in 1..coalesce(cardinality(p_job_ids), 0) loop
    update memory_jobs j
       set state = 'done', lease_token = null, lease_until = null, finished_at = clock_timestamp(), error_class = null,
           error_text = null
     where j.tenant_id = v_tenant and j.job_id = p_job_ids[v_nth] and j.lease_token = p_tokens[v_nth] and j.state = 'running';
    if found then
      v_done := v_done + 1;
    end if;
  end loop;
  return v_done;
end $$;

comment on function engram.finish_jobs is 'Mark jobs done, those whose lease is still the caller''s; how many.';

create function engram.finish_derived_jobs(p_streams uuid[], p_uptos bigint[], p_most integer)
returns integer
language plpgsql
set search_path = engram, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := engram.current_tenant();
  v_id uuid;
  v_done integer := 0;
begin
  for v_nth in 1..coalesce(cardinality(p_streams), 0) loop
    for v_id in
      select q.job_id
        from memory_jobs q
       cross join lateral (
         select e.derive from agent_events e
          where e.tenant_id = v_tenant and e.stream_id = q.stream_id and e.position = q.position
          limit 1) e
       where q.tenant_id = v_tenant and q.stream_id = p_streams[v_nth] and q.kind in ('derive', 'extract') and q.state = 'queued'
         and not q.payload ? 'upto' and (p_uptos[v_nth] is null or q.position <= p_uptos[v_nth])
         and not exists (
           select from unnest(e.derive) as wanted (deriver)
            where (wanted.deriver = 'llm') = (q.kind = 'extract')
              and not exists (select from derivations d
                               where d.tenant_id = v_tenant and d.stream_id = q.stream_id and d.deriver = wanted.deriver
                                 and d.position >= q.position))
       order by q.position
       limit p_most - v_done
         for update of q skip locked
    loop
      update memory_jobs j
         set state = 'done', asleep = false, finished_at = clock_timestamp()
       where j.tenant_id = v_tenant and j.job_id = v_id;
      v_done := v_done + 1;
    end loop;
  end loop;
  return v_done;
end $$;

comment on function engram.finish_derived_jobs is
  'Mark done queued jobs of streams whose event every deriver has read that waits for it: `extract` is the language model''s, `derive` '
  'everybody else''s; only up to a position, where one is known, and so many at most. How many.';

revoke all on function engram.claim_named_jobs, engram.finish_jobs, engram.finish_derived_jobs from public;

grant execute on function engram.claim_named_jobs, engram.finish_jobs, engram.finish_derived_jobs to engram_app;
