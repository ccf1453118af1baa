-- Make somebody the holder of a cycle; who held it before writes nothing more for it.
UPDATE engram.lifecycle_runs SET cycle = cycle || jsonb_build_object('holder', %(holder)s::text)
 WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
