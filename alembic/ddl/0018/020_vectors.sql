-- Vectors come as the server keeps them, and not as text: whoever writes a memory, or looks for what is near some, sends them so.
drop function engram.near_rows, engram.write_memories;

-- The rows of a scope nearest each of some vectors, exactly or, where the scope has its graph, through that and what is not in it yet.
create function engram.near_rows(p_tenant_id text, p_scope_id bigint, p_model_id bigint, p_vectors halfvec[], p_most integer)
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
           from engram.near_vectors(p_tenant_id, array[p_scope_id], v_graphed, p_model_id, w.vector, p_most) v
          order by v.cosine desc, v.memory_id
          limit p_most) n
   order by w.place, n.cosine desc, n.memory_id;
end $$;

comment on function engram.near_rows is 'The memories of a scope nearest each of some vectors.';

-- Write memories in the places they were given, and refusals, and in their turn what `restate_memories` did just before, as in 0009.
create function engram.write_memories(p_tenant_id text, p_scope_id bigint, p_rows jsonb, p_policy text, p_policy_version integer,
  p_reason text, p_run_id uuid, p_at timestamptz, p_model_id bigint, p_memory_ids uuid[], p_vectors halfvec[], p_windowed boolean[])
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
        prompt_hash text, entry text, previous_id uuid, decision jsonb, restates uuid)) with ordinality as r),
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
    select p_tenant_id, p_scope_id, p_model_id, v.memory_id, v.embedding, v.windowed
      from unnest(p_memory_ids, p_vectors, p_windowed) v (memory_id, embedding, windowed)
     order by v.memory_id
        on conflict do nothing),
  noted as (
    insert into engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason,
      actor, event_id, run_id)
    select p_tenant_id, coalesce(g.memory_id, b.memory_id), coalesce(b.scope_id, p_scope_id),
           coalesce(a.recorded_at, p_at, clock_timestamp()), g.entry, coalesce(a.status, b.status), g.previous_id,
           case when a.memory_id is not null then engram.memory_state(a.m)
                else (select engram.memory_state(h) from engram.agent_memory h where h.tenant_id = p_tenant_id and h.memory_id = g.restates) end,
           g.decision, p_reason, g.actor, g.event_id, case when coalesce(g.memory_id, b.memory_id) is not null then p_run_id end
      from given g
      left join added a on a.memory_id = g.memory_id
      left join lateral (
           select m.memory_id, m.scope_id, m.status
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = g.restates offset 0) b on g.restates is not null
     order by g.ordinality)
  select a.memory_id::text, a.recorded_at, a.layer from added a;
end $$;

comment on function engram.write_memories is 'Write memories, each with its first statement, its counters, its history and its vector.';

revoke all on function engram.near_rows, engram.write_memories from public;

grant execute on function engram.near_rows, engram.write_memories to engram_app;
