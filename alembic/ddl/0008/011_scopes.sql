-- The scopes a read may see, by a function that keeps its plans: every read asks for them first, and planning took four times what
-- finding them does. Each branch is an index condition by itself: the scopes of other users of an agent are not read.
create function engram.visible_scopes(p_tenant_id text, p_namespaces text[], p_agents text[], p_user_id text, p_all_users boolean,
  p_shelves text)
returns table (scope_id bigint, namespace text, agent_id text, user_id text, shelf_of bigint)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if p_shelves <> 'without' then
    return query
    select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
      from engram.visible_scopes(p_tenant_id, p_namespaces, p_agents, p_user_id, p_all_users, 'without') o
     cross join lateral (
           select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
             from engram.memory_scopes s
            where s.tenant_id = p_tenant_id and s.shelf_of = o.scope_id and s.scope_id > 0 offset 0) s;
    if p_shelves = 'only' then
      return;
    end if;
  end if;
  if p_all_users then
    return query
    select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
      from engram.memory_scopes s
     where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null
       and s.namespace = any (p_namespaces) and s.agent_id = any (p_agents);
  else
    return query
    select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
      from engram.memory_scopes s
     where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null
       and s.namespace = any (p_namespaces) and s.agent_id = any (p_agents) and s.user_id = p_user_id
     union all
    select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
      from engram.memory_scopes s
     where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null
       and s.namespace = any (p_namespaces) and s.agent_id = any (p_agents) and s.user_id is null;
  end if;
end $$;

comment on function engram.visible_scopes is 'The scopes a read may see, without, with or only the shelves beside them.';
