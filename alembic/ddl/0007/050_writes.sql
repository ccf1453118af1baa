-- What every write asks and does, planned once a connection and not once a write. The functions see and change what their caller may:
-- the wall, the rights of the role and the triggers stand as they do around any statement.

-- What the gates need to know of candidates, in their order: the exact twins of each, the head and lineage of its key, and how many
-- rows share its type, counted to `p_most` among the newest: who looks for a rare type in a large scope reads all of it.
create function engram.gate_rows(p_tenant_id text, p_scope_id bigint, p_fact_hashes bytea[], p_conflict_keys text[],
  p_memory_types text[], p_privates boolean[], p_nows timestamptz[], p_most integer)
returns table (exact jsonb, head jsonb, lineage_id text, same_type bigint)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with alike as materialized (
    select t.memory_type, (
           select count(*)
             from (select
                     from (select m.memory_type, m.status, m.category
                             from engram.agent_memory m
                            where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id
                            order by m.recorded_at desc, m.memory_id
                            limit 8 * p_most) m
                    where m.memory_type = t.memory_type and m.status = 'active'
                      and coalesce(m.category, '') not in ('verbatim', 'source_chunk')
                    limit p_most) c) as same_type
      from (select distinct t.memory_type from unnest(p_memory_types) t(memory_type)) t)
  select (select jsonb_agg(jsonb_build_object('memory_id', m.memory_id, 'conflict_key', m.conflict_key, 'valid_from', m.valid_from,
                                              'trust', m.trust))
            from engram.agent_memory m
           where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.fact_hash = w.fact_hash and m.status = 'active'
             and (m.expires_at is null or m.expires_at > coalesce(w.at, clock_timestamp()))
             and (m.ended_at is null or m.ended_at > coalesce(w.at, clock_timestamp())) and m.private = w.private
             and coalesce(m.category, '') not in ('verbatim', 'source_chunk')),
         (select jsonb_build_object('memory_id', m.memory_id, 'fact', m.fact, 'trust', m.trust, 'importance', m.importance,
                                    'gone', coalesce(m.ended_at <= coalesce(w.at, clock_timestamp()), false)
                                         or coalesce(m.expires_at <= coalesce(w.at, clock_timestamp()), false))
            from engram.agent_memory m
           where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.conflict_key = w.conflict_key
             and m.status = 'active' and not m.moot),
         (select m.lineage_id::text
            from engram.agent_memory m
           where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.conflict_key = w.conflict_key
             and m.status <> 'quarantined' limit 1),
         alike.same_type
    from unnest(p_fact_hashes, p_conflict_keys, p_memory_types, p_privates, p_nows)
         with ordinality w(fact_hash, conflict_key, memory_type, private, at, place)
    join alike on alike.memory_type = w.memory_type
   order by w.place;
end $$;

comment on function engram.gate_rows is 'What the gates of writing need to know of candidates, beside their neighbours.';

-- The scope as a list, where it has its graph and else an empty one. From then on this transaction walks graphs as writes do.
create function engram.graphed(p_tenant_id text, p_scope_id bigint, p_model_id bigint)
returns bigint[]
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
declare
  v_graphed bigint[];
begin
  select coalesce(array_agg(g.scope_id), '{}') into v_graphed
    from engram.memory_graphs g
   where g.tenant_id = p_tenant_id and g.scope_id = p_scope_id and g.model_id = p_model_id;
  if v_graphed <> '{}' then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
            set_config('hnsw.max_scan_tuples', '40000', true);
  end if;
  return v_graphed;
end $$;

comment on function engram.graphed is 'A scope as a list where it has its graph, which this transaction then walks as writes do.';

-- The rows of a scope nearest each of some vectors, exactly or, where the scope has its graph, through that and what is not in it yet.
create function engram.near_rows(p_tenant_id text, p_scope_id bigint, p_model_id bigint, p_vectors text[], p_most integer)
returns table (place bigint, memory_id text, cosine float8)
language plpgsql volatile rows 64
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_graphed bigint[] := engram.graphed(p_tenant_id, p_scope_id, p_model_id);
begin
  return query
  select w.place, n.memory_id::text, n.cosine
    from unnest(p_vectors) with ordinality w(vector, place)
   cross join lateral (
         select distinct v.memory_id, v.cosine
           from engram.near_vectors(p_tenant_id, array[p_scope_id], v_graphed, p_model_id, w.vector::halfvec, p_most) v
          order by v.cosine desc, v.memory_id
          limit p_most) n
   order by w.place, n.cosine desc, n.memory_id;
end $$;

comment on function engram.near_rows is 'The memories of a scope nearest each of some vectors.';

-- The nearest current facts of a scope by meaning, exactly or, where the scope has its graph, through that and what is not in it yet.
-- Evidence rows are no neighbours of facts.
create function engram.near_facts(p_tenant_id text, p_scope_id bigint, p_model_id bigint, p_vector halfvec, p_own bigint,
  p_private boolean, p_now timestamptz)
