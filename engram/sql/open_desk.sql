-- What a write needs to know before it begins: the scopes it may see, the tenant's models and text search configuration.
SELECT scope_id, namespace, agent_id, user_id, shelf_of, stream_id, models, config
  FROM engram.open_desk(
    p_tenant_id => %(tenant_id)s, p_namespaces => %(namespaces)s, p_agents => %(agents)s, p_user_id => %(user_id)s::text,
    p_kind => %(kind)s, p_name => %(stream_name)s)
