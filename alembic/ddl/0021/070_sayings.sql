-- What an answer asks of what was said since its fact was told. Both statements begin with the neighbours of a memory among those that
-- stand in its scope; planned anew for each answer, they took four times what finding them does.
create function engram.standing_near(p_tenant_id text, p_scope_id bigint, p_own bigint, p_model_id bigint, p_graphed bigint[],
  p_memory_id uuid, p_most integer)
returns table (
  memory_id uuid, cosine float8, fact text, category text, trust smallint, actor text, event_id uuid, stands_at timestamptz,
  stands_recorded_at timestamptz, stands_event_id uuid)
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select m.memory_id, n.cosine, m.fact, m.category, m.trust, m.actor, m.event_id, m.stands_at, m.stands_recorded_at, m.stands_event_id
    from engram.memory_embeddings e
   cross join lateral (
         select w.memory_id, max(w.cosine) as cosine
           from engram.near_vectors(p_tenant_id, array[p_scope_id], p_graphed, p_model_id, e.embedding, p_most) w
          group by w.memory_id) n
   cross join lateral (
         select m.memory_id, m.fact, m.category, m.trust, m.actor, m.event_id, m.stands_at, m.stands_recorded_at, m.stands_event_id,
                m.scope_id, m.private, m.status, m.moot, m.consolidated_into, m.expires_at, m.ended_at
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id offset 0) m
   where e.tenant_id = p_tenant_id and e.scope_id = p_scope_id and e.model_id = p_model_id and e.memory_id = p_memory_id
     and m.scope_id = p_scope_id and (not m.private or m.scope_id = p_own)
     and m.status = 'active' and not m.moot and m.consolidated_into is null
     and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp());
end $$;

comment on function engram.standing_near is 'The memories that stand in a scope and are nearest to one of it.';

revoke all on function engram.standing_near from public;

grant execute on function engram.standing_near to engram_app;

-- What users said in a scope after a memory of it was told last, word for word. Of several who speak there it is what the same one said.
create function engram.said_since(p_tenant_id text, p_scope_id bigint, p_own bigint, p_model_id bigint, p_graphed bigint[],
  p_memory_id uuid, p_most integer, p_trusted smallint[])
returns table (memory_id uuid, cosine float8, fact text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select m.memory_id, m.cosine, m.fact
    from engram.agent_memory f
    join engram.agent_events v on v.tenant_id = f.tenant_id and v.event_id = f.stands_event_id
   cross join lateral engram.standing_near(
         p_tenant_id, p_scope_id, p_own, p_model_id, p_graphed, p_memory_id, p_most) m
   where f.tenant_id = p_tenant_id and f.memory_id = p_memory_id
     and f.scope_id = p_scope_id and (not f.private or f.scope_id = p_own)
     and m.category = 'verbatim' and m.trust = any (p_trusted)
     and (f.deriver is null or m.actor is not distinct from f.actor)
     and (m.stands_at, m.stands_recorded_at, m.stands_event_id) > (v.occurred_at, f.stands_recorded_at, f.stands_event_id);
end $$;

comment on function engram.said_since is 'What users said in a scope after a memory of it was told last, nearest to it.';

revoke all on function engram.said_since from public;

grant execute on function engram.said_since to engram_app;

-- The facts that stand nearest to each of several sayings: what each may be about. Of a saying that has changed a memory itself there are
-- none, and none that was made of it; a memory that is asked about is one of them, whatever it is.
create function engram.facts_near(p_tenant_id text, p_scope_id bigint, p_own bigint, p_model_id bigint, p_graphed bigint[],
  p_said_ids uuid[], p_most integer, p_memory_id uuid)
returns table (said_id uuid, memory_id uuid, cosine float8, fact text)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select s.memory_id, m.memory_id, m.cosine, m.fact
    from unnest(p_said_ids) g (memory_id)
   cross join lateral (
         select s.memory_id, s.event_id from engram.agent_memory s
          where s.tenant_id = p_tenant_id and s.memory_id = g.memory_id and s.scope_id = p_scope_id
            and (not s.private or s.scope_id = p_own)
            and not exists (
                  select from engram.agent_memory h
                   where h.tenant_id = p_tenant_id and h.event_id = s.event_id and h.scope_id = p_scope_id and h.revision > 1
                     and (not h.private or h.scope_id = p_own)) offset 0) s
   cross join lateral engram.standing_near(
         p_tenant_id, p_scope_id, p_own, p_model_id, p_graphed, s.memory_id, p_most) m
   where m.event_id <> s.event_id
     and (coalesce(m.category, '') not in ('verbatim', 'source_chunk') or m.memory_id = p_memory_id);
end $$;

comment on function engram.facts_near is 'The facts that stand nearest to each of several sayings of a scope.';

revoke all on function engram.facts_near from public;

grant execute on function engram.facts_near to engram_app;