returns table (memory_id text, fact text, cosine float8, conflict_key text, valid_from timestamptz, valid_from_stated boolean)
language plpgsql volatile rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_graphed bigint[];
begin
  if p_vector is null then
    return;
  end if;
  v_graphed := engram.graphed(p_tenant_id, p_scope_id, p_model_id);
  return query
  with near as materialized (
    select n.memory_id, n.cosine
      from (select distinct v.memory_id, v.cosine
              from engram.near_vectors(p_tenant_id, array[p_scope_id], v_graphed, p_model_id, p_vector, 64) v) n
     order by n.cosine desc, n.memory_id
     limit 64)
  select m.memory_id::text, m.fact, near.cosine, m.conflict_key, m.valid_from, m.valid_from_stated
    from near
   cross join lateral (
         select m.memory_id, m.scope_id, m.fact, m.conflict_key, m.valid_from, m.valid_from_stated, m.status, m.moot,
                m.consolidated_into, m.expires_at, m.ended_at, m.category, m.private
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = near.memory_id offset 0) m
   where m.status = 'active' and not m.moot and m.consolidated_into is null
     and (m.expires_at is null or m.expires_at > coalesce(p_now, clock_timestamp()))
     and (m.ended_at is null or m.ended_at > coalesce(p_now, clock_timestamp()))
     and coalesce(m.category, '') not in ('verbatim', 'source_chunk')
     and m.private = p_private and (not m.private or m.scope_id = p_own)
   order by near.cosine desc, m.memory_id
   limit 8;
end $$;

comment on function engram.near_facts is 'The current facts of a scope nearest a vector: what a candidate is compared with.';

-- Write memories in the places they were given, each with its first statement, its counters, its history and its vector; a candidate
-- that was not stored leaves its mark in the history alone. One object for each, in their order.
create function engram.write_memories(p_tenant_id text, p_scope_id bigint, p_rows jsonb, p_policy text, p_policy_version integer,
  p_reason text, p_run_id uuid, p_at timestamptz, p_model_id bigint, p_memory_ids uuid[], p_vectors text[], p_windowed boolean[])
returns table (memory_id text, recorded_at timestamptz, layer text)
language plpgsql volatile rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with given as materialized (
    select r.*
      from rows from (jsonb_to_recordset(p_rows) as (
        memory_id uuid, fact text, fact_hash text, main_content text, memory_type text, category text, tags text[], importance float8,
        confidence float8, trust smallint, layer text, status text, critical_slot text, conflict_key text, topic_key text, subject text,
        attribute text, value text, negates text, moot boolean, lineage_id uuid, revision integer, superseded_by uuid,
        valid_from timestamptz, holds_at timestamptz, valid_from_stated boolean, ended_at timestamptz, heir_from timestamptz,
        expires_at timestamptz, surprise float8, source text, session_id text, task_run_id text, metadata jsonb, private boolean,
        deriver text, deriver_version integer, ordinal integer, rule text, event_id uuid, actor text, embed_state text,
        stated_recorded_at timestamptz, char_start integer, char_end integer, quote_hash text, verified boolean, model text,
        prompt_hash text, entry text, previous_id uuid, decision jsonb)) with ordinality as r),
  added as (
  insert into engram.agent_memory (
    tenant_id, memory_id, scope_id, fact, fact_hash, main_content, memory_type, category, tags, importance, confidence, trust, layer,
    status, status_reason, critical_slot, conflict_key, topic_key, subject, attribute, value, negates, moot, lineage_id, revision,
    superseded_by, superseded_at, valid_from, valid_from_stated, valid_to, ended_at, recorded_at, expires_at, surprise, source,
    session_id, task_run_id, metadata, private, deriver, deriver_version, ordinal, policy, policy_version, rule, event_id, actor,
    embed_state, stands_at, stands_recorded_at, stands_event_id, stands_ordinal, born_epoch, layer_epoch)
  select
    p_tenant_id, g.memory_id, p_scope_id, g.fact, decode(g.fact_hash, 'hex'), g.main_content, g.memory_type, g.category, g.tags,
    g.importance, g.confidence, g.trust,
    -- A correction of what has risen does not fall: it keeps the layer of the head it revises, but for what a pin gave that.
    case when g.previous_id is null then g.layer else
      coalesce((select h.layer from engram.agent_memory h
                 where h.tenant_id = p_tenant_id and h.memory_id = g.previous_id and h.critical_slot is null
                   and array_position(array['buffer', 'working', 'core'], h.layer)
                     > array_position(array['buffer', 'working', 'core'], g.layer)), g.layer) end,
    g.status, null, g.critical_slot, g.conflict_key, g.topic_key, g.subject, g.attribute, g.value, g.negates, g.moot, g.lineage_id,
    g.revision, g.superseded_by, case when g.status = 'superseded' then coalesce(p_at, clock_timestamp()) end,
    g.valid_from, g.valid_from_stated,
    case when g.heir_from is null then g.ended_at else greatest(g.valid_from, least(g.ended_at, g.heir_from)) end,
    g.ended_at, coalesce(p_at, clock_timestamp()), g.expires_at, g.surprise, g.source, g.session_id, g.task_run_id,
    g.metadata, g.private, g.deriver, g.deriver_version, g.ordinal, p_policy, p_policy_version, g.rule, g.event_id, g.actor,
    g.embed_state, g.holds_at, g.stated_recorded_at, g.event_id, g.ordinal, s.epoch, s.epoch
    from given g
    join engram.memory_scopes s on s.tenant_id = p_tenant_id and s.scope_id = p_scope_id
   where g.memory_id is not null
   order by g.ordinality
  returning agent_memory as m, memory_id, status, recorded_at, layer),
  counted as (
    insert into engram.memory_activity (tenant_id, memory_id, scope_id)
    select p_tenant_id, a.memory_id, p_scope_id from added a),
  stated as (
    insert into engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from,
      holds_at, recorded_at, deriver, deriver_version, trust, model, prompt_hash)
    select p_tenant_id, g.memory_id, g.event_id, g.ordinal, g.char_start, g.char_end, decode(g.quote_hash, 'hex'), g.verified,
           g.valid_from, greatest(g.valid_from, g.holds_at), g.stated_recorded_at, g.deriver, g.deriver_version, g.trust, g.model,
           g.prompt_hash
      from given g
     where g.memory_id is not null),
  embedded as (
    insert into engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding, windowed)
    select p_tenant_id, p_scope_id, p_model_id, v.memory_id, v.embedding::halfvec, v.windowed
      from unnest(p_memory_ids, p_vectors, p_windowed) v (memory_id, embedding, windowed)
     order by v.memory_id
        on conflict do nothing),
  noted as (
    insert into engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason,
      actor, event_id, run_id)
    select p_tenant_id, g.memory_id, p_scope_id, coalesce(a.recorded_at, p_at, clock_timestamp()), g.entry, a.status,
           g.previous_id, case when a.memory_id is not null then engram.memory_state(a.m) end, g.decision, p_reason,
           g.actor, g.event_id, case when a.memory_id is not null then p_run_id end
      from given g
      left join added a on a.memory_id = g.memory_id
     order by g.ordinality)
  select a.memory_id::text, a.recorded_at, a.layer from added a;
