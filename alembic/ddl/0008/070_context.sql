-- What a context is made of beside its search, by functions that keep their plans as that of a search does. They run as their caller,
-- bring what is so now, and find what the composed statements of the same names find at any moment.

-- A memory as a reader is given it.
create type engram.whole_memory as (
  memory_id text, scope_id bigint, fact text, main_content text, memory_type text, category text, tags text[], importance float8,
  confidence float8, trust smallint, layer text, status text, status_reason text, critical_slot text, conflict_key text, topic_key text,
  subject text, attribute text, value text, moot boolean, lineage_id text, revision integer, superseded_by text,
  superseded_at timestamptz, consolidated_into text, valid_from timestamptz, valid_from_stated boolean, valid_to timestamptz,
  ended_at timestamptz, recorded_at timestamptz, expires_at timestamptz, surprise float8, source text, session_id text,
  task_run_id text, metadata jsonb, private boolean, deriver text, deriver_version integer, policy text, policy_version integer,
  rule text, embed_state text, event_id text, actor text, namespace text, agent_id text, user_id text, access_count bigint,
  last_accessed_at timestamptz, repetition_count integer, positive integer, negative integer, expired boolean, ended boolean,
  citations jsonb);

-- Memories by their ids, as `load_memories.sql` brings them.
create function engram.whole_memories(p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_memory_ids uuid[])
returns setof engram.whole_memory
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if cardinality(p_memory_ids) is distinct from 0 then
    return query
    select m.memory_id::text, m.scope_id, m.fact, m.main_content, m.memory_type, m.category, m.tags, m.importance, m.confidence,
           m.trust, m.layer, m.status, m.status_reason, m.critical_slot, m.conflict_key, m.topic_key, m.subject, m.attribute, m.value,
           m.moot, m.lineage_id::text, m.revision, m.superseded_by::text, m.superseded_at, m.consolidated_into::text, m.valid_from,
           m.valid_from_stated, m.valid_to, m.ended_at, m.recorded_at, m.expires_at, m.surprise, m.source, m.session_id,
           m.task_run_id, m.metadata, m.private, m.deriver, m.deriver_version, m.policy, m.policy_version, m.rule, m.embed_state,
           m.event_id::text, m.actor, s.namespace, s.agent_id, s.user_id, a.access_count, a.last_accessed_at, a.repetition_count,
           a.positive, a.negative,
           (m.expires_at is not null and m.expires_at <= clock_timestamp()), (m.ended_at is not null and m.ended_at <= clock_timestamp()),
           (select coalesce(jsonb_agg(jsonb_build_array(q.event_id, q.char_start, q.char_end, encode(q.quote_hash, 'hex'), q.verified)
                                      order by q.recorded_at, q.event_id, q.ordinal), '[]')
              from engram.memory_sources q where q.tenant_id = m.tenant_id and q.memory_id = m.memory_id)
      from unnest(p_memory_ids) w(memory_id)
     cross join lateral (
           select m.* from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = w.memory_id
              and (m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)) is true offset 0) m
     cross join lateral (
           select s.namespace, s.agent_id, s.user_id from engram.memory_scopes s
            where s.tenant_id = m.tenant_id and s.scope_id = m.scope_id offset 0) s
      left join lateral (
           select a.access_count, a.last_accessed_at, a.repetition_count, a.positive, a.negative from engram.memory_activity a
            where a.tenant_id = m.tenant_id and a.memory_id = m.memory_id offset 0) a on true;
  end if;
end $$;

comment on function engram.whole_memories is 'Memories by their ids, whole, as far as a read may see them.';

