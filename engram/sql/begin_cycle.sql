-- Write down what a new cycle goes by.
UPDATE engram.lifecycle_runs SET cycle = %(cycle)s::jsonb WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
