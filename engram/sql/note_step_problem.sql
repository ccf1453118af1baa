-- Note why a step of a replay could not be taken.
UPDATE engram.replay_steps SET problem = %(problem)s
 WHERE tenant_id = %(tenant_id)s AND shadow_id = %(shadow_id)s AND place = %(place)s
