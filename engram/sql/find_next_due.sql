-- Seconds until the next job of the named kinds of each of some tenants falls due, or until a lease of one ends; without tenants of this one.
SELECT d.tenant_id, d.seconds
  FROM engram.jobs_due_in(coalesce(%(tenant_ids)s::text[], ARRAY[engram.current_tenant()]), %(kinds)s::text[]) d
