-- Everything the channels of an ordinary search find, as before, with less work: words are scored by the index that finds them, the
-- neighbours of the best hits are measured together, and a search reads the scopes it may see and no others of its tenant.
-- What it does is told in `find_candidates.sql`, which does the same for every other search.
drop function engram.find_candidates;

drop function engram.vector_cosine;

create function engram.find_candidates(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_superseded boolean, p_consolidated boolean,
  p_fetch integer, p_wanted integer, p_most_pinned integer, p_also uuid[],
  p_model_id bigint, p_vector halfvec, p_graphed bigint[],
  p_window_start timestamptz, p_window_end timestamptz, p_window_centre timestamptz, p_window_half float8,
  p_term_scopes bigint[], p_labels text[], p_terms text[], p_idfs float8[], p_phrases boolean[], p_sought text[], p_leads boolean[],
  p_total float8, p_most integer,
  p_depth integer, p_seeds integer, p_seed_floor float8, p_breadth integer, p_considered integer, p_named float8, p_names text[],
  p_structural text[], p_unfollowed text[], p_loose_cosine float8)
returns table (
  memory_id text, scope_id bigint, fact text, main_content text, memory_type text, category text, tags text[], importance float8,
  confidence float8, trust smallint, layer text, status text, status_reason text, critical_slot text, conflict_key text,
  topic_key text, subject text, attribute text, value text, moot boolean, lineage_id text, revision integer, superseded_by text,
  superseded_at timestamptz, consolidated_into text, valid_from timestamptz, valid_from_stated boolean, valid_to timestamptz,
  ended_at timestamptz, recorded_at timestamptz, expires_at timestamptz, surprise float8, source text, session_id text,
  task_run_id text, metadata jsonb, private boolean, deriver text, deriver_version integer, policy text, policy_version integer,
  rule text, embed_state text, event_id text, actor text, namespace text, agent_id text, user_id text, access_count bigint,
  last_accessed_at timestamptz, repetition_count integer, positive integer, negative integer, expired boolean, ended boolean,
  citations jsonb, channels text[], cosine float8, coverage float8, matched text[], closeness float8, seed_id text, nearness float8,
  found boolean, stands boolean, heir boolean, epochs bigint, distilled jsonb, place text,
  model_in_use bigint)
