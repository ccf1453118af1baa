-- Note with a run an event of it that did nothing but relate memories, so that it is found again when the run is taken back.
UPDATE engram.lifecycle_runs SET tied = tied || %(event_id)s::uuid WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
