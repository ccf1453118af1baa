-- The scopes a read may see, as before, but for that each name is asked for by itself: of a list of names the planner does not know how long
-- it is, and would sooner look through the scopes of the tenant.
create or replace function engram.visible_scopes(p_tenant_id text, p_namespaces text[], p_agents text[], p_user_id text, p_all_users boolean,
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
      from (select distinct n.namespace, a.agent_id from unnest(p_namespaces) n (namespace) cross join unnest(p_agents) a (agent_id)) o
     cross join lateral (
           select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
             from engram.memory_scopes s
            where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null
              and s.namespace = o.namespace and s.agent_id = o.agent_id and s.user_id = p_user_id
            union all
           select s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
             from engram.memory_scopes s
            where s.tenant_id = p_tenant_id and s.scope_id > 0 and s.shelf_of is null
              and s.namespace = o.namespace and s.agent_id = o.agent_id and s.user_id is null offset 0) s;
  end if;
end $$;