language plpgsql stable rows 200
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with scopes as materialized (
    select s.scope_id, s.namespace, s.agent_id, s.user_id, s.epoch
      from unnest(p_scope_ids) r(scope_id)
     cross join lateral (
           select s.scope_id, s.namespace, s.agent_id, s.user_id, s.epoch
             from engram.memory_scopes s
            where s.tenant_id = p_tenant_id and s.scope_id = r.scope_id offset 0) s),
  pinned as materialized (
    select m.memory_id
      from engram.agent_memory m
     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
       and m.critical_slot is not null and m.status = 'active' and not m.moot
       and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
       and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())
     order by m.recorded_at desc, m.memory_id
     limit p_most_pinned),
  semantic as materialized (
    select n.memory_id, n.cosine
      from (select distinct v.memory_id, v.cosine
              from engram.near_vectors(p_tenant_id, p_scope_ids, p_graphed, p_model_id, p_vector, p_fetch) v) n
     order by n.cosine desc, n.memory_id
     limit p_fetch),
  temporal as materialized (
    select t.memory_id, t.nearness
      from (select m.memory_id, m.status, m.consolidated_into, m.expires_at, m.ended_at,
                   1 - 0.5 * least(1, abs(extract(epoch from m.valid_from - p_window_centre))::float8 / greatest(1, p_window_half)) as nearness
              from engram.agent_memory m
             where p_window_centre is not null and m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids)
               and (not m.private or m.scope_id = p_own) and m.valid_from >= p_window_start and m.valid_from < p_window_end
             union all
            select m.memory_id, m.status, m.consolidated_into, m.expires_at, m.ended_at, 0.25
              from engram.agent_memory m
             where p_window_centre is not null and m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids)
               and (not m.private or m.scope_id = p_own) and m.valid_from < p_window_start and m.valid_to > p_window_start) t
     where (t.status = 'superseded' and t.consolidated_into is null)
        or ((t.status = 'active' or (p_superseded and t.status = 'superseded')) and (p_consolidated or t.consolidated_into is null)
            and (t.expires_at is null or t.expires_at > clock_timestamp())
            and (p_superseded or t.ended_at is null or t.ended_at > clock_timestamp()))
     order by t.nearness desc, t.memory_id
     limit p_fetch),
  beside as materialized (
    select memory_id from semantic union select memory_id from temporal union select memory_id from pinned union select unnest(p_also)),
  scored as materialized (
    select w.memory_id, w.matched, w.coverage
      from engram.score_words(p_scope_ids, p_term_scopes, p_labels, p_terms, p_sought, p_leads, p_idfs, p_phrases, p_total, p_most,
             array(select memory_id from beside)) w),
  keyword as materialized (
    select s.memory_id, s.coverage from scored s order by s.coverage desc, s.memory_id limit p_fetch),
  met as materialized (
    select m.memory_id, m.lineage_id, m.status, b.near, b.worded, b.nearness,
           ((m.status = 'active' or (p_superseded and m.status = 'superseded')) and (p_consolidated or m.consolidated_into is null)
            and (m.expires_at is null or m.expires_at > clock_timestamp())
            and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())) is true as stands,
           (m.status = 'active' and m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
            and (m.ended_at is null or m.ended_at > clock_timestamp()) and not m.moot) is true as leads
      from (select s.memory_id, bool_or(s.near) as near, bool_or(s.worded) as worded,
                   coalesce(max(s.coverage), 0) ^ 2 + 0.5 * greatest(0, coalesce(max(s.cosine), 0)) as nearness
              from (select memory_id, cosine, null::float8 as coverage, true as near, false as worded from semantic
                     union all select memory_id, null, coverage, false, true from keyword
                     union all select memory_id, null, null, false, false from beside) s
             group by s.memory_id) b
     cross join lateral (
           select m.memory_id, m.lineage_id, m.status, m.consolidated_into, m.expires_at, m.ended_at, m.moot
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = b.memory_id
              and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m),
  hop_0 as materialized (
    select t.memory_id, least(1, t.nearness) as closeness
      from met t
     where p_depth > 0 and t.leads and (t.near or t.worded) and t.nearness >= p_seed_floor
     order by t.nearness desc, t.memory_id
     limit p_seeds),
  beside_seeds as materialized (
    select h.memory_id as seed_id, h.closeness * r.weight as closeness, r.node, r.weight,
           r.relation_type = any (p_structural) or (r.node in (select t.memory_id from met t where t.worded)) is true as meant
      from hop_0 h
     cross join lateral (
           select r.node, r.weight, r.relation_type
             from (select r.target_id as node, r.weight, r.relation_type
                     from engram.memory_relations r
                    where r.tenant_id = p_tenant_id and r.ended_at is null and r.source_id = h.memory_id
                    union all
                   select r.source_id, r.weight, r.relation_type
                     from engram.memory_relations r
                    where r.tenant_id = p_tenant_id and r.ended_at is null and r.target_id = h.memory_id) r
            where r.relation_type <> all (p_unfollowed) and r.node <> h.memory_id
            order by r.weight desc, r.node
            limit p_considered) r),
  near_seeds as materialized (
    select v.memory_id
      from engram.vector_cosines(p_tenant_id, p_scope_ids, p_model_id, p_vector, array(
             select distinct r.node from beside_seeds r where not r.meant)) v
     where v.cosine >= p_loose_cosine),
  hop_1 as materialized (
    select distinct on (n.memory_id) n.memory_id, n.lineage_id, n.status, n.seed_id, n.closeness
      from (select m.memory_id, m.lineage_id, m.status, r.seed_id, r.closeness,
                   row_number() over (partition by r.seed_id order by r.weight desc, r.node) as place
              from beside_seeds r
             cross join lateral (
                   select m.memory_id, m.lineage_id, m.status, m.consolidated_into, m.expires_at, m.ended_at
                     from engram.agent_memory m
                    where m.tenant_id = p_tenant_id and m.memory_id = r.node
                      and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
             where (r.meant or (r.node in (select v.memory_id from near_seeds v)) is true)
               and ((m.status = 'superseded' and m.consolidated_into is null)
                    or ((m.status = 'active' or (p_superseded and m.status = 'superseded'))
                        and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
                        and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())))) n
     where n.place <= p_breadth
     order by n.memory_id, n.closeness desc, n.seed_id),
  named as (
    select n.memory_id, n.lineage_id, n.status
      from (select m.memory_id, m.lineage_id, m.status, m.recorded_at
              from engram.agent_memory m
             where p_depth > 0 and m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
               and m.subject = any (p_names) and (m.status = 'active' or (p_superseded and m.status = 'superseded'))
               and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
               and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())
             limit p_considered) n
     order by n.recorded_at desc, n.memory_id
     limit p_breadth),
  graph as materialized (
    select distinct on (g.memory_id) g.memory_id, g.lineage_id, g.status, g.closeness, g.seed_id
      from (select n.memory_id, n.lineage_id, n.status, n.closeness, n.seed_id from hop_1 n
             union all
            select n.memory_id, n.lineage_id, n.status, p_named, null from named n) g
     order by g.memory_id, g.closeness desc, g.seed_id),
  short as materialized (
    select (select count(*) from semantic) >= p_fetch
           and (select count(distinct t.lineage_id) from met t where t.near and t.stands) < p_wanted as of_near,
           (select count(*) from scored) > p_fetch
           and (select count(distinct t.lineage_id) from met t where t.worded and t.stands) < p_wanted as of_worded),
  standing as materialized (
    select m.memory_id
      from engram.agent_memory m
     where (select s.of_near or s.of_worded from short s)
       and m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
       and (m.status = 'active' or (p_superseded and m.status = 'superseded'))
       and (p_consolidated or m.consolidated_into is null) and (m.expires_at is null or m.expires_at > clock_timestamp())
       and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())),
  more_near as materialized (
    select n.memory_id, n.cosine
      from engram.near_among(p_tenant_id, p_scope_ids, p_model_id, p_vector,
             (select array_agg(t.memory_id) from standing t where (select s.of_near from short s)), p_fetch) n),
  more_worded as materialized (
    select s.memory_id
      from scored s
     where (select o.of_worded from short o) and (s.memory_id in (select t.memory_id from standing t)) is true
     order by s.coverage desc, s.memory_id
     limit p_fetch),
  chosen as materialized (
    select t.memory_id from met t where t.stands or t.status = 'superseded'
     union select memory_id from graph union select memory_id from more_near union select memory_id from more_worded),
  late as (
    select w.memory_id, w.matched, w.coverage
      from engram.score_words(p_scope_ids, p_term_scopes, p_labels, p_terms, null, null, p_idfs, p_phrases, p_total, p_most, array(
             (select memory_id from graph union select memory_id from more_near)
             except (select memory_id from scored union all select memory_id from beside))) w),
  heirs as (
    select m.memory_id
      from (select t.lineage_id from met t where t.status = 'superseded'
             union select g.lineage_id from graph g where g.status = 'superseded') p
     cross join lateral (
           select m.memory_id, m.consolidated_into, m.expires_at, m.ended_at
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.lineage_id = p.lineage_id and m.status = 'active' and not m.moot
              and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
     where m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
       and (m.ended_at is null or m.ended_at > clock_timestamp())),
  signals as materialized (
    select s.memory_id, bit_or(s.channel) as channels, max(s.cosine) as cosine,
           max(s.coverage) as coverage, max(s.matched) as matched, max(s.closeness) as closeness, max(s.seed_id::text) as seed_id,
           max(s.nearness) as nearness, bool_or(s.found) as found
      from (select memory_id, null::integer as channel, null::float8 as cosine, null::float8 as coverage, null::text[] as matched,
                   null::float8 as closeness, null::uuid as seed_id, null::float8 as nearness, true as found from chosen
             union all select memory_id, null, null, null, null, null, null, null, false from heirs
             union all select memory_id, 4, cosine, null, null, null, null, null, null from semantic
             union all select memory_id, 4, cosine, null, null, null, null, null, null from more_near
             union all
            select v.memory_id, null, v.cosine, null, null, null, null, null, null
              from engram.vector_cosines(p_tenant_id, p_scope_ids, p_model_id, p_vector, array(
                     select memory_id from chosen except (select memory_id from semantic union all select memory_id from more_near))) v
             union all select memory_id, 2, null, null, null, null, null, null, null from keyword
             union all select memory_id, 2, null, null, null, null, null, null, null from more_worded
             union all
            select memory_id, null, null, coverage, matched, null, null, null, null from scored
             where (memory_id in (select c.memory_id from chosen c union all select h.memory_id from heirs h)) is true
             union all select memory_id, null, null, coverage, matched, null, null, null, null from late
             union all select memory_id, 1, null, null, null, closeness, seed_id, null, null from graph
             union all select memory_id, 8, null, null, null, null, null, nearness, null from temporal) s
     group by s.memory_id
    having bool_or(s.found) is not null)
  select m.memory_id::text, m.scope_id, m.fact, m.main_content, m.memory_type, m.category, m.tags, m.importance, m.confidence,
         m.trust, m.layer, m.status, m.status_reason, m.critical_slot, m.conflict_key, m.topic_key, m.subject, m.attribute, m.value,
         m.moot, m.lineage_id::text, m.revision, m.superseded_by::text, m.superseded_at, m.consolidated_into::text, m.valid_from,
         m.valid_from_stated, m.valid_to, m.ended_at, m.recorded_at, m.expires_at, m.surprise, m.source, m.session_id,
         m.task_run_id, m.metadata, m.private, m.deriver, m.deriver_version, m.policy, m.policy_version, m.rule, m.embed_state,
         m.event_id::text, m.actor, s.namespace, s.agent_id, s.user_id, a.access_count, a.last_accessed_at, a.repetition_count,
         a.positive, a.negative, (m.expires_at is not null and m.expires_at <= clock_timestamp()),
         (m.ended_at is not null and m.ended_at <= clock_timestamp()),
         (select coalesce(jsonb_agg(jsonb_build_array(q.event_id, q.char_start, q.char_end, encode(q.quote_hash, 'hex'), q.verified)
                                    order by q.recorded_at, q.event_id, q.ordinal), '[]')
            from engram.memory_sources q where q.tenant_id = p_tenant_id and q.memory_id = m.memory_id),
         array_remove(array[case when n.channels & 1 > 0 then 'graph' end, case when n.channels & 2 > 0 then 'keyword' end,
                            case when n.channels & 4 > 0 then 'semantic' end, case when n.channels & 8 > 0 then 'temporal' end], null),
         n.cosine, n.coverage, n.matched, n.closeness, n.seed_id, n.nearness, n.found,
         ((m.status = 'active' or (p_superseded and m.status = 'superseded')) and (p_consolidated or m.consolidated_into is null)
          and (m.expires_at is null or m.expires_at > clock_timestamp())
          and (p_superseded or m.ended_at is null or m.ended_at > clock_timestamp())) is true,
         (m.status = 'active' and m.consolidated_into is null and (m.expires_at is null or m.expires_at > clock_timestamp())
          and (m.ended_at is null or m.ended_at > clock_timestamp()) and not m.moot) is true,
         greatest(s.epoch - m.born_epoch, 0),
         case when m.category in ('verbatim', 'source_chunk') then (
           select jsonb_agg(jsonb_build_array(d.memory_id, d.status) order by d.memory_id)
             from (select m.memory_id, m.status, m.category
                     from (select q.memory_id from engram.memory_sources q
                            where q.tenant_id = p_tenant_id and q.event_id = m.event_id) q
                    cross join lateral (
                          select m.memory_id, m.status, m.category
                            from engram.agent_memory m
                           where m.tenant_id = p_tenant_id and m.memory_id = q.memory_id
                             and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m) d
            where coalesce(d.category, '') not in ('verbatim', 'source_chunk')) end,
         case when m.session_id is not null then (
           select e.stream_id || ':' || e.position
             from engram.agent_events e
            where e.tenant_id = p_tenant_id and e.event_id = m.event_id) end,
         (select u.model_id from engram.embedding_models u where u.tenant_id = p_tenant_id and u.state = 'active')
    from signals n
   cross join lateral (
         select m.memory_id, m.scope_id, m.fact, m.main_content, m.memory_type, m.category, m.tags, m.importance, m.confidence,
                m.trust, m.layer, m.status, m.status_reason, m.critical_slot, m.conflict_key, m.topic_key, m.subject, m.attribute,
                m.value, m.moot, m.lineage_id, m.revision, m.superseded_by, m.superseded_at, m.consolidated_into, m.valid_from,
                m.valid_from_stated, m.valid_to, m.ended_at, m.recorded_at, m.expires_at, m.surprise, m.source, m.session_id,
                m.task_run_id, m.metadata, m.private, m.deriver, m.deriver_version, m.policy, m.policy_version, m.rule, m.embed_state,
                m.event_id, m.actor, m.born_epoch
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id
            and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
    join scopes s on s.scope_id = m.scope_id
    left join lateral (
         select a.access_count, a.last_accessed_at, a.repetition_count, a.positive, a.negative
           from engram.memory_activity a
          where a.tenant_id = p_tenant_id and a.memory_id = n.memory_id offset 0) a on true
   order by m.revision desc;
end $$;

comment on function engram.find_candidates is 'Everything the channels of an ordinary search find, whole; its plan is kept for the length of a connection.';

revoke all on function engram.find_candidates from public;

grant execute on function engram.find_candidates to engram_app;
