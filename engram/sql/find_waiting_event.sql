-- The newest of some events of a stream that the language model has yet to read; no further back than asked, since without a
-- model nothing moves its cursor.
SELECT max(e.position) AS position
  FROM engram.agent_events e
 WHERE e.tenant_id = engram.current_tenant() AND e.stream_id = %(stream_id)s AND 'llm' = ANY (e.derive)
   AND e.position > %(after)s AND (%(upto)s::bigint IS NULL OR e.position <= %(upto)s)
   AND e.position > coalesce((SELECT d.position FROM engram.derivations d
                               WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = 'llm'
                                 AND d.version = %(version)s), 0)
