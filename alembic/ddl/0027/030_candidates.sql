-- Everything the channels of an ordinary search find, in light rows: as in revision 0026, but that a question is known by the marks of
-- every script, and that what was erased with a question puts nobody's words away.
create or replace function engram.find_candidates(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_superseded boolean, p_consolidated boolean,
  p_fetch integer, p_wanted integer, p_most_pinned integer, p_also uuid[],
  p_model_id bigint, p_vector halfvec, p_graphed bigint[],
  p_window_start timestamptz, p_window_end timestamptz, p_window_centre timestamptz, p_window_half float8,
  p_term_scopes bigint[], p_labels text[], p_terms text[], p_idfs float8[], p_phrases boolean[], p_sought text[], p_unknown boolean[],
  p_total float8, p_most integer,
  p_depth integer, p_seeds integer, p_seed_floor float8, p_breadth integer, p_considered integer, p_named float8, p_names text[],
  p_structural text[], p_unfollowed text[], p_loose_cosine float8)
returns table (
  memory_id text, scope_id bigint, memory_type text, category text, importance float8, confidence float8, trust smallint, layer text,
  status text, critical_slot text, conflict_key text, moot boolean, lineage_id text, revision integer, valid_from timestamptz,
  recorded_at timestamptz, session_id text, event_id text, actor text, asks boolean, access_count bigint,
  last_accessed_at timestamptz, repetition_count integer, channels integer, cosine float8, coverage float8, matched text[],
  closeness float8, seed_id text, nearness float8, found boolean, stands boolean, heir boolean, epochs bigint, distilled jsonb,
  place text, model_in_use bigint)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_near uuid[];
  v_cosines float8[];
  v_dated uuid[];
  v_nearness float8[];
  v_aside uuid[];  -- what is pinned, and what the caller named
  v_beside uuid[];
  v_words engram.found_words[];
  v_met engram.found_memory[];
  v_loose uuid[];  -- near enough to the question for a loose relation to count
  v_told boolean;  -- whether nothing else is
  v_near_lineages bigint;
  v_worded_lineages bigint;
  v_past uuid[];  -- lineages of which an earlier value was found
  v_more_past uuid[];
  v_seeds uuid[];
  v_seed_closeness float8[];
  v_links engram.found_link[];
  v_graph uuid[];
  v_closeness float8[];
  v_graph_seeds uuid[];
  v_named uuid[];
  v_of_near boolean;
  v_of_worded boolean;
  v_standing uuid[];
  v_more_near uuid[];
  v_more_worded uuid[];
  v_heads uuid[];
  v_found uuid[];  -- found by none of the first channels
  v_measured uuid[];
  v_measured_cosines float8[];
  v_late uuid[];
  v_more engram.found_memory[];
