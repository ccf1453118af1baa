-- How some memories stood at a moment, as before, each as the best trusted of its statements, as `lineages_at` has it.
create or replace function engram.standings_at(p_tenant_id text, p_scopes bigint[], p_as_of timestamptz, p_known_at timestamptz, p_memory_ids uuid[])
returns table (memory_id uuid, standing engram.standing)
language sql stable
as $$
  with asked as materialized (
    select distinct i.memory_id from unnest(p_memory_ids) i(memory_id)),
  lines as materialized (
    select distinct m.lineage_id
      from asked a
     cross join lateral (
           select m.lineage_id from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = a.memory_id offset 0) m
     where p_as_of is not null),
  members as (
    select a.memory_id from asked a where p_as_of is null
     union all
    select m.memory_id
      from lines l
     cross join lateral (
           select m.memory_id from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.lineage_id = l.lineage_id offset 0) m),
  found as materialized (
    select m.memory_id, m.lineage_id, m.event_id, m.superseded_by as heir,
           row(m.scope_id, m.importance, m.trust, m.private, m.status, m.status_reason, m.put_away, m.superseded_at, m.consolidated_into,
               m.moot, m.expires_at, m.ended_at)::engram.standing as standing,
           p_known_at is null or m.status_reason is not distinct from 'erased' or p_known_at >= (
             select c.recorded_at from engram.memory_changes c
              where c.tenant_id = p_tenant_id and c.memory_id = i.memory_id and c.state is not null
              order by c.change_id desc limit 1) as is_left
      from members i
     cross join lateral (
           select m.* from engram.agent_memory m where m.tenant_id = p_tenant_id and m.memory_id = i.memory_id offset 0) m
     where m.scope_id = any (p_scopes)),
  known as materialized (
    select f.memory_id, f.lineage_id, f.event_id, f.heir, (f.standing).* from found f where f.is_left
     union all
    select f.memory_id, f.lineage_id, f.event_id, (c.state->>'superseded_by')::uuid, r.*
      from found f
     cross join lateral (
           select c.state from engram.memory_changes c
            where c.tenant_id = p_tenant_id and c.memory_id = f.memory_id and c.recorded_at <= p_known_at and c.state is not null
            order by c.change_id desc limit 1) c
     cross join lateral jsonb_populate_record(f.standing, case when (f.standing).private then c.state - 'private' else c.state end) r
     where not f.is_left),
  stood as materialized (
    select k.memory_id, k.lineage_id, case when k.trust < s.best then k.trust else s.trust end as trust, k.moot, k.status_reason is not distinct from 'erased' as erased, k.status = 'deleted' and k.status_reason is not distinct from 'forgotten' as forgotten,
           s.stands_at, s.recorded_at, s.event_id, s.ordinal
      from known k
     cross join lateral (
           select greatest(q.trust, k.trust) as trust, q.best, case when q.holds_at <= p_as_of then q.holds_at else q.valid_from end as stands_at,
                  q.recorded_at, q.event_id, q.ordinal
             from (select s.*, min(s.trust) over () as best
                     from engram.memory_sources s
                    where s.tenant_id = p_tenant_id and s.memory_id = k.memory_id and s.recorded_at <= coalesce(p_known_at, 'infinity')
                      and (k.status_reason is distinct from 'erased' or s.event_id = k.event_id)) q
            where q.valid_from <= p_as_of
            order by 1, 3 desc, q.recorded_at desc, q.event_id desc, q.ordinal desc limit 1) s
     where p_as_of is not null
       and k.status <> 'quarantined' and (k.status <> 'deleted' or k.status_reason is distinct from 'retracted')
       and not (k.status_reason is not distinct from 'erased' and (
             select e.event_type from engram.agent_events e
              where e.tenant_id = p_tenant_id and e.event_id = k.event_id) is not distinct from 'memory_lifecycle')),
  placed as (
    select s.memory_id,
           row_number() over (partition by s.lineage_id
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc, s.erased) as place_of_all,
           row_number() over (partition by s.lineage_id, s.forgotten
             order by s.trust, s.stands_at desc, s.recorded_at desc, s.event_id desc, s.ordinal desc, s.erased) as place,
           min(s.trust) over (partition by s.lineage_id, s.forgotten
             order by s.stands_at, s.recorded_at, s.event_id, s.ordinal, not s.erased rows between 1 following and unbounded following)
             <= s.trust as dominated
      from stood s
     where not s.moot)
  select k.memory_id, row(k.scope_id, k.importance, k.trust, k.private,
           case
             when k.moot and k.status = 'superseded' and p_as_of is not null and case
                    when k.put_away then k.superseded_at > p_as_of
                    else not exists (
                      select from stood h
                       where h.memory_id = k.heir
                         and (h.stands_at, h.recorded_at, h.event_id, h.ordinal) > (s.stands_at, s.recorded_at, s.event_id, s.ordinal)) end then 'active'
             when p_as_of is null or k.status in ('deleted', 'archived', 'quarantined') or k.moot then k.status
             when k.put_away and k.superseded_at <= p_as_of then k.status
             when p.place = 1 then 'active'
             when p.dominated then 'superseded'
             else 'contested' end,
           k.status_reason, k.put_away, k.superseded_at, k.consolidated_into, k.moot, k.expires_at, k.ended_at)::engram.standing
    from known k
    join asked a using (memory_id)
    left join stood s using (memory_id)
    left join placed p using (memory_id)
   where p_as_of is null or s.memory_id is not null
$$;
