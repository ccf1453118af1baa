-- Restate memories, each once, as in 0009: count it, move it to the latest of its best trusted statements, unite the tags, raise the trust,
-- and the importance where one is given, and keep the statement it rests on. What somebody less trusted than who said it says again moves
-- nothing; whoever vouched for it said no time.
create or replace function engram.restate_memories(p_tenant_id text, p_rows jsonb, p_at timestamptz)
returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_ids uuid[] := (select array_agg((r->>'memory_id')::uuid) from jsonb_array_elements(p_rows) r);
begin
  perform from engram.agent_memory m where m.tenant_id = p_tenant_id and m.memory_id = any (v_ids) order by m.memory_id for no key update;
  perform from engram.memory_activity a where a.tenant_id = p_tenant_id and a.memory_id = any (v_ids) order by a.memory_id
      for no key update;

  update engram.memory_activity a
     set repetition_count = a.repetition_count + 1, last_accessed_at = coalesce(p_at, clock_timestamp()),
         accessed_epoch = (select s.epoch from engram.memory_scopes s where s.tenant_id = a.tenant_id and s.scope_id = a.scope_id)
   where a.tenant_id = p_tenant_id and a.memory_id = any (v_ids);

  with given as materialized (
    select r.*
      from jsonb_to_recordset(p_rows) as r (
        memory_id uuid, event_id uuid, ordinal integer, holds_at timestamptz, stated_recorded_at timestamptz, tags text[], trust smallint,
        importance float8, valid_from timestamptz, char_start integer, char_end integer, quote_hash text, verified boolean, deriver text,
        deriver_version integer, model text, prompt_hash text)),
  cited as (
    insert into engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from,
      holds_at, recorded_at, deriver, deriver_version, trust, model, prompt_hash)
    select p_tenant_id, g.memory_id, g.event_id, g.ordinal, g.char_start, g.char_end, decode(g.quote_hash, 'hex'), g.verified,
           g.valid_from, greatest(g.valid_from, g.holds_at), g.stated_recorded_at, g.deriver, g.deriver_version, g.trust, g.model,
           g.prompt_hash
      from given g
        on conflict (tenant_id, memory_id, event_id, ordinal) do nothing)
  update engram.agent_memory m
     set stands_at = case when s.rests then s.holds_at else m.stands_at end,
         stands_recorded_at = case when s.rests then s.stated_recorded_at else m.stands_recorded_at end,
         stands_event_id = case when s.rests then s.event_id else m.stands_event_id end,
         stands_ordinal = case when s.rests then s.ordinal else m.stands_ordinal end,
         tags = s.tags, importance = greatest(m.importance, coalesce(s.importance, 0)), trust = least(m.trust, s.trust)
    from (select g.memory_id, g.holds_at, g.stated_recorded_at, g.event_id, g.ordinal, g.importance, g.trust,
                 (-g.trust, g.holds_at, g.stated_recorded_at, g.event_id, g.ordinal)
                   > (-greatest(b.trust, q.trust), b.stands_at, b.stands_recorded_at, b.stands_event_id, b.stands_ordinal) as rests,
                 array(select distinct t.tag collate "C"
                         from unnest(b.tags || g.tags) t(tag) order by 1 limit 20) as tags
            from given g
           cross join lateral (
                 select b.trust, b.stands_at, b.stands_recorded_at, b.stands_event_id, b.stands_ordinal, b.tags
                   from engram.agent_memory b
                  where b.tenant_id = p_tenant_id and b.memory_id = g.memory_id offset 0) b
            left join lateral (
                 select q.trust
                   from engram.memory_sources q
                  where q.tenant_id = p_tenant_id and q.memory_id = g.memory_id and q.event_id = b.stands_event_id
                    and q.ordinal = b.stands_ordinal offset 0) q on true) s
   where m.tenant_id = p_tenant_id and m.memory_id = s.memory_id;
end $$;
