-- Whether a session was ever there in some scopes; what was said in it may be erased since.
SELECT EXISTS (
         SELECT FROM engram.agent_sessions s
          WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY (%(scope_ids)s) AND s.session_id = %(session_id)s)
    OR EXISTS (
         SELECT FROM engram.agent_events e
          WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY (%(scope_ids)s) AND e.session_id = %(session_id)s) AS known
