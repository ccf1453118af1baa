-- From a position on, a session is not listened to any more, or is again.
UPDATE engram.agent_sessions
   SET unheard = CASE WHEN %(off)s THEN unheard + int8multirange(int8range(%(position)s, NULL))
                      ELSE unheard - int8multirange(int8range(%(position)s, NULL)) END
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid
