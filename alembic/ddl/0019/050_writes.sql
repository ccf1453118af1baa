-- What the gates of writing need to know of candidates, as in 0007, with the ends that were stated: another one is another memory.
create or replace function engram.gate_rows(p_tenant_id text, p_scope_id bigint, p_fact_hashes bytea[], p_conflict_keys text[],
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
                                              'ended_at', m.ended_at, 'trust', m.trust))
            from engram.agent_memory m
           where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.fact_hash = w.fact_hash and m.status = 'active'
             and (m.expires_at is null or m.expires_at > coalesce(w.at, clock_timestamp()))
             and (m.ended_at is null or m.ended_at > coalesce(w.at, clock_timestamp())) and m.private = w.private
             and coalesce(m.category, '') not in ('verbatim', 'source_chunk')),
         (select jsonb_build_object('memory_id', m.memory_id, 'fact', m.fact, 'trust', m.trust, 'importance', m.importance, 'ended_at', m.ended_at,
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

-- The nearest current facts of a scope by meaning, as in 0018, with the ends that were stated.
drop function engram.near_facts;

create function engram.near_facts(p_tenant_id text, p_scope_id bigint, p_model_id bigint, p_vector halfvec, p_own bigint,
  p_private boolean, p_now timestamptz)
returns table (memory_id text, fact text, cosine float8, conflict_key text, valid_from timestamptz, valid_from_stated boolean,
  ended_at timestamptz)
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
  select m.memory_id::text, m.fact, near.cosine, m.conflict_key, m.valid_from, m.valid_from_stated, m.ended_at
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

comment on function engram.near_facts is 'The current facts of a scope nearest a vector: what a candidate is compared with.';

revoke all on function engram.near_facts from public;

grant execute on function engram.near_facts to engram_app;
