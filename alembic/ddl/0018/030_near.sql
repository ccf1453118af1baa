-- The nearest current facts of a scope by meaning, as in 0007, in the order in which the nearest rows come: where the planner knows that
-- order (PostgreSQL 17 and later), no row is looked up behind the eighth fact.
create or replace function engram.near_facts(p_tenant_id text, p_scope_id bigint, p_model_id bigint, p_vector halfvec, p_own bigint,
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
   order by near.cosine desc, near.memory_id
   limit 8;
end $$;