begin
  -- A statement is planned when it is first run, and its plan is kept: made for tables without a row it would take any index for any key.
  if not exists (select from engram.agent_memory m where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids)) then
    return;
  end if;
  if p_vector is not null then
    select array_agg(n.memory_id order by n.cosine desc, n.memory_id), array_agg(n.cosine order by n.cosine desc, n.memory_id)
      into v_near, v_cosines
      from (select n.memory_id, n.cosine
              from (select distinct v.memory_id, v.cosine
                      from engram.near_vectors(p_tenant_id, p_scope_ids, p_graphed, p_model_id, p_vector, p_fetch) v) n
             order by n.cosine desc, n.memory_id
             limit p_fetch) n;
    if p_depth > 0 then
      v_loose := array(select n.memory_id from unnest(v_near, v_cosines) n(memory_id, cosine) where n.cosine >= p_loose_cosine);
      v_told := coalesce(cardinality(v_near), 0) < p_fetch or v_cosines[p_fetch] < p_loose_cosine;
    end if;
  end if;
  if p_window_centre is not null then
    select array_agg(d.memory_id), array_agg(d.nearness)
      into v_dated, v_nearness
      from (select t.memory_id, t.nearness
              from (select m.memory_id, m.status, m.consolidated_into, m.expires_at, m.ended_at,
                           1 - 0.5 * least(1, abs(extract(epoch from m.valid_from - p_window_centre))::float8 / greatest(1, p_window_half)) as nearness
                      from engram.agent_memory m
                     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids)
                       and (not m.private or m.scope_id = p_own) and m.valid_from >= p_window_start and m.valid_from < p_window_end
                     union all
                    select m.memory_id, m.status, m.consolidated_into, m.expires_at, m.ended_at, 0.25
                      from engram.agent_memory m
                     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids)
                       and (not m.private or m.scope_id = p_own) and m.valid_from < p_window_start and m.valid_to > p_window_start) t
             where (t.status = 'superseded' and t.consolidated_into is null)
                or ((t.status = 'active' or (p_superseded and t.status = 'superseded')) and (p_consolidated or t.consolidated_into is null)
                    and (t.expires_at is null or t.expires_at > clock_timestamp())
                    and (p_superseded or t.ended_at is null or t.ended_at > clock_timestamp()))
             order by t.nearness desc, t.memory_id
             limit p_fetch) d;
  end if;
  v_aside := p_also || array(
    select m.memory_id
      from engram.agent_memory m
     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
       and m.critical_slot is not null and m.status = 'active' and not m.moot
       and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
       and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())
     order by m.recorded_at desc, m.memory_id
     limit p_most_pinned);
  if p_labels is not null then
    v_beside := v_near || v_dated || v_aside;
    v_words := engram.score_words(p_scope_ids, p_term_scopes, p_labels, p_terms, p_sought, p_unknown, p_idfs, p_phrases, p_total, p_most,
      p_fetch + 1, v_beside);
  end if;
  select array_agg(row(f.*)::engram.found_memory),
         count(distinct f.lineage_id) filter (where f.near and f.stands),
         count(distinct f.lineage_id) filter (where f.worded and f.stands),
         array_agg(f.lineage_id) filter (where f.status = 'superseded'),
         (array_agg(f.memory_id order by f.relevance desc, f.memory_id)
            filter (where f.heir and (f.near or f.worded) and f.relevance >= p_seed_floor))[1:p_seeds],
         (array_agg(least(1, f.relevance) order by f.relevance desc, f.memory_id)
            filter (where f.heir and (f.near or f.worded) and f.relevance >= p_seed_floor))[1:p_seeds]
    into v_met, v_near_lineages, v_worded_lineages, v_past, v_seeds, v_seed_closeness
    from (select m.memory_id, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
                 m.critical_slot, m.conflict_key, m.moot, m.lineage_id, m.revision, m.valid_from, m.recorded_at, m.session_id,
                 m.event_id, m.actor, m.asks, m.born_epoch,
                 a.access_count, a.last_accessed_at, a.repetition_count, m.stands, m.heir, b.near, b.worded, b.relevance,
                 b.cosine, b.coverage, b.matched, b.nearness
            from (select s.memory_id, bool_or(s.near) as near, bool_or(s.worded) as worded,
                         coalesce(max(s.coverage) filter (where s.worded), 0) ^ 2 + 0.5 * greatest(0, coalesce(max(s.cosine), 0)) as relevance,
                         max(s.cosine) as cosine, max(s.coverage) as coverage, max(s.matched) as matched, max(s.nearness) as nearness
                    from (select n.memory_id, n.cosine, null::float8 as coverage, null::text[] as matched, null::float8 as nearness,
                                 true as near, false as worded
                            from unnest(v_near, v_cosines) n(memory_id, cosine)
                           union all
                          select w.memory_id, null, w.coverage, w.matched, null, false, w.place <= p_fetch
                            from unnest(v_words) with ordinality w(memory_id, matched, coverage, place)
                           where w.place <= p_fetch or (w.memory_id in (select unnest(v_beside))) is true
                           union all
                          select d.memory_id, null, null, null, d.nearness, false, false
                            from unnest(v_dated, v_nearness) d(memory_id, nearness)
                           union all select d.memory_id, null, null, null, null, false, false from unnest(v_aside) d(memory_id)) s
                   group by s.memory_id) b
           cross join lateral (
                 select m.memory_id, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
                        m.critical_slot, m.conflict_key, m.moot, m.lineage_id, m.revision, m.valid_from, m.recorded_at, m.session_id,
                        m.event_id, m.actor, m.born_epoch,
                        case when m.category in ('verbatim', 'source_chunk') and m.session_id is not null
                             then right(m.fact, 200) ~ '[?？﹖؟՞፧⸮‽⁇⁈⁉❓❔]' end as asks,
                        ((m.status = 'active' or (p_superseded and m.status = 'superseded')) and (p_consolidated or m.consolidated_into is null)
                         and (m.expires_at is null or m.expires_at > clock_timestamp())
                         and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())) is true as stands,
                        (m.status = 'active' and m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
                         and (m.ended_at is null or m.ended_at > clock_timestamp()) and not m.moot) is true as heir
                   from engram.agent_memory m
                  where m.tenant_id = p_tenant_id and m.memory_id = b.memory_id
                    and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
            left join lateral (
                 select a.access_count, a.last_accessed_at, a.repetition_count
                   from engram.memory_activity a
                  where a.tenant_id = p_tenant_id and a.memory_id = b.memory_id offset 0) a on true) f;

  if p_depth > 0 and v_seeds is not null then
    v_links := array(
      select row(r.seed_id, r.node, r.weight, r.closeness, r.meant)::engram.found_link
        from (select h.seed_id, r.node, r.weight, h.closeness * r.weight as closeness,
                     r.relation_type = any (p_structural)
                     or (r.node in (select t.memory_id from unnest(v_met) t where t.worded)) is true as meant
                from unnest(v_seeds, v_seed_closeness) h(seed_id, closeness)
               cross join lateral (
                     select r.node, r.weight, r.relation_type
                       from (select r.target_id as node, r.weight, r.relation_type
                               from engram.memory_relations r
                              where r.tenant_id = p_tenant_id and r.ended_at is null and r.source_id = h.seed_id
                              union all
                             select r.source_id, r.weight, r.relation_type
                               from engram.memory_relations r
                              where r.tenant_id = p_tenant_id and r.ended_at is null and r.target_id = h.seed_id) r
                      where r.relation_type <> all (p_unfollowed) and r.node <> h.seed_id
                      order by r.weight desc, r.node
                      limit p_considered) r) r
       where r.meant or v_told is false or r.node = any (v_loose));
  end if;
  -- How near the question is what it was not found by: the candidates of the other channels, and what loose relations lead to where
  -- the nearest do not tell already that it is too far.
  if p_vector is not null then
    v_measured := array(
      select t.memory_id from unnest(v_met) t where t.cosine is null and (t.stands or t.status = 'superseded')
       union select r.node from unnest(v_links) r where v_told is false and not r.meant
      except select unnest(v_near));
    if cardinality(v_measured) > 0 then
      select array_agg(c.memory_id), array_agg(c.cosine)
        into v_measured, v_measured_cosines
        from engram.vector_cosines(p_tenant_id, p_scope_ids, p_model_id, p_vector, v_measured) c;
    end if;
  end if;
  if cardinality(v_links) > 0 then
    v_links := array(
      select r
        from unnest(v_links) r
       where r.meant
          or r.node = any (v_loose)
          or (r.node in (
             select c.memory_id from unnest(v_measured, v_measured_cosines) c(memory_id, cosine) where c.cosine >= p_loose_cosine)) is true);
    if cardinality(v_links) > 0 then
      select array_agg(n.memory_id), array_agg(n.closeness), array_agg(n.seed_id),
             array_agg(n.lineage_id) filter (where n.status = 'superseded')
        into v_graph, v_closeness, v_graph_seeds, v_more_past
        from (select distinct on (n.memory_id) n.memory_id, n.lineage_id, n.status, n.seed_id, n.closeness
                from (select m.memory_id, m.lineage_id, m.status, r.seed_id, r.closeness,
                             row_number() over (partition by r.seed_id order by r.weight desc, r.node) as place
                        from unnest(v_links) r
                       cross join lateral (
                             select m.memory_id, m.lineage_id, m.status, m.consolidated_into, m.expires_at, m.ended_at
                               from engram.agent_memory m
                              where m.tenant_id = p_tenant_id and m.memory_id = r.node
                                and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
                       where (m.status = 'superseded' and m.consolidated_into is null)
                          or ((m.status = 'active' or (p_superseded and m.status = 'superseded'))
                              and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
                              and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp()))) n
               where n.place <= p_breadth
               order by n.memory_id, n.closeness desc, n.seed_id) n;
      v_past := v_past || v_more_past;
    end if;
  end if;
  if p_depth > 0 and cardinality(p_names) > 0 then
    select array_agg(n.memory_id), array_agg(n.lineage_id) filter (where n.status = 'superseded')
      into v_named, v_more_past
      from (select n.memory_id, n.lineage_id, n.status
              from (select m.memory_id, m.lineage_id, m.status, m.recorded_at
                      from engram.agent_memory m
                     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
                       and m.subject = any (p_names) and (m.status = 'active' or (p_superseded and m.status = 'superseded'))
                       and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
                       and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())) n
             order by n.recorded_at desc, n.memory_id
             limit p_breadth) n;
    if v_named is not null then
      v_past := v_past || v_more_past;
      select array_agg(g.memory_id), array_agg(g.closeness), array_agg(g.seed_id)
        into v_graph, v_closeness, v_graph_seeds
        from (select distinct on (g.memory_id) g.memory_id, g.closeness, g.seed_id
                from (select l.memory_id, l.closeness, l.seed_id from unnest(v_graph, v_closeness, v_graph_seeds) l(memory_id, closeness, seed_id)
                       union all select n.memory_id, p_named, null from unnest(v_named) n(memory_id)) g
               order by g.memory_id, g.closeness desc, g.seed_id) g;
    end if;
  end if;

  -- Where too little of what a channel found stands, it is asked again for what does.
  v_of_near := coalesce(cardinality(v_near), 0) >= p_fetch and v_near_lineages < p_wanted;
  v_of_worded := coalesce(cardinality(v_words), 0) > p_fetch and v_worded_lineages < p_wanted;
  if v_of_near or v_of_worded then
    v_standing := array(
      select m.memory_id
        from engram.agent_memory m
       where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
         and (m.status = 'active' or (p_superseded and m.status = 'superseded'))
         and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
         and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp()));
    if v_of_near then
      v_more_near := array(
        select n.memory_id from engram.near_among(p_tenant_id, p_scope_ids, p_model_id, p_vector, v_standing, p_fetch) n);
    end if;
    if v_of_worded then
      v_words := engram.score_words(p_scope_ids, p_term_scopes, p_labels, p_terms, p_sought, p_unknown, p_idfs, p_phrases, p_total, p_most,
        null, v_beside);
      v_more_worded := array(
        select w.memory_id
          from unnest(v_words) with ordinality w(memory_id, matched, coverage, place)
         where (w.memory_id in (select unnest(v_standing))) is true
         order by w.place
         limit p_fetch);
    end if;
  end if;

  if v_past is not null then
    v_heads := array(
      select m.memory_id
        from (select distinct unnest(v_past) as lineage_id) p
       cross join lateral (
             select m.memory_id, m.consolidated_into, m.expires_at, m.ended_at
               from engram.agent_memory m
              where m.tenant_id = p_tenant_id and m.lineage_id = p.lineage_id and m.status = 'active' and not m.moot
                and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
       where m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
         and (m.ended_at is null or m.ended_at > clock_timestamp()));
  end if;
  v_found := v_graph || v_more_near || v_more_worded;
  if p_vector is not null and v_found is not null then
    select v_measured || array_agg(c.memory_id), v_measured_cosines || array_agg(c.cosine)
      into v_measured, v_measured_cosines
      from engram.vector_cosines(p_tenant_id, p_scope_ids, p_model_id, p_vector, array(
             select unnest(v_found) except (select unnest(v_near) union all select unnest(v_measured)))) c;
  end if;
  if v_found is not null or cardinality(v_heads) > 0 then
    if p_labels is not null and v_found is not null then
      v_late := array(
        (select unnest(v_graph) union select unnest(v_more_near))
        except (select w.memory_id from unnest(v_words) w union all select unnest(v_beside)));
      v_words := v_words || engram.score_words(p_scope_ids, p_term_scopes, p_labels, p_terms, null, p_unknown, p_idfs, p_phrases, p_total, p_most, 0, v_late);
    end if;
    v_more := array(
      select row(m.memory_id, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
                 m.critical_slot, m.conflict_key, m.moot, m.lineage_id, m.revision, m.valid_from, m.recorded_at, m.session_id,
                 m.event_id, m.actor, m.asks, m.born_epoch,
                 a.access_count, a.last_accessed_at, a.repetition_count, m.stands, m.heir, false, false, null,
                 null, w.coverage, w.matched, null)::engram.found_memory
        from (select unnest(v_found || v_heads) as memory_id except select t.memory_id from unnest(v_met) t) b
       cross join lateral (
             select m.memory_id, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
                    m.critical_slot, m.conflict_key, m.moot, m.lineage_id, m.revision, m.valid_from, m.recorded_at, m.session_id,
                    m.event_id, m.actor, m.born_epoch,
                    case when m.category in ('verbatim', 'source_chunk') and m.session_id is not null
                         then right(m.fact, 200) ~ '[?？﹖؟՞፧⸮‽⁇⁈⁉❓❔]' end as asks,
                    ((m.status = 'active' or (p_superseded and m.status = 'superseded')) and (p_consolidated or m.consolidated_into is null)
                     and (m.expires_at is null or m.expires_at > clock_timestamp())
                     and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())) is true as stands,
                    (m.status = 'active' and m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
                     and (m.ended_at is null or m.ended_at > clock_timestamp()) and not m.moot) is true as heir
               from engram.agent_memory m
              where m.tenant_id = p_tenant_id and m.memory_id = b.memory_id
                and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
        left join lateral (
             select a.access_count, a.last_accessed_at, a.repetition_count
               from engram.memory_activity a
              where a.tenant_id = p_tenant_id and a.memory_id = b.memory_id offset 0) a on true
        left join (select w.memory_id, w.matched, w.coverage from unnest(v_words) w) w on w.memory_id = b.memory_id);
  end if;

  return query
  select m.memory_id::text, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
         m.critical_slot, m.conflict_key, m.moot, m.lineage_id::text, m.revision, m.valid_from, m.recorded_at, m.session_id,
         m.event_id::text, m.actor, m.asks, m.access_count, m.last_accessed_at, m.repetition_count,
         case when g.memory_id is null then 0 else 1 end
         + case when m.worded or m.memory_id = any (v_more_worded) then 2 else 0 end
         + case when m.near or m.memory_id = any (v_more_near) then 4 else 0 end
         + case when m.nearness is null then 0 else 8 end,
         coalesce(m.cosine, c.cosine), m.coverage, m.matched, g.closeness, g.seed_id::text, m.nearness,
         m.met or (m.memory_id = any (v_found)) is true, m.stands, m.heir,
         greatest((array(
           select e.epoch
             from unnest(p_scope_ids) with ordinality r(scope_id, place)
             left join lateral (
                  select s.epoch
                    from engram.memory_scopes s
                   where s.tenant_id = p_tenant_id and s.scope_id = r.scope_id offset 0) e on true
            order by r.place))[array_position(p_scope_ids, m.scope_id)] - m.born_epoch, 0),
         case when m.category in ('verbatim', 'source_chunk') then (
           select jsonb_agg(jsonb_build_array(d.memory_id, d.status) order by d.memory_id)
             from (select o.memory_id, o.status, o.category
                     from (select q.memory_id from engram.memory_sources q
                            where q.tenant_id = p_tenant_id and q.event_id = m.event_id and q.ordinal < 10000) q
                    cross join lateral (
                          select o.memory_id, o.status, o.category
                            from engram.agent_memory o
                           where o.tenant_id = p_tenant_id and o.memory_id = q.memory_id
                             and (o.status_reason is distinct from 'erased') is true
                             and (o.scope_id = any (p_scope_ids) and (not o.private or o.scope_id = p_own)) is true offset 0) o) d
            where coalesce(d.category, '') not in ('verbatim', 'source_chunk')) end,
         case when m.session_id is not null then (
           select e.stream_id || ':' || e.position
             from engram.agent_events e
            where e.tenant_id = p_tenant_id and e.event_id = m.event_id) end,
         (select u.model_id from engram.embedding_models u where u.tenant_id = p_tenant_id and u.state = 'active')
    from (select true as met, t.* from unnest(v_met) t where t.stands or t.status = 'superseded'
           union all select false, t.* from unnest(v_more) t) m
    left join unnest(v_measured, v_measured_cosines) c(memory_id, cosine) on c.memory_id = m.memory_id
    left join unnest(v_graph, v_closeness, v_graph_seeds) g(memory_id, closeness, seed_id) on g.memory_id = m.memory_id
   order by m.revision desc;
end $$;

comment on function engram.find_candidates is 'Everything the channels of an ordinary search find, in light rows; its plans are kept for the length of a connection.';

revoke all on function engram.find_candidates from public;

grant execute on function engram.find_candidates to engram_app;
