-- The scope as a list, where it has its graph and else an empty one. From then on this transaction walks graphs as writes do: what a write
-- looks for is all but the same as it, which a walk with no more in view than it is asked for finds as surely as a wider one.
create or replace function engram.graphed(p_tenant_id text, p_scope_id bigint, p_model_id bigint)
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
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '64', true),
            set_config('hnsw.max_scan_tuples', '40000', true);
  end if;
  return v_graphed;
end $$;
