-- What a write needs to know before it begins, as before; its scopes are found by `visible_scopes`. "One user's, or nobody's" is no condition
-- of an index before PostgreSQL 18, and every write read the scopes of all users of its agent.
create or replace function engram.open_desk(p_tenant_id text, p_namespaces text[], p_agents text[], p_user_id text, p_kind text, p_name text)
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
    from engram.visible_scopes(p_tenant_id, p_namespaces, p_agents, p_user_id, false, 'without') s;
end $$;