-- What the memories of a read are about, as `count_topics.sql` counts it. Rows are put together by their names' hashes: there are few.
create function engram.count_topics(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_evidence text[], p_most integer, p_limit integer)
returns table (name text, memories bigint, trust smallint)
language plpgsql stable rows 40
set plan_cache_mode = force_generic_plan
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
  select t.name, count(*) as memories, min(t.trust) as trust
    from unnest(p_scope_ids) s(scope_id)
   cross join lateral (
         select coalesce(nullif(m.subject, 'user'), m.attribute, m.topic_key, m.category, m.memory_type) as name, m.trust,
                m.status = 'active' and m.consolidated_into is null and not m.moot
                  and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
                  and (not m.private or m.scope_id = p_own) and coalesce(m.category, '') <> all (p_evidence) as counts
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.scope_id = s.scope_id
          order by m.recorded_at desc, m.memory_id
          limit p_most) t
   where t.counts
   group by t.name
   order by memories desc, t.name collate "C"
   limit p_limit;
end $$;

comment on function engram.count_topics is 'What the memories of a read are about, largest first, by the names they have.';

-- What a context begins and ends with: what is pinned, in the order it is told, the newest decisions, the topics of trees or else counted
-- ones, and the actions that memories are read before. What is asked for none of is not looked for.
create function engram.outline_context(
  p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_order text[], p_decisions integer, p_topics integer, p_counted integer,
  p_evidence text[], p_actions integer)
returns table (critical uuid[], decisions uuid[], trees jsonb, topics jsonb, actions jsonb)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_trees jsonb;
  v_topics jsonb;
  v_actions jsonb;
begin
  if p_topics > 0 then
    select jsonb_agg(jsonb_build_array(t.scope_id, t.topic_id, t.name, t.members, t.trust) order by t.members desc, t.scope_id, t.topic_id)
      into v_trees
      from (select t.scope_id, t.topic_id, t.name, t.trust,
                   case when t.scope_id is not distinct from p_own then t.members else t.shown end as members
              from engram.memory_topics t
             where t.tenant_id = p_tenant_id and t.scope_id = any (p_scope_ids) and t.parent_id is null
               and (t.scope_id is not distinct from p_own or not t.private)
               and exists (
                 select from engram.memory_topic_members k
                   join engram.agent_memory m on m.tenant_id = k.tenant_id and m.memory_id = k.memory_id and m.scope_id = k.scope_id
                  where k.tenant_id = t.tenant_id and k.scope_id = t.scope_id
                    and (k.topic_id = t.topic_id or k.topic_id in (
                      select l.topic_id from engram.memory_topics l
                       where l.tenant_id = t.tenant_id and l.scope_id = t.scope_id and l.parent_id = t.topic_id))
                    and (not m.private or m.scope_id = p_own)
                    and m.status = 'active' and m.consolidated_into is null
                    and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
                    and not m.moot and coalesce(m.category, '') not in ('verbatim', 'source_chunk'))
             order by members desc, t.scope_id, t.topic_id
             limit p_topics) t;
    if v_trees is null then
      select jsonb_agg(jsonb_build_array(c.name, c.memories, c.trust) order by c.memories desc, c.name collate "C")
        into v_topics
        from engram.count_topics(p_tenant_id, p_scope_ids, p_own, p_evidence, p_counted, p_topics) c;
    end if;
  end if;
  if p_actions > 0 then
    select jsonb_agg(jsonb_build_array(a.tag, a.trust) order by a.accesses desc, a.tag collate "C")
      into v_actions
      from (select t.tag, coalesce(sum(a.access_count), 0)::bigint as accesses, min(m.trust) as trust
              from engram.agent_memory m
             cross join lateral unnest(m.tags) t(tag)
              left join engram.memory_activity a on a.tenant_id = m.tenant_id and a.memory_id = m.memory_id
             where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
               and m.status = 'active' and m.consolidated_into is null
               and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
               and not m.moot and m.tags <> '{}' and engram.is_triggered(m.tags)
               and starts_with(t.tag, 'trigger:') and length(t.tag) > length('trigger:')
             group by t.tag
             order by accesses desc, t.tag collate "C"
             limit p_actions) a;
  end if;
  return query
  select array(
           select m.memory_id
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
              and m.status = 'active' and m.consolidated_into is null
              and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
              and m.critical_slot is not null and not m.moot
            order by coalesce(array_position(p_order, m.memory_type), 99), m.recorded_at desc, m.memory_id),
         array(
           select d.memory_id
             from unnest(case when p_decisions > 0 then p_scope_ids end) s(scope_id)
            cross join lateral (
                  select m.memory_id, m.recorded_at
                    from engram.agent_memory m
                   where m.tenant_id = p_tenant_id and m.scope_id = s.scope_id and (not m.private or m.scope_id = p_own)
                     and m.status = 'active' and m.consolidated_into is null
                     and (m.expires_at is null or m.expires_at > clock_timestamp())
                     and (m.ended_at is null or m.ended_at > clock_timestamp())
                     and m.memory_type in ('decision', 'constraint')
                   order by m.recorded_at desc, m.memory_id::text
                   limit p_decisions) d
            order by d.recorded_at desc, d.memory_id::text
            limit p_decisions),
         v_trees, v_topics, v_actions;
