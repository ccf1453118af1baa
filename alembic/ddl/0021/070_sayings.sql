-- What users said in a scope after a memory of it was told last, word for word. Of several who speak there it is what the same one said.
-- A few sayings are compared with it one by one, which costs nothing where there are none; of more those among its nearest neighbours are
-- taken, which in a large scope takes as long as a search by vector. Both are planned once: planning took four times what finding does.
create function engram.said_since(p_tenant_id text, p_scope_id bigint, p_own bigint, p_model_id bigint, p_graphed bigint[],
  p_memory_id uuid, p_few integer, p_most integer, p_trusted smallint[])
returns table (memory_id uuid, cosine float8, fact text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_fact record;
  v_few uuid[];
begin
  select f.deriver, f.actor, v.occurred_at, f.stands_recorded_at, f.stands_event_id, e.embedding into v_fact
    from engram.agent_memory f
    join engram.agent_events v on v.tenant_id = f.tenant_id and v.event_id = f.stands_event_id
    join engram.memory_embeddings e
      on e.tenant_id = p_tenant_id and e.scope_id = p_scope_id and e.model_id = p_model_id and e.memory_id = f.memory_id
   where f.tenant_id = p_tenant_id and f.memory_id = p_memory_id
     and f.scope_id = p_scope_id and (not f.private or f.scope_id = p_own);
  if not found then
    return;
  end if;
  v_few := array(
    select m.memory_id
      from engram.agent_memory m
     where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.status = 'active' and m.category = 'verbatim'
       and m.stands_at >= v_fact.occurred_at and m.trust = any (p_trusted) and (not m.private or m.scope_id = p_own)
       and (v_fact.deriver is null or m.actor is not distinct from v_fact.actor)
     limit p_few + 1);
  if cardinality(v_few) = 0 then
    return;
  end if;
  return query
  select m.memory_id, n.cosine, m.fact
    from (select e.memory_id, 1 - (e.embedding <=> v_fact.embedding) as cosine
            from unnest(v_few) w (memory_id)
           cross join lateral (
                 select e.memory_id, e.embedding
                   from engram.memory_embeddings e
                  where e.tenant_id = p_tenant_id and e.scope_id = p_scope_id and e.model_id = p_model_id and e.memory_id = w.memory_id
                 offset 0) e
           where cardinality(v_few) <= p_few
           union all
          select w.memory_id, max(w.cosine)
            from engram.near_vectors(p_tenant_id, array[p_scope_id], p_graphed, p_model_id,
                   case when cardinality(v_few) > p_few then v_fact.embedding end, p_most) w
           group by w.memory_id) n
   cross join lateral (
         select m.memory_id, m.fact, m.trust, m.actor, m.stands_at, m.stands_recorded_at, m.stands_event_id, m.scope_id, m.private,
                m.status, m.category, m.moot, m.consolidated_into, m.expires_at, m.ended_at
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id offset 0) m
   where m.scope_id = p_scope_id and (not m.private or m.scope_id = p_own)
     and m.status = 'active' and not m.moot and m.consolidated_into is null
     and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
     and m.category = 'verbatim' and m.trust = any (p_trusted)
     and (v_fact.deriver is null or m.actor is not distinct from v_fact.actor)
     and (m.stands_at, m.stands_recorded_at, m.stands_event_id)
         > (v_fact.occurred_at, v_fact.stands_recorded_at, v_fact.stands_event_id);
end $$;

comment on function engram.said_since is 'What users said in a scope after a memory of it was told last.';

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
  select s.memory_id, m.memory_id, n.cosine, m.fact
    from unnest(p_said_ids) g (memory_id)
   cross join lateral (
         select s.memory_id, s.event_id from engram.agent_memory s
          where s.tenant_id = p_tenant_id and s.memory_id = g.memory_id and s.scope_id = p_scope_id
            and (not s.private or s.scope_id = p_own)
            and not exists (
                  select from engram.agent_memory h
                   where h.tenant_id = p_tenant_id and h.event_id = s.event_id and h.scope_id = p_scope_id and h.revision > 1
                     and (not h.private or h.scope_id = p_own)) offset 0) s
    join engram.memory_embeddings e
      on e.tenant_id = p_tenant_id and e.scope_id = p_scope_id and e.model_id = p_model_id and e.memory_id = s.memory_id
   cross join lateral (
         select w.memory_id, max(w.cosine) as cosine
           from engram.near_vectors(p_tenant_id, array[p_scope_id], p_graphed, p_model_id, e.embedding, p_most) w
          group by w.memory_id) n
   cross join lateral (
         select m.memory_id, m.fact, m.event_id, m.scope_id, m.private, m.category, m.status, m.moot, m.consolidated_into, m.expires_at,
                m.ended_at
           from engram.agent_memory m
          where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id offset 0) m
   where m.scope_id = p_scope_id and (not m.private or m.scope_id = p_own)
     and m.status = 'active' and not m.moot and m.consolidated_into is null and m.event_id <> s.event_id
     and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
     and (coalesce(m.category, '') not in ('verbatim', 'source_chunk') or m.memory_id = p_memory_id);
end $$;

comment on function engram.facts_near is 'The facts that stand nearest to each of several sayings of a scope.';

revoke all on function engram.facts_near from public;

grant execute on function engram.facts_near to engram_app;
