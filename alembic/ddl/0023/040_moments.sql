-- The memories of some lineages as they were known at one moment and true at another, as before. A row stands, and is trusted, as the best
-- trusted of its statements until then: what somebody less trusted says again moves nothing, and what somebody better trusted said later
-- does not count before. No statement counts for more than its row, which may be made of several. A row that is trusted more than all of
-- its statements was vouched for.
create or replace function engram.lineages_at(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz, p_lineage_ids uuid[])
returns setof engram.agent_memory
language plpgsql stable rows 200
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  return query
  with found as materialized (
    select o.m, p_known_at is null or (o.m).status_reason is not distinct from 'erased' or p_known_at >= (
             select c.recorded_at from engram.memory_changes c
              where c.tenant_id = v_tenant and c.memory_id = (o.m).memory_id and c.state is not null
              order by c.change_id desc limit 1) as is_left
      from unnest(p_lineage_ids) l(lineage_id)
      cross join lateral (
        select m from engram.agent_memory m
         where m.tenant_id = v_tenant and m.lineage_id = l.lineage_id and (m.scope_id = any (p_scopes)) is true offset 0) o(m)
  ), known as materialized (
    select (f.m).* from found f where f.is_left
     union all
    select r.*
      from found f
      cross join lateral (
        select c.state from engram.memory_changes c
         where c.tenant_id = v_tenant and c.memory_id = (f.m).memory_id and c.recorded_at <= p_known_at and c.state is not null
         order by c.change_id desc limit 1) c
      cross join lateral jsonb_populate_record(f.m, case when (f.m).private then c.state - 'private' else c.state end) r
     where not f.is_left
  ), stood as materialized (
    select k.memory_id, k.lineage_id, case when k.trust < s.best then k.trust else s.trust end as trust, k.moot, k.status_reason is not distinct from 'erased' as erased, k.status = 'deleted' and k.status_reason is not distinct from 'forgotten' as forgotten,
           s.stands_at, s.recorded_at, s.event_id, s.ordinal
      from known k
      cross join lateral (
        select greatest(q.trust, k.trust) as trust, q.best, case when q.holds_at <= p_as_of then q.holds_at else q.valid_from end as stands_at,
               q.recorded_at, q.event_id, q.ordinal
          from (select s.*, min(s.trust) over () as best
                  from engram.memory_sources s
                 where s.tenant_id = v_tenant and s.memory_id = k.memory_id and s.recorded_at <= coalesce(p_known_at, 'infinity')
                   and (k.status_reason is distinct from 'erased' or s.event_id = k.event_id)) q
         where q.valid_from <= p_as_of
         order by 1, 3 desc, q.recorded_at desc, q.event_id desc, q.ordinal desc limit 1) s
     where k.status <> 'quarantined' and (k.status <> 'deleted' or k.status_reason is distinct from 'retracted')
       and not (k.status_reason is not distinct from 'erased' and (
             select e.event_type from engram.agent_events e
              where e.tenant_id = v_tenant and e.event_id = k.event_id) is not distinct from 'memory_lifecycle')
  ), placed as (
    select s.memory_id,
           row_number() over (partition by s.lineage_id
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc, s.erased) as place_of_all,
           row_number() over (partition by s.lineage_id, s.forgotten
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc, s.erased) as place,
           min(s.trust) over (partition by s.lineage_id, s.forgotten
             order by s.stands_at, s.recorded_at, s.event_id, s.ordinal, not s.erased rows between 1 following and unbounded following)
             <= s.trust as dominated
      from stood s
     where not s.moot
  ), differing as (
    select k.memory_id, case
             when p_as_of is null then null
             when k.moot and k.status = 'superseded' and case
                    when k.put_away then k.superseded_at > p_as_of
                    else not exists (
                      select from stood h
                       where h.memory_id = k.superseded_by
                         and (h.stands_at, h.recorded_at, h.event_id, h.ordinal) > (s.stands_at, s.recorded_at, s.event_id, s.ordinal)) end
               then jsonb_build_object('status', 'active', 'superseded_by', null, 'superseded_at', null)
             when k.status = 'deleted' and p.place_of_all = 1 and k.status_reason = 'forgotten'
               then jsonb_build_object('status', 'deleted', 'status_reason', 'since_forgotten')
             when k.status in ('deleted', 'archived', 'quarantined') or k.moot then null
             when k.put_away and k.superseded_at <= p_as_of then null
             when p.place = 1 and k.status = 'active' and k.superseded_by is null and k.superseded_at is null then null
             when p.place = 1 then jsonb_build_object('status', 'active', 'superseded_by', null, 'superseded_at', null)
             when p.dominated then jsonb_build_object('status', 'superseded')
             else jsonb_build_object('status', 'contested') end as columns
      from known k
      left join stood s on s.memory_id = k.memory_id
      left join placed p on p.memory_id = k.memory_id
     where p_as_of is null or s.memory_id is not null
  )
  select k.*
    from known k
    join differing d on d.memory_id = k.memory_id
   where d.columns is null
   union all
  select r.*
    from known k
    join differing d on d.memory_id = k.memory_id
    cross join lateral jsonb_populate_record(row(k.*)::engram.agent_memory, d.columns) r
   where d.columns is not null;
end $$;
