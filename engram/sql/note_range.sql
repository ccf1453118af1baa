-- Write into a running job which events it failed on: the stream has gone on without them, and a retry reads just these.
UPDATE engram.memory_jobs
   SET payload = payload || jsonb_build_object('after', %(after)s::bigint, 'upto', %(upto)s::bigint)
 WHERE tenant_id = engram.current_tenant() AND job_id = %(job_id)s AND lease_token = %(lease_token)s AND state = 'running'
