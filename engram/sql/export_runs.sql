-- The runs of the life cycle of an export, with the reasons of those that changed a memory of it and their events of it that did nothing but
-- relate; which change a cycle has come to is a number of this database, and stays here.
SELECT r.scope_id,
       json_build_object('run_id', r.run_id, 'parent_id', r.parent_id, 'step', r.step, 'actor', r.actor,
         'reason', CASE WHEN r.scope_id = ANY(%(own_ids)s) OR EXISTS (
                          SELECT FROM engram.lifecycle_runs s
                            JOIN engram.memory_changes c ON c.tenant_id = s.tenant_id AND c.run_id = s.run_id
                            JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
                           WHERE s.tenant_id = r.tenant_id AND (s.run_id = r.run_id OR s.parent_id = r.run_id) AND c.state IS NOT NULL
                             AND m.scope_id = ANY(%(scope_ids)s) AND NOT m.private) THEN r.reason END,
         'started_at', r.started_at, 'steps', r.steps, 'failed_steps', r.failed_steps, 'finished', r.finished,
         'undone_by', r.undone_by, 'cycle', r.cycle - '{upto,holder}'::text[],
         'tied', (SELECT coalesce(json_agg(t.event_id ORDER BY t.place), '[]')
                    FROM unnest(r.tied) WITH ORDINALITY t(event_id, place)
                    JOIN engram.agent_events e ON e.tenant_id = r.tenant_id AND e.event_id = t.event_id
                   WHERE e.scope_id = ANY(%(scope_ids)s))) AS line
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)
 ORDER BY r.started_at, r.run_id
