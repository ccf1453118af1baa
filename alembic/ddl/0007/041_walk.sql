-- A step of a walk: the path from a seed to a memory, and what it is worth.
create type engram.walk_step as (
  seed uuid, node uuid, depth integer, path uuid[], types text[], ways boolean[], weight float8, importance float8);

-- Where an ordinary walk leads: of now, without a question. It finds what `walk_relations.sql` finds, which does the same for every other
-- walk; kept here, it is planned once a connection and not once a walk. The paths of a hop are put in order by their weights first, and
-- their memories are looked up until there are enough. Where more memories are known than are wanted, a path is left that could lead
-- to none of the best: weights are at most one, so a longer path is never heavier. It sees what its caller sees.
create function engram.walk_relations(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_superseded boolean, p_seeds uuid[], p_max_depth integer, p_outbound boolean,
  p_inbound boolean, p_types text[], p_min_weight float8, p_breadth integer, p_budget integer, p_limit_per_seed integer, p_limit integer,
  p_by_path float8, p_by_importance float8)
returns table (
  seed text, node text, depth integer, path text[], types text[], ways boolean[], weight float8, score float8, reached bigint, cut boolean)
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_hop engram.walk_step[];
  v_all engram.walk_step[] := '{}';
  v_cut boolean := false;
  v_more boolean;
  v_least float8 := 0;
