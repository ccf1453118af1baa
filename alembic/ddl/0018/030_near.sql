-- The nearest current facts of a scope by meaning, as in 0007: of the 64 nearest rows the first sixteen are looked up, and the others only
-- where those are no eight facts that a write may be compared with. All by one statement, which sees one moment.
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
    select n.memory_id, n.cosine, row_number() over (order by n.cosine desc, n.memory_id) as place
      from (select distinct v.memory_id, v.cosine
              from engram.near_vectors(p_tenant_id, array[p_scope_id], v_graphed, p_model_id, p_vector, 64) v) n
     order by n.cosine desc, n.memory_id
     limit 64),
  first as materialized (
    select m.memory_id, m.fact, n.cosine, m.conflict_key, m.valid_from, m.valid_from_stated
      from near n
     cross join lateral (
           select m.memory_id, m.scope_id, m.fact, m.conflict_key, m.valid_from, m.valid_from_stated, m.status, m.moot,
                  m.consolidated_into, m.expires_at, m.ended_at, m.category, m.private
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id offset 0) m
     where n.place <= 16 and m.status = 'active' and not m.moot and m.consolidated_into is null
       and (m.expires_at is null or m.expires_at > coalesce(p_now, clock_timestamp()))
       and (m.ended_at is null or m.ended_at > coalesce(p_now, clock_timestamp()))
       and coalesce(m.category, '') not in ('verbatim', 'source_chunk')
       and m.private = p_private and (not m.private or m.scope_id = p_own)),
  rest as (
    select m.memory_id, m.fact, n.cosine, m.conflict_key, m.valid_from, m.valid_from_stated
      from near n
     cross join lateral (
           select m.memory_id, m.scope_id, m.fact, m.conflict_key, m.valid_from, m.valid_from_stated, m.status, m.moot,
                  m.consolidated_into, m.expires_at, m.ended_at, m.category, m.private
             from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.memory_id = n.memory_id offset 0) m
     where n.place > 16 and (select count(*) from first) < 8 and m.status = 'active' and not m.moot and m.consolidated_into is null
       and (m.expires_at is null or m.expires_at > coalesce(p_now, clock_timestamp()))
       and (m.ended_at is null or m.ended_at > coalesce(p_now, clock_timestamp()))
       and coalesce(m.category, '') not in ('verbatim', 'source_chunk')
       and m.private = p_private and (not m.private or m.scope_id = p_own))
  select f.memory_id::text, f.fact, f.cosine, f.conflict_key, f.valid_from, f.valid_from_stated
    from (select memory_id, fact, cosine, conflict_key, valid_from, valid_from_stated from first
           union all
          select memory_id, fact, cosine, conflict_key, valid_from, valid_from_stated from rest) f
   order by f.cosine desc, f.memory_id
   limit 8;
end $$;
