-- Move a deriver's cursor, if it is still where the caller saw it.
INSERT INTO engram.derivations AS d (tenant_id, stream_id, deriver, version, position)
SELECT engram.current_tenant(), %(stream_id)s::uuid, %(deriver)s, %(version)s, %(new)s
 WHERE %(old)s = (SELECT coalesce(max(x.position), 0) FROM engram.derivations x
                   WHERE x.tenant_id = engram.current_tenant() AND x.stream_id = %(stream_id)s AND x.deriver = %(deriver)s
                     AND x.version <= %(version)s)
ON CONFLICT (tenant_id, stream_id, deriver, version) DO UPDATE
   SET position = excluded.position
 WHERE d.position <= %(old)s