begin
  v_hop := array(
    select row(m.memory_id, m.memory_id, 0, array[m.memory_id], '{}'::text[], '{}'::boolean[], 1, m.importance)::engram.walk_step
      from unnest(p_seeds) s(memory_id)
     cross join lateral (
           select m.memory_id, m.importance
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = s.memory_id
              and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m);
  for hop in 1 .. p_max_depth loop
    exit when cardinality(v_hop) = 0;
    with w as materialized (
      select w.*, greatest(p_min_weight, v_least / nullif(w.weight, 0)) as least from unnest(v_hop) w),
    near as materialized (
      select w.seed, w.path, e.node, e.relation_type, e.inbound, e.weight, count(*) over (partition by w.path) as many
        from w
       cross join lateral (
             (select r.target_id as node, r.relation_type, false as inbound, r.weight
                from engram.memory_relations r
               where p_outbound and r.tenant_id = p_tenant_id and r.source_id = w.node and r.ended_at is null and r.weight >= w.least
                 and r.target_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
               order by r.weight desc, r.target_id, r.relation_type
               limit p_breadth + 1)
             union all
             (select r.source_id, r.relation_type, true, r.weight
                from engram.memory_relations r
               where p_inbound and r.tenant_id = p_tenant_id and r.target_id = w.node and r.ended_at is null and r.weight >= w.least
                 and r.source_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
               order by r.weight desc, r.source_id, r.relation_type
               limit p_breadth + 1)) e),
    hub as (
      select w.path, e.node, e.relation_type, e.inbound, e.weight
        from w
       cross join lateral (
             select case when row_number() over (order by f.weight desc, f.node, f.relation_type, f.inbound) <= p_breadth then f.node end as node,
                    f.relation_type, f.inbound, f.weight
               from (
                 (select r.target_id as node, r.relation_type, false as inbound, r.weight
                    from engram.memory_relations r
                   cross join lateral (
                         select m.memory_id
                           from engram.agent_memory m
                          where m.tenant_id = p_tenant_id and m.memory_id = r.target_id
                            and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
                                 and case when p_superseded then m.status not in ('deleted', 'quarantined')
                                     else m.status = 'active' and m.consolidated_into is null and not m.moot
                                          and (m.expires_at is null or m.expires_at > clock_timestamp())
                                          and (m.ended_at is null or m.ended_at > clock_timestamp()) end) is true offset 0) m
                   where p_outbound and r.tenant_id = p_tenant_id and r.source_id = w.node and r.ended_at is null and r.weight >= w.least
                     and r.target_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                   order by r.weight desc, r.target_id, r.relation_type
                   limit p_breadth + 1)
                 union all
                 (select r.source_id, r.relation_type, true, r.weight
                    from engram.memory_relations r
                   cross join lateral (
                         select m.memory_id
                           from engram.agent_memory m
                          where m.tenant_id = p_tenant_id and m.memory_id = r.source_id
                            and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
                                 and case when p_superseded then m.status not in ('deleted', 'quarantined')
                                     else m.status = 'active' and m.consolidated_into is null and not m.moot
                                          and (m.expires_at is null or m.expires_at > clock_timestamp())
                                          and (m.ended_at is null or m.ended_at > clock_timestamp()) end) is true offset 0) m
                   where p_inbound and r.tenant_id = p_tenant_id and r.target_id = w.node and r.ended_at is null and r.weight >= w.least
                     and r.source_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                   order by r.weight desc, r.source_id, r.relation_type
                   limit p_breadth + 1)) f
              order by f.weight desc, f.node, f.relation_type, f.inbound
              limit p_breadth + 1) e
       where w.path in (select n.path from near n where n.many > p_breadth)),
    edge as materialized (
      select n.path, n.node, n.relation_type, n.inbound, n.weight from near n where n.many <= p_breadth
       union all
      select h.path, h.node, h.relation_type, h.inbound, h.weight from hub h),
    best as (
      select distinct on (w.seed, e.node)
             w.seed, e.node, w.path || e.node as path, w.types || e.relation_type as types, w.ways || e.inbound as ways,
             w.weight * e.weight as weight
        from edge e join w on w.path = e.path
       where e.node is not null
       order by w.seed, e.node, w.weight * e.weight desc, w.types || e.relation_type, w.path || e.node),
    kept as materialized (
      select b.*, m.importance, row_number() over (order by b.weight desc, b.seed, b.path) as place
        from (select b.* from best b order by b.weight desc, b.seed, b.path) b
       cross join lateral (
             select m.importance
               from engram.agent_memory m
              where m.tenant_id = p_tenant_id and m.memory_id = b.node
                and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
                     and case when p_superseded then m.status not in ('deleted', 'quarantined')
                         else m.status = 'active' and m.consolidated_into is null and not m.moot
                              and (m.expires_at is null or m.expires_at > clock_timestamp())
                              and (m.ended_at is null or m.ended_at > clock_timestamp()) end) is true offset 0) m
       limit p_budget + 1)
    select array(select row(k.seed, k.node, hop, k.path, k.types, k.ways, k.weight, k.importance)::engram.walk_step
                   from kept k where k.place <= p_budget order by k.place),
           exists (select from kept k where k.place > p_budget) or exists (select from edge e where e.node is null)
      into v_hop, v_more;
    v_all := v_all || v_hop;
    v_cut := v_cut or v_more;
    if hop < p_max_depth and cardinality(p_seeds) = 1 and cardinality(v_all) > least(p_limit, p_limit_per_seed) and p_by_path > 0 then
      -- What the last of the best is worth, once something is left out anyway.
      select greatest(0, (min(s.score) - p_by_importance) / p_by_path - 1e-9)
        into v_least
        from (select max(p_by_path * w.weight + p_by_importance * w.importance) as score, count(*) over () as known
                from unnest(v_all) w group by w.node order by 1 desc limit least(p_limit, p_limit_per_seed)) s
       having max(s.known) > least(p_limit, p_limit_per_seed);
      v_least := coalesce(v_least, 0);
    end if;
  end loop;
  return query
  with best as materialized (
    select distinct on (s.node) s.*
      from (select w.*, p_by_path * w.weight + p_by_importance * w.importance as score from unnest(v_all) w) s
     order by s.node, s.score desc, s.depth, s.seed, s.path)
  select p.seed::text, p.node::text, p.depth, p.path::text[], p.types, p.ways, p.weight, p.score, (select count(*) from best), v_cut
    from (select b.*, row_number() over (partition by b.seed order by b.score desc, b.depth, b.node) as place from best b) p
   where p.place <= p_limit_per_seed
   order by p.score desc, p.depth, p.node
   limit p_limit;
end $$;

comment on function engram.walk_relations is 'Where an ordinary walk along relations leads; its plan is kept for the length of a connection.';

revoke all on function engram.walk_relations from public;

grant execute on function engram.walk_relations to engram_app;
