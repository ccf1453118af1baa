-- What a write needs to know before it begins: the scopes it may see, each with the stream of its direct changes, and the tenant's
-- models and text search configuration, which stay so until the end of this transaction.
SELECT s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of,
       (SELECT t.stream_id::text FROM engram.event_streams t
         WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = s.scope_id AND t.kind = %(kind)s AND t.name = %(stream_name)s) AS stream_id,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('model_id', h.model_id::text, 'name', h.name, 'dimensions', h.dimensions,
                                                     'state', h.state, 'thresholds', h.thresholds, 'probed', h.probed)), '[]')
          FROM engram.hold_models() h) AS models,
       (SELECT c.config FROM engram.text_search_configs c WHERE c.tenant_id = %(tenant_id)s) AS config
  FROM engram.memory_scopes s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id > 0 AND s.shelf_of IS NULL AND s.namespace = ANY(%(namespaces)s)
   AND s.agent_id = ANY(%(agents)s) AND (s.user_id IS NULL OR s.user_id = %(user_id)s::text)