end $$;

comment on function engram.outline_context is 'The pinned memories, decisions, topics and actions of a context.';

-- The newest events of what was said and done, and of what was made, of some scopes, as `list_told_events.sql` lists them.
create function engram.told_events(
  p_tenant_id text, p_scope_ids bigint[], p_types text[], p_own_types text, p_said integer, p_made integer, p_looked integer)
returns table (kind text, stream_id uuid, "position" bigint, event_id uuid, role text, event_type text, trust smallint,
  occurred_at timestamptz, recorded_at timestamptz, session_id text, task_run_id uuid, actor text, hash bytea, body bytea)
language plpgsql stable rows 40
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select t.kind, t.stream_id, t.position, t.event_id, t.role, t.event_type, t.trust, t.occurred_at, t.recorded_at, t.session_id,
         t.task_run_id, t.actor, t.hash, p.body
    from (
      (select 'said' as kind, o.*
         from unnest(p_scope_ids) s(scope_id)
        cross join lateral (
              select e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at, e.session_id,
                     e.task_run_id, e.actor, e.hash
                from engram.agent_events e
               where e.tenant_id = p_tenant_id and e.scope_id = s.scope_id
                 and coalesce(e.stream_id <> all (array(
                       select d.stream_id from engram.event_streams d
                        where d.tenant_id = p_tenant_id and d.scope_id = any (p_scope_ids) and d.kind = 'document')), true)
                 and not exists (select from engram.agent_task_runs h
                                  where h.tenant_id = e.tenant_id and h.task_run_id = e.task_run_id and h.forgotten_at is not null)
               order by e.recorded_at desc, e.stream_id desc, e.position desc
               limit p_looked) o
        where o.event_type = any (p_types) or starts_with(o.event_type, p_own_types)
        order by o.recorded_at desc, o.stream_id desc, o.position desc
        limit p_said)
       union all
      (select 'made', o.*
         from unnest(p_scope_ids) s(scope_id)
        cross join lateral (
              select e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at, e.session_id,
                     e.task_run_id, e.actor, e.hash
                from engram.agent_events e
               where e.tenant_id = p_tenant_id and e.scope_id = s.scope_id
                 and coalesce(e.stream_id <> all (array(
                       select d.stream_id from engram.event_streams d
                        where d.tenant_id = p_tenant_id and d.scope_id = any (p_scope_ids) and d.kind = 'document')), true)
                 and e.event_type in ('artifact', 'tool_result')
                 and not exists (select from engram.agent_task_runs h
                                  where h.tenant_id = e.tenant_id and h.task_run_id = e.task_run_id and h.forgotten_at is not null)
               order by e.recorded_at desc, e.stream_id desc, e.position desc
               limit p_made) o
        order by o.recorded_at desc, o.stream_id desc, o.position desc
        limit p_made)) t
    left join engram.agent_event_payloads p on p.tenant_id = p_tenant_id and p.stream_id = t.stream_id and p.position = t.position
   order by t.recorded_at desc, t.stream_id desc, t.position desc;
end $$;

comment on function engram.told_events is 'The newest events that were said and done, and what was made, of some scopes.';

revoke all on function engram.whole_memories, engram.count_topics, engram.outline_context, engram.told_events from public;

grant execute on function engram.whole_memories, engram.count_topics, engram.outline_context, engram.told_events to engram_app;
