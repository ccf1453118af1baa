-- Take away the reasons, and the hashes of what was asked, of the runs that touched memories which are erased, and of the cycles
-- these were steps of. The runs are asked for by a list of their keys: of a join the planner would read all runs of the tenant.
WITH named AS (
  SELECT c.run_id FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = ANY (%(memory_ids)s::uuid[]) AND c.run_id IS NOT NULL
   UNION
  SELECT f.run_id FROM engram.memory_feedback f
   WHERE f.tenant_id = %(tenant_id)s AND f.memory_ids && %(memory_ids)s::uuid[]
   UNION
  SELECT %(run_id)s::uuid WHERE %(run_id)s::uuid IS NOT NULL)
UPDATE engram.lifecycle_runs r SET reason = NULL, cycle = nullif(r.cycle - 'asked', '{}')
 WHERE r.tenant_id = %(tenant_id)s AND (r.reason IS NOT NULL OR r.cycle ? 'asked')
   AND r.run_id = ANY (ARRAY(
       SELECT n.run_id FROM named n
        UNION ALL
       SELECT p.parent_id FROM named n
        CROSS JOIN LATERAL (
              SELECT p.parent_id FROM engram.lifecycle_runs p WHERE p.tenant_id = %(tenant_id)s AND p.run_id = n.run_id OFFSET 0) p))
