-- A walk along relations, as 0011/041_walk.sql has it, also agrees with a plain one where paths weigh the same: what was not looked up
-- may be nowhere, and a path between two ends may come after as many others that are worth no less.
create or replace function engram.walk_relations(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_as_of timestamptz, p_known_at timestamptz, p_superseded boolean, p_seeds uuid[],
  p_depths integer[], p_outbound boolean, p_inbound boolean, p_types text[], p_min_weight float8, p_breadth integer, p_budget integer,
  p_limit_per_seed integer, p_limit integer, p_by_path float8, p_by_question float8, p_by_importance float8, p_model_id bigint,
  p_vector halfvec, p_gate float8, p_structural text[], p_most integer)
returns table (
  seed text, node text, depth integer, path text[], types text[], ways boolean[], weight float8, score float8, reached bigint, cut boolean)
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  v_now constant boolean := p_as_of is null and p_known_at is null;
  v_clock constant timestamptz := coalesce(p_as_of, p_known_at, clock_timestamp());
  v_wanted constant integer := least(p_limit, p_limit_per_seed);
  v_hops constant integer := (select max(d) from unnest(p_depths) d);
  v_all engram.walk_step[];                       -- every step that was kept
  v_hop engram.walk_step[];                       -- those of the last hop
  v_kept engram.walk_step[];                      -- those of this one
  v_some engram.walk_step[];
  v_none uuid[];
  v_nowhere uuid[];                               -- where its other paths lead: not current, or not in sight
  v_best float8[];                                -- the best scores so far
  v_cut boolean := false;
  v_least float8 := 0;                            -- a lighter path leads to nothing that is wanted
  v_before float8;                                -- the same before this hop
  v_floor float8;                                 -- a lighter path of this hop is not read
  v_plain boolean := v_now and p_gate is null and p_vector is null and p_most is null and cardinality(p_seeds) = 1
                     and p_outbound <> p_inbound; -- no hub was met yet
  v_looked boolean := false;                      -- the first of what was read are looked up already,
  v_past integer := 0;                            -- and so many of the hop are no longer in the lists
  v_first boolean;                                -- whether nothing that this hop leads to was looked up yet
  v_each float8;                                  -- how many paths one memory led to
  v_enough constant float8 := case when p_most is null then 2 * v_wanted else 1.2 * p_budget end;  -- paths that are read of a hop at first
  v_place integer[];                              -- the best path to each memory of this hop, the heaviest first: place in the last hop,
  v_node uuid[];                                  -- memory,
  v_type text[];                                  -- and relation,
  v_way boolean[];
  v_weight float8[];                              -- and what the path is worth
  v_total integer;
  v_read integer;
  v_upto integer;                                 -- so many were looked up
  v_next integer;
  v_told integer[] := '{}';                       -- relations read before: those of another moment, and those of hubs looked through
  v_told_node uuid[];
  v_told_type text[];
  v_told_way boolean[];
  v_told_weight float8[];
  v_hub integer[];                                -- what hubs lead to: place in the last hop,
  v_hub_node uuid[];                              -- memory,
  v_hub_weight float8[];                          -- weight of the path,
  v_hub_nth bigint[];                             -- and which it is of its hub
  v_meets uuid[];                                 -- where the last hop of one end may meet the other's
  v_whole boolean;
  v_heavy float8[];                               -- what its paths are worth, wherever they lead
  v_doubted integer[];                            -- hubs to be looked through,
  v_sifted integer[];                             -- and those that were
