-- How far a deriver has come in a stream. A new version goes on where the one before it stood: what came earlier is a replay's.
SELECT coalesce(max(d.position), 0) AS position
  FROM engram.derivations d
 WHERE d.tenant_id = engram.current_tenant()
   AND d.stream_id = %(stream_id)s
   AND d.deriver = %(deriver)s
   AND d.version <= %(version)s
