-- Take or keep a turn of this tenant, if it is ours or nobody's any more; the time of the database, or nothing.
INSERT INTO engram.turns AS t (tenant_id, name, holder, until)
VALUES (engram.current_tenant(), %(name)s, %(holder)s::uuid, clock_timestamp() + %(lease)s::interval)
ON CONFLICT (tenant_id, name) DO UPDATE
   SET holder = excluded.holder, until = excluded.until
 WHERE t.holder = excluded.holder OR t.until < clock_timestamp()
RETURNING extract(epoch FROM clock_timestamp())::float8