begin
  if v_now then
    v_all := array(
      select row(m.memory_id, m.memory_id, 0, array[m.memory_id], '{}'::text[], '{}'::boolean[], 1, m.importance, null)::engram.walk_step
        from unnest(p_seeds) s(memory_id)
       cross join lateral (
             select m.memory_id, m.importance
               from engram.agent_memory m
              where m.tenant_id = p_tenant_id and m.memory_id = s.memory_id
                and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m);
  else
    v_all := array(
      select row(m.memory_id, m.memory_id, 0, array[m.memory_id], '{}'::text[], '{}'::boolean[], 1, m.importance, null)::engram.walk_step
        from (select s.memory_id, (s.standing).* from engram.standings_at(p_tenant_id, p_scope_ids, p_as_of, p_known_at, p_seeds) s) m
       where m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own));
  end if;
  v_hop := v_all;
  for hop in 1 .. v_hops loop
    if cardinality(p_seeds) > 1 or (v_least > 0 and not v_plain) then
      v_hop := array(select w from unnest(v_hop) w where w.weight >= v_least and hop <= p_depths[array_position(p_seeds, w.seed)]);
    end if;
    exit when cardinality(v_hop) = 0;
    v_meets := case when hop > p_depths[2] and p_most is not null then array(select w.node from unnest(v_all) w where w.seed = p_seeds[2]) end;
    v_sifted := '{}';
    v_before := v_least;
    v_floor := v_least;
    v_first := true;
    if v_now and v_least > 0 and p_gate is null then
      -- What will matter is guessed: that many paths are heavier, if relations weigh anything up to the heaviest alike.
      v_floor := greatest(v_least, (
        select max((h.nth - v_enough / v_each) / h.sum) * max(h.weight) ^ (1.0 / (hop - 1))
          from (select h.weight, h.nth, sum(1 / h.weight) over (order by h.nth rows unbounded preceding) as sum
                  from unnest(v_hop) with ordinality h(seed, node, depth, path, types, ways, weight, importance, cosine, nth)
                 where h.weight >= v_least) h));
      if v_floor > v_least then
        v_meets := null;                          -- more than are kept: which of them count is seen from the whole hop alone
      end if;
    end if;
    if v_now then
      v_told := '{}';
    else
      with w as materialized (
        select w.place::integer, w.node, w.path, greatest(p_min_weight, v_least / nullif(w.weight, 0) - 1e-9) as least
          from unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place))
      select coalesce(array_agg(e.place), '{}'), array_agg(e.node), array_agg(e.relation_type), array_agg(e.inbound), array_agg(e.weight)
        into v_told, v_told_node, v_told_type, v_told_way, v_told_weight
        from (select w.place, e.*
                from w
               cross join lateral (
                     select e.*
                       from (select r.target_id as node, r.relation_type, false as inbound, r.weight
                               from engram.relations_at(w.node, false, p_as_of, p_known_at) r
                              where p_outbound
                              union all
                             select r.source_id, r.relation_type, true, r.weight
                               from engram.relations_at(w.node, true, p_as_of, p_known_at) r
                              where p_inbound) e
                      where e.weight >= w.least and e.node <> all (w.path) and (p_types is null or e.relation_type = any (p_types))
                      order by e.weight desc, e.node, e.relation_type, e.inbound
                      limit p_breadth + 1) e) e;
    end if;
    loop                                          -- once, and once more for hubs that have to be looked through
      if v_plain then
        v_past := case when v_first then 0 else v_past + v_upto end;
        v_next := case when not v_first then p_budget + 1 - cardinality(v_kept)
                       when v_least > 0 then least(2 * v_wanted, p_budget + 1)
                       when hop = v_hops then v_wanted
                       else p_budget + 1 end;
        with near as materialized (
          select w.place::integer, w.seed, w.path, w.types, w.ways, e.node, e.relation_type, w.weight * e.weight as worth
            from unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place)
           cross join lateral (
                 (select r.target_id as node, r.relation_type, r.weight
                    from engram.memory_relations r
                   where p_outbound and r.tenant_id = p_tenant_id and r.source_id = w.node and r.ended_at is null
                     and r.weight >= greatest(p_min_weight, v_floor / nullif(w.weight, 0) - 1e-9)
                     and r.target_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                   order by r.weight desc, r.target_id, r.relation_type
                   limit p_breadth + 1)
                 union all
                 (select r.source_id, r.relation_type, r.weight
                    from engram.memory_relations r
                   where p_inbound and r.tenant_id = p_tenant_id and r.target_id = w.node and r.ended_at is null
                     and r.weight >= greatest(p_min_weight, v_floor / nullif(w.weight, 0) - 1e-9)
                     and r.source_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                   order by r.weight desc, r.source_id, r.relation_type
                   limit p_breadth + 1)) e
           where w.weight >= v_floor),
        hubs as materialized (
          select exists (select from near n group by n.place having count(*) > p_breadth) as met)
        select array_agg(b.place) filter (where b.nr > v_past + v_next), array_agg(b.node) filter (where b.nr > v_past + v_next),
               array_agg(b.relation_type) filter (where b.nr > v_past + v_next),
               array_agg(p_inbound) filter (where b.nr > v_past + v_next), array_agg(b.worth) filter (where b.nr > v_past + v_next),
               array_agg(row(b.seed, b.node, hop, b.path || b.node, b.types || b.relation_type, b.ways || p_inbound, b.worth, m.importance,
                             null)::engram.walk_step) filter (where m.importance is not null),
               coalesce(max(b.nr), v_past), (select not h.met from hubs h)
          into v_place, v_node, v_type, v_way, v_weight, v_some, v_read, v_plain
          from (select b.*, row_number() over (order by b.worth desc, b.path, b.node) as nr
                  from (select distinct on (n.node) n.*
                          from near n
                         where n.worth >= v_floor
                         order by n.node, n.worth desc, n.types, n.relation_type, n.path) b) b
          left join lateral (
               select m.importance
                 from engram.agent_memory m
                where b.nr > v_past and b.nr <= v_past + v_next and (select not h.met from hubs h)
                  and m.tenant_id = p_tenant_id and m.memory_id = b.node
                  and engram.stands_there(
                      m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                      p_superseded, v_clock) offset 0) m on true
         where b.nr > v_past;
        v_looked := v_plain;
        v_first := v_first or not v_plain;
        v_past := least(v_past + v_next, v_read);
        v_next := 0;
        v_upto := 0;
        v_hub := null;
      end if;
      if not v_looked then
      with w as materialized (
        select w.seed, w.node, w.path, w.weight, w.place::integer, rank() over (order by w.types) as by_types,
               rank() over (order by w.path) as by_path, greatest(p_min_weight, v_floor / nullif(w.weight, 0) - 1e-9) as least
          from unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place)
         where w.weight >= v_floor),
      near as materialized (
        select w.place, e.node, e.relation_type, e.inbound, e.weight, w.weight * e.weight as worth, w.seed, w.by_types, w.by_path
          from w
         cross join lateral (
               (select r.target_id as node, r.relation_type, false as inbound, r.weight
                  from engram.memory_relations r
                 where v_now and p_outbound and r.tenant_id = p_tenant_id and r.source_id = w.node and r.ended_at is null
                   and r.weight >= w.least and r.target_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                 order by r.weight desc, r.target_id, r.relation_type
                 limit p_breadth + 1)
               union all
               (select r.source_id, r.relation_type, true, r.weight
                  from engram.memory_relations r
                 where v_now and p_inbound and r.tenant_id = p_tenant_id and r.target_id = w.node and r.ended_at is null
                   and r.weight >= w.least and r.source_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                 order by r.weight desc, r.source_id, r.relation_type
                 limit p_breadth + 1)) e
         where w.place <> all (v_sifted)
         union all
        select t.place, t.node, t.relation_type, t.inbound, t.weight, w.weight * t.weight, w.seed, w.by_types, w.by_path
          from unnest(v_told, v_told_node, v_told_type, v_told_way, v_told_weight) t(place, node, relation_type, inbound, weight)
          join w on w.place = t.place),
      hubs as materialized (
        select array(select n.place from near n group by n.place having count(*) > p_breadth) as places),
      hub as materialized (
        select n.*, row_number() over (partition by n.place order by n.weight desc, n.node, n.relation_type, n.inbound) as nth
          from near n
         where n.place = any ((select h.places from hubs h)::integer[])),
      edge as not materialized (
        select n.* from near n where n.place <> all ((select h.places from hubs h)::integer[])
         union all
        select h.place, h.node, h.relation_type, h.inbound, h.weight, h.worth, h.seed, h.by_types, h.by_path
          from hub h
         where h.nth <= p_breadth),
      best as (
        select distinct on (e.node, e.seed, structural)
               e.*, p_gate is null or e.relation_type = any (p_structural) as structural
          from edge e
         where e.worth >= v_floor and (v_meets is null or e.node in (select m from unnest(v_meets) m))
         order by e.node, e.seed, structural, e.worth desc, e.by_types, e.relation_type, e.by_path, e.inbound)
      select b.*, h.*, case when v_meets is not null then array(select e.worth from edge e) end
        into v_place, v_node, v_type, v_way, v_weight, v_hub, v_hub_node, v_hub_weight, v_hub_nth, v_heavy
        from (select array_agg(b.place), array_agg(b.node), array_agg(b.relation_type), array_agg(b.inbound), array_agg(b.worth)
                from (select b.* from best b order by b.worth desc, b.seed, b.by_path, b.node) b) b,
             (select array_agg(h.place), array_agg(h.node), array_agg(h.worth), array_agg(h.nth)
                from hub h
               where h.nth <= p_breadth + 1 and h.place <> all (v_sifted)) h;
        v_read := coalesce(cardinality(v_node), 0);
      end if;
      v_total := coalesce(cardinality(v_node), 0);
      if v_first then
        v_upto := 0;
        v_kept := '{}';
        v_nowhere := '{}';
        v_next := case when v_looked then 0
                       when p_gate is not null then v_total
                       when p_most is not null or hop = v_hops or v_least > 0 then v_wanted
                       else p_budget + 1 end;
      elsif not v_looked then                     -- what was read at first comes first again
        v_next := v_upto + least(p_budget + 1 - cardinality(v_kept),
                                 (select count(*) from unnest(v_weight[v_upto + 1 :]) x where x >= v_least));
      end if;
      while v_looked or v_upto < v_total loop                 -- until nothing is left that could matter
        if v_looked then
          v_looked := false;
          v_none := '{}';
        elsif v_now and p_vector is null then
          select array_agg(row(w.seed, e.node, hop, w.path || e.node, w.types || e.relation_type, w.ways || e.inbound, e.weight,
                               e.importance, null)::engram.walk_step order by e.nr) filter (where e.importance is not null),
                 array_agg(e.node) filter (where e.importance is null)
            into v_some, v_none
            from (select e.*, m.importance
                    from unnest(v_place[v_upto + 1 : v_next], v_node[v_upto + 1 : v_next], v_type[v_upto + 1 : v_next],
                                v_way[v_upto + 1 : v_next], v_weight[v_upto + 1 : v_next])
                         with ordinality e(place, node, relation_type, inbound, weight, nr)
                    left join lateral (
                         select m.importance
                           from engram.agent_memory m
                          where m.tenant_id = p_tenant_id and m.memory_id = e.node
                            and engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock) offset 0) m on true) e
            join unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place) on w.place = e.place;
        elsif p_vector is null and p_gate is null then  -- without a question no part of the vectors is so much as opened
          with seen as materialized (
            select m.memory_id, m.importance
              from (select s.memory_id, (s.standing).*
                      from engram.standings_at(p_tenant_id, p_scope_ids, p_as_of, p_known_at, v_node[v_upto + 1 : v_next]) s) m
             where engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock))
          select array_agg(row(w.seed, e.node, hop, w.path || e.node, w.types || e.relation_type, w.ways || e.inbound, e.weight,
                               s.importance, null)::engram.walk_step order by e.nr) filter (where s.importance is not null),
                 array_agg(e.node) filter (where s.importance is null)
            into v_some, v_none
            from unnest(v_place[v_upto + 1 : v_next], v_node[v_upto + 1 : v_next], v_type[v_upto + 1 : v_next],
                        v_way[v_upto + 1 : v_next], v_weight[v_upto + 1 : v_next])
                 with ordinality e(place, node, relation_type, inbound, weight, nr)
            left join seen s on s.memory_id = e.node
            join unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place) on w.place = e.place;
        else
          with seen as materialized (
            select m.memory_id, m.scope_id, m.importance
              from (select s.memory_id, (s.standing).*
                      from engram.standings_at(p_tenant_id, p_scope_ids, p_as_of, p_known_at, v_node[v_upto + 1 : v_next]) s
                     where not v_now
                     union all
                    select e.memory_id, m.*
                      from (select distinct n as memory_id from unnest(v_node[v_upto + 1 : v_next]) n) e
                     cross join lateral (
                           select m.scope_id, m.importance, m.trust, m.private, m.status, m.status_reason, m.put_away, m.superseded_at,
                                  m.consolidated_into, m.moot, m.expires_at, m.ended_at
                             from engram.agent_memory m
                            where m.tenant_id = p_tenant_id and m.memory_id = e.memory_id offset 0) m
                     where v_now) m
             where engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock))
          select array_agg(row(w.seed, e.node, hop, w.path || e.node, w.types || e.relation_type, w.ways || e.inbound, e.weight,
                               e.importance, e.cosine)::engram.walk_step order by e.nr) filter (where e.stands),
                 array_agg(e.node) filter (where not e.stands)
            into v_some, v_none
            from (select e.*, s.importance, v.cosine,
                         (s.importance is not null
                          and (p_gate is null or v.cosine >= p_gate or e.relation_type = any (p_structural))) is true as stands
                    from unnest(v_place[v_upto + 1 : v_next], v_node[v_upto + 1 : v_next], v_type[v_upto + 1 : v_next],
                                v_way[v_upto + 1 : v_next], v_weight[v_upto + 1 : v_next])
                         with ordinality e(place, node, relation_type, inbound, weight, nr)
                    left join seen s on s.memory_id = e.node
                    left join lateral (
                         select 1 - (v.embedding <=> p_vector) as cosine
                           from engram.memory_embeddings v
                          where p_vector is not null and v.tenant_id = p_tenant_id and v.scope_id = s.scope_id
                            and v.model_id = p_model_id and v.memory_id = e.node offset 0) v on true) e
            join unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place) on w.place = e.place;
        end if;
        v_upto := least(v_total, v_next);
        v_kept := v_kept || v_some;
        v_nowhere := v_nowhere || v_none;
        if p_most is not null then
          select greatest(v_least, max(f.weight * b.weight))
            into v_least
            from unnest(v_all || v_kept[: p_budget]) f
            join unnest(v_all || v_kept[: p_budget]) b on b.node = f.node
           where f.seed = p_seeds[1] and b.seed = p_seeds[2] and f.depth > 0 and f.depth + b.depth <= p_most
             and not f.path && b.path[1 : b.depth];
        elsif cardinality(p_seeds) = 1 and p_by_path > 0 and (hop < v_hops or v_upto < v_total or v_floor > v_least)
              and cardinality(v_all) + cardinality(v_kept) > v_wanted + 1 then
          v_best := array(
            select max(p_by_path * k.weight + p_by_importance * k.importance
                       + p_by_question * least(1, greatest(0, coalesce(k.cosine, 0))))
              from unnest(v_all || v_kept[: p_budget]) k
             where k.depth > 0
             group by k.node
             order by 1 desc
             limit v_wanted + 1);
          if cardinality(v_best) > v_wanted then  -- something is left out anyway
            v_least := greatest(v_least, (v_best[v_wanted] - p_by_question - p_by_importance) / p_by_path - 1e-9);
          end if;
        end if;
        exit when v_upto = v_total or cardinality(v_kept) > p_budget;
        if v_weight[v_upto + 1] < v_least then
          v_cut := true;
          exit;
        end if;
        v_next := v_upto + least(p_budget + 1 - cardinality(v_kept),
                                 (select count(*) from unnest(v_weight[v_upto + 1 :]) x where x >= v_least));
      end loop;
      if v_floor > v_least and cardinality(v_kept) <= p_budget then
        v_floor := v_least;                       -- lighter ones may matter too
        v_first := false;
        continue;
      end if;
      if p_gate is not null then
        v_kept := array(
          select b.step
            from (select distinct on (k.seed, k.node) k.seed, k.weight, k.path, k as step
                    from unnest(v_kept) k
                   order by k.seed, k.node, k.weight desc, k.types, k.path) b
           order by b.weight desc, b.seed, b.path
           limit p_budget + 1);
      end if;
      if v_meets is not null then
        -- A path counts if it is one of those that are kept of its hop, and a hub's relations must lead somewhere to count. Where that
        -- is not plain, the hop is looked at whole.
        v_whole := exists (
            select from unnest(v_hub, v_hub_weight, v_hub_nth) h(place, weight, nth)
             where h.nth <= p_breadth group by h.place having min(h.weight) >= v_least)
          or p_budget < (
            select count(*)
              from unnest(v_heavy) x
             where x >= (select min(f.weight)
                          from unnest(v_kept) f
                          join unnest(v_all) b on b.node = f.node
                         where b.seed = p_seeds[2] and f.weight * b.weight >= v_least));
        if v_whole then
          v_meets := null;
          v_least := v_before;
          v_floor := v_before;
          continue;
        end if;
      end if;
      exit when v_hub is null;
      v_doubted := array(
        select h.place
          from unnest(v_hub, v_hub_node, v_hub_weight, v_hub_nth) h(place, node, weight, nth)
         where h.nth <= p_breadth
         group by h.place
        having bool_or(h.node = any (v_nowhere || v_node[v_upto + 1 :]))  -- what was not looked up may be nowhere too
           and min(h.weight) >= case when cardinality(v_kept) > p_budget then v_kept[p_budget + 1].weight else v_least end);
      if cardinality(v_doubted) = 0 and not v_cut and cardinality(v_kept) <= p_budget and p_most is null then
        -- Each hub led to as many as may be followed: is there one more?
        v_cut := v_now and p_gate is null and exists (
          select
            from unnest(v_hub_node, v_hub_nth) h(node, nth)
           cross join lateral (
                 select
                   from engram.agent_memory m
                  where m.tenant_id = p_tenant_id and m.memory_id = h.node and engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock) offset 0) m
           where h.nth > p_breadth);
        if not v_cut then
          v_doubted := array(select distinct h from unnest(v_hub) h);
        end if;
      end if;
      exit when cardinality(v_doubted) = 0;
      v_sifted := v_sifted || v_doubted;
      v_least := v_before;
      v_floor := v_before;
      v_first := true;
      with w as materialized (
        select w.node, w.path, w.place::integer, greatest(p_min_weight, v_least / nullif(w.weight, 0) - 1e-9) as least
          from unnest(v_hop) with ordinality w(seed, node, depth, path, types, ways, weight, importance, cosine, place)
         where w.place = any (v_doubted)),
      sifted as materialized (
        select w.place, e.*, row_number() over (partition by w.place order by e.weight desc, e.node, e.relation_type, e.inbound) as nth
          from w
         cross join lateral (
                  (select r.target_id as node, r.relation_type, false as inbound, r.weight
                     from engram.memory_relations r
                    cross join lateral (
                          select m.scope_id
                            from engram.agent_memory m
                           where m.tenant_id = p_tenant_id and m.memory_id = r.target_id and engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock) offset 0) m
                    where v_now and p_outbound and r.tenant_id = p_tenant_id and r.source_id = w.node and r.ended_at is null
                      and r.weight >= w.least and r.target_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                      and (p_gate is null or r.relation_type = any (p_structural)
                                   or (select 1 - (v.embedding <=> p_vector)
                                         from engram.memory_embeddings v
                                        where v.tenant_id = p_tenant_id and v.scope_id = m.scope_id and v.model_id = p_model_id
                                          and v.memory_id = r.target_id) >= p_gate)
                    order by r.weight desc, r.target_id, r.relation_type
                    limit p_breadth + 1)
                   union all
                  (select r.source_id as node, r.relation_type, true as inbound, r.weight
                     from engram.memory_relations r
                    cross join lateral (
                          select m.scope_id
                            from engram.agent_memory m
                           where m.tenant_id = p_tenant_id and m.memory_id = r.source_id and engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock) offset 0) m
                    where v_now and p_inbound and r.tenant_id = p_tenant_id and r.target_id = w.node and r.ended_at is null
                      and r.weight >= w.least and r.source_id <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                      and (p_gate is null or r.relation_type = any (p_structural)
                                   or (select 1 - (v.embedding <=> p_vector)
                                         from engram.memory_embeddings v
                                        where v.tenant_id = p_tenant_id and v.scope_id = m.scope_id and v.model_id = p_model_id
                                          and v.memory_id = r.source_id) >= p_gate)
                    order by r.weight desc, r.source_id, r.relation_type
                    limit p_breadth + 1)
                   union all
                  (select r.*
                     from (select r.target_id as node, r.relation_type, false as inbound, r.weight
                             from engram.relations_at(w.node, false, p_as_of, p_known_at) r
                            where not v_now and p_outbound
                            union all
                           select r.source_id, r.relation_type, true, r.weight
                             from engram.relations_at(w.node, true, p_as_of, p_known_at) r
                            where not v_now and p_inbound
                            order by weight desc, node, relation_type, inbound) r
                    cross join lateral (
                          select m.scope_id
                            from (select (s.standing).* from engram.standings_at(
                                    p_tenant_id, p_scope_ids, p_as_of, p_known_at, array[r.node]) s) m
                           where engram.stands_there(
                                m.scope_id, m.private, m.status, m.consolidated_into, m.moot, m.expires_at, m.ended_at, p_scope_ids, p_own,
                                p_superseded, v_clock) offset 0) m
                    where r.weight >= w.least and r.node <> all (w.path) and (p_types is null or r.relation_type = any (p_types))
                      and (p_gate is null or r.relation_type = any (p_structural)
                                   or (select 1 - (v.embedding <=> p_vector)
                                         from engram.memory_embeddings v
                                        where v.tenant_id = p_tenant_id and v.scope_id = m.scope_id and v.model_id = p_model_id
                                          and v.memory_id = r.node) >= p_gate)
                    order by r.weight desc, r.node, r.relation_type, r.inbound
                    limit p_breadth + 1)) e)
      select coalesce(array_agg(t.place), '{}'), array_agg(t.node), array_agg(t.relation_type), array_agg(t.inbound), array_agg(t.weight),
             v_cut or exists (select from sifted s where s.nth > p_breadth)
        into v_told, v_told_node, v_told_type, v_told_way, v_told_weight, v_cut
        from (select t.*
                from unnest(v_told, v_told_node, v_told_type, v_told_way, v_told_weight) t(place, node, relation_type, inbound, weight)
               where t.place <> all (v_doubted)
               union all
              select s.place, s.node, s.relation_type, s.inbound, s.weight from sifted s where s.nth <= p_breadth) t;
    end loop;
    v_each := greatest(v_each, v_read::float8 / cardinality(v_hop));
    v_hop := v_kept[: p_budget];
    v_cut := v_cut or cardinality(v_kept) > p_budget;
    v_all := v_all || v_hop;
  end loop;
  if p_most is not null then                      -- both halves of the heaviest path that both ends made
    return query
    select h.seed::text, h.node::text, h.depth, h.path::text[], h.types, h.ways, h.weight, b.weight, b.depth::bigint, v_cut
      from (select f, t, f.weight * t.weight as weight, f.depth + t.depth as depth
              from unnest(v_all) f
              join unnest(v_all) t on t.node = f.node
             where f.seed = p_seeds[1] and t.seed = p_seeds[2] and f.depth > 0 and f.depth + t.depth <= p_most
               and not f.path && t.path[1 : t.depth]
             order by f.weight * t.weight desc, f.depth + t.depth, f.path, t.path
             limit 1) b
     cross join lateral (values ((b.f).seed, (b.f).node, (b.f).depth, (b.f).path, (b.f).types, (b.f).ways, (b.f).weight),
                                ((b.t).seed, (b.t).node, (b.t).depth, (b.t).path, (b.t).types, (b.t).ways, (b.t).weight))
           h(seed, node, depth, path, types, ways, weight);
    return;
  end if;
  return query
  with best as materialized (
    select distinct on (s.node) s.*
      from (select w.*, p_by_path * w.weight + p_by_importance * w.importance
                        + p_by_question * least(1, greatest(0, coalesce(w.cosine, 0))) as score
              from unnest(v_all) w
             where w.depth > 0) s
     order by s.node, s.score desc, s.depth, s.seed, s.path)
  select p.seed::text, p.node::text, p.depth, p.path::text[], p.types, p.ways, p.weight, p.score, (select count(*) from best), v_cut
    from (select b.*, row_number() over (partition by b.seed order by b.score desc, b.depth, b.node) as place from best b) p
   where p.place <= p_limit_per_seed
   order by p.score desc, p.depth, p.node
   limit p_limit;
end $$;
