-- The vectors nearest a vector, each scope in its own partition however many there are. A list of scopes prunes nothing in a kept
-- plan: from the ninth scope on, the vectors of all tenants were read.
create or replace function engram.near_vectors(p_tenant_id text, p_scope_ids bigint[], p_graphed bigint[], p_model_id bigint, p_vector halfvec,
  p_most integer)
returns table (memory_id uuid, cosine float8)
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_scope bigint;
  v_met bigint;
begin
  if p_vector is null then
    return;
  end if;
  foreach v_scope in array p_graphed loop
    return query execute format('select e.memory_id, 1 - (e.embedding::halfvec(%1$s) <=> $1)'
      ' from engram.memory_embeddings e'
      ' where e.tenant_id = $2 and e.scope_id = %2$s and e.model_id = %3$s and e.indexed'
      ' order by e.embedding::halfvec(%1$s) <=> $1 limit %4$s', vector_dims(p_vector), v_scope, p_model_id, p_most)
      using p_vector, p_tenant_id;
    get diagnostics v_met = row_count;
    -- A graph that brings fewer than it was asked for is not believed. Asked within the statement, its workers would start for nothing.
    if v_met < p_most then
      return query select n.memory_id, 1 - n.distance
        from (select e.memory_id, e.embedding <=> p_vector as distance
                from engram.memory_embeddings e
               where e.tenant_id = p_tenant_id and e.scope_id = v_scope and e.model_id = p_model_id and e.indexed
               order by 2, 1 limit p_most) n;
    end if;
    -- What is not in the graph yet.
    return query select n.memory_id, 1 - n.distance
      from (select e.memory_id, e.embedding <=> p_vector as distance
              from engram.memory_embeddings e
             where e.tenant_id = p_tenant_id and e.scope_id = v_scope and e.model_id = p_model_id and not e.indexed
             order by 2, 1 limit p_most) n;
  end loop;
  if cardinality(p_scope_ids) > 8 then
    return query select n.memory_id, 1 - n.distance
      from unnest(p_scope_ids) s(scope_id)
     cross join lateral (
           select e.memory_id, e.embedding <=> p_vector as distance
             from engram.memory_embeddings e
            where e.tenant_id = p_tenant_id and e.scope_id = s.scope_id and e.model_id = p_model_id
            order by 2, 1 limit p_most) n
     where s.scope_id <> all (p_graphed)
     order by n.distance, n.memory_id
     limit p_most;
    return;
  end if;
  foreach v_scope in array p_scope_ids loop
    continue when v_scope = any (p_graphed);
    return query select n.memory_id, 1 - n.distance
      from (select e.memory_id, e.embedding <=> p_vector as distance
              from engram.memory_embeddings e
             where e.tenant_id = p_tenant_id and e.scope_id = v_scope and e.model_id = p_model_id
             order by 2, 1 limit p_most) n;
  end loop;
end $$;

-- The same among those of some memories.
create or replace function engram.near_among(p_tenant_id text, p_scope_ids bigint[], p_model_id bigint, p_vector halfvec, p_memory_ids uuid[],
  p_most integer)
returns table (memory_id uuid, cosine float8)
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if p_vector is null or coalesce(cardinality(p_memory_ids), 0) = 0 then
    return;
  end if;
  return query select n.memory_id, 1 - n.distance
    from unnest(p_scope_ids) s(scope_id)
   cross join lateral (
         select e.memory_id, e.embedding <=> p_vector as distance
           from engram.memory_embeddings e
          where e.tenant_id = p_tenant_id and e.scope_id = s.scope_id and e.model_id = p_model_id
            and (e.memory_id in (select unnest(p_memory_ids))) is true
          order by 2, 1 limit p_most) n
   order by n.distance, n.memory_id
   limit p_most;
end $$;
