-- How far a deriver has come in a stream.
SELECT d.position
  FROM engram.derivations d
 WHERE d.tenant_id = engram.current_tenant()
   AND d.stream_id = %(stream_id)s
   AND d.deriver = %(deriver)s
   AND d.version = %(version)s
