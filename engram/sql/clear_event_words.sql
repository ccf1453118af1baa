-- Drop a batch of the words of a tenant's events and what was read of their streams: they are read anew, by search or by a job.
WITH gone AS (
  DELETE FROM engram.event_readings r
   WHERE r.tenant_id = %(tenant_id)s
     AND r.stream_id IN (SELECT x.stream_id FROM engram.event_readings x WHERE x.tenant_id = %(tenant_id)s LIMIT %(limit)s)
  RETURNING r.stream_id)
DELETE FROM engram.event_lexemes l USING gone g WHERE l.tenant_id = %(tenant_id)s AND l.stream_id = g.stream_id