end $$;

comment on function engram.write_memories is 'Write memories, each with its first statement, its counters, its history and its vector.';

-- Write, or write again, the words memories are found by. What a memory is about (its slot, topic and attribute) stands with
-- what was said just before it.
create function engram.index_words(p_tenant_id text, p_scope_id bigint, p_config text, p_memory_ids uuid[], p_own text[],
  p_before text[], p_after text[], p_farther text[])
returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into engram.memory_lexemes (tenant_id, scope_id, memory_id, lexemes, own_terms)
  select p_tenant_id, p_scope_id, w.memory_id,
         engram.memory_lexemes_of(p_scope_id, p_config::regconfig, w.own,
           w.before || ' ' || lower(translate(concat_ws(' ', m.critical_slot, m.topic_key, m.attribute), ':_-.', '    ')), w.after,
           w.farther),
         (select coalesce(sum(cardinality(u.positions)), 0) from unnest(to_tsvector(p_config::regconfig, left(w.own, 100000))) u)
    from unnest(p_memory_ids, p_own, p_before, p_after, p_farther) w(memory_id, own, before, after, farther)
    left join lateral (
         select m.critical_slot, m.topic_key, m.attribute
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = w.memory_id offset 0) m on true
   order by w.memory_id
      on conflict (tenant_id, memory_id) do update set lexemes = excluded.lexemes, own_terms = excluded.own_terms;
end $$;

comment on function engram.index_words is 'Write, or write again, the words memories are found by.';

-- What a write needs to know before it begins: the scopes it may see, each with the stream of its direct changes, and the tenant's
-- models and text search configuration, which stay so until the end of this transaction.
create function engram.open_desk(p_tenant_id text, p_namespaces text[], p_agents text[], p_user_id text, p_kind text, p_name text)
returns table (scope_id bigint, namespace text, agent_id text, user_id text, shelf_of bigint, stream_id text, models jsonb, config text)
language plpgsql volatile rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of,
         (select t.stream_id::text
            from engram.event_streams t
           where t.tenant_id = p_tenant_id and t.scope_id = s.scope_id and t.kind = p_kind and t.name = p_name),
         (select coalesce(jsonb_agg(jsonb_build_object('model_id', h.model_id::text, 'name', h.name, 'dimensions', h.dimensions,
                                                       'state', h.state, 'thresholds', h.thresholds, 'probed', h.probed)), '[]')
            from engram.hold_models() h),
         (select c.config from engram.text_search_configs c where c.tenant_id = p_tenant_id)
    from engram.memory_scopes s
   where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null and s.namespace = any (p_namespaces)
     and s.agent_id = any (p_agents) and (s.user_id is null or s.user_id = p_user_id);
end $$;

comment on function engram.open_desk is 'What a write needs to know before it begins; the models stay so until the end of its transaction.';

revoke all on function engram.gate_rows, engram.graphed, engram.near_rows, engram.near_facts, engram.write_memories, engram.index_words,
  engram.open_desk from public;

grant execute on function engram.gate_rows, engram.graphed, engram.near_rows, engram.near_facts, engram.write_memories, engram.index_words,
  engram.open_desk to engram_app;
