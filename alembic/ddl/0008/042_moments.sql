-- The memories of some lineages as they were known at one moment and true at another: how a memory stood is a matter of its lineage, and of
-- no other. What puts them together stands here once, for a whole scope and for a few.
create function engram.lineages_at(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz, p_lineage_ids uuid[])
returns setof engram.agent_memory
language plpgsql stable rows 200
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  return query
  with known as materialized (
    select r.*
      from unnest(p_lineage_ids) l(lineage_id)
      cross join lateral (
        select m from engram.agent_memory m
         where m.tenant_id = v_tenant and m.lineage_id = l.lineage_id and (m.scope_id = any (p_scopes)) is true offset 0) o(m)
      cross join lateral (
        select c.state from engram.memory_changes c
         where c.tenant_id = v_tenant and c.memory_id = (o.m).memory_id
           and c.recorded_at <= coalesce(p_known_at, 'infinity') and c.state is not null
         order by c.change_id desc limit 1) c
      cross join lateral jsonb_populate_record(o.m, c.state) r
  ), stood as (
    select k.memory_id, k.lineage_id, k.trust, k.status = 'deleted' and k.status_reason is not distinct from 'forgotten' as forgotten,
           s.stands_at, s.recorded_at, s.event_id, s.ordinal
      from known k
      cross join lateral (
        select case when s.holds_at <= p_as_of then s.holds_at else s.valid_from end as stands_at, s.recorded_at, s.event_id, s.ordinal
          from engram.memory_sources s
         where s.tenant_id = v_tenant and s.memory_id = k.memory_id and s.valid_from <= p_as_of
           and s.recorded_at <= coalesce(p_known_at, 'infinity')
         order by 1 desc, s.recorded_at desc, s.event_id desc, s.ordinal desc limit 1) s
     where not k.moot and k.status <> 'quarantined' and (k.status <> 'deleted' or k.status_reason is distinct from 'retracted')
  ), placed as (
    select s.memory_id,
           row_number() over (partition by s.lineage_id
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc) as place_of_all,
           row_number() over (partition by s.lineage_id, s.forgotten
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc) as place,
           min(s.trust) over (partition by s.lineage_id, s.forgotten
             order by s.stands_at, s.recorded_at, s.event_id, s.ordinal rows between 1 following and unbounded following)
             <= s.trust as dominated
      from stood s
  )
  select r.*
    from known k
    left join placed s on s.memory_id = k.memory_id
    cross join lateral jsonb_populate_record(row(k.*)::engram.agent_memory, case
      when p_as_of is null then '{}'::jsonb
      when k.status = 'deleted' and s.place_of_all = 1 and k.status_reason = 'forgotten'
        then jsonb_build_object('status', 'deleted', 'status_reason', 'since_forgotten')
      when k.status in ('deleted', 'archived', 'quarantined') or k.moot then '{}'::jsonb
      when k.put_away and k.superseded_at <= p_as_of then '{}'::jsonb
      when s.place = 1 then jsonb_build_object('status', 'active', 'superseded_by', null, 'superseded_at', null)
      when s.dominated then jsonb_build_object('status', 'superseded')
      else jsonb_build_object('status', 'contested') end) r
   where p_as_of is null or s.memory_id is not null;
end $$;

comment on function engram.lineages_at is 'The memories of some lineages at a moment.';

-- The same of the lineages of some memories, of which those that were not known or not so yet are passed over first.
create function engram.memories_around(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz, p_memory_ids uuid[])
returns setof engram.agent_memory
language plpgsql stable rows 200
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  return query
  select m.*
    from engram.lineages_at(p_scopes, p_as_of, p_known_at, array(
           select distinct o.lineage_id
             from (select distinct w.memory_id from unnest(p_memory_ids) w(memory_id)) w
            cross join lateral (
                  select o.lineage_id
                    from engram.agent_memory o
                   where o.tenant_id = v_tenant and o.memory_id = w.memory_id and (o.scope_id = any (p_scopes)) is true offset 0) o
            where (p_as_of is null
                   or exists (select from engram.memory_sources s
                               where s.tenant_id = v_tenant and s.memory_id = w.memory_id and s.valid_from <= p_as_of
                                 and s.recorded_at <= coalesce(p_known_at, 'infinity')))
              and (p_known_at is null
                   or exists (select from engram.memory_changes c
                               where c.tenant_id = v_tenant and c.memory_id = w.memory_id and c.recorded_at <= p_known_at
                                 and c.state is not null)))) m;
end $$;

comment on function engram.memories_around is 'The memories of the lineages of some memories at a moment.';

-- The memories of some scopes at a moment, or with ids those memories alone and the rest of their lineages.
create or replace function engram.memories_at(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz, p_memory_ids uuid[])
returns setof engram.agent_memory
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if p_memory_ids is not null then
    return query select m.* from engram.memories_around(p_scopes, p_as_of, p_known_at, p_memory_ids) m;
    return;
  end if;
  return query
  select m.*
    from engram.lineages_at(p_scopes, p_as_of, p_known_at, array(
           select distinct o.lineage_id
             from engram.agent_memory o
            where o.tenant_id = engram.current_tenant() and o.scope_id = any (p_scopes))) m;
end $$;

create or replace function engram.memories_at(p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz default null)
returns setof engram.agent_memory
language sql stable
as $$
  select m.* from engram.memories_at(p_scopes, p_as_of, p_known_at, null) m
$$;
