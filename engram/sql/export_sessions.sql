-- The sessions of an export; a summary that may tell of private memories of others, or of what was refused and was to be
-- one, is left out.
WITH found AS (
  SELECT s.scope_id, s.session_id, s.stream_id, s.opened_by, s.continues, s.root, s.started_at, s.ended_at, s.outcome, s.metadata,
         s.unheard, s.summary, s.summary_position, s.summary_style, s.summary_by, s.summary_prompt, s.summarised_at, s.redactions,
         s.summary IS NOT NULL AND s.scope_id <> ALL(%(own_ids)s)
           AND engram.holds_private(s.tenant_id, s.scope_id, s.session_id, NULL) AS private
    FROM engram.agent_sessions s
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s))
SELECT f.scope_id, f.private,
       json_build_object('session_id', f.session_id, 'stream_id', f.stream_id, 'opened_by', f.opened_by, 'continues', f.continues,
         'root', f.root, 'started_at', f.started_at, 'ended_at', f.ended_at, 'outcome', f.outcome, 'metadata', f.metadata,
         'unheard', f.unheard::text,
         'summary', CASE WHEN NOT f.private THEN f.summary END,
         'summary_position', CASE WHEN f.private THEN 0 ELSE f.summary_position END,
         'summary_style', CASE WHEN NOT f.private THEN f.summary_style END,
         'summary_by', CASE WHEN NOT f.private THEN f.summary_by END,
         'summary_prompt', CASE WHEN NOT f.private THEN f.summary_prompt END,
         'summarised_at', CASE WHEN NOT f.private THEN f.summarised_at END, 'redactions', f.redactions) AS line
  FROM found f
 ORDER BY f.stream_id
