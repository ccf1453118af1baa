-- Sessions as they were exported.
INSERT INTO engram.agent_sessions (tenant_id, scope_id, session_id, stream_id, opened_by, continues, root, started_at, ended_at, outcome,
  metadata, unheard, summary, summary_position, summary_style, summary_by, summary_prompt, summarised_at, redactions)
SELECT %(tenant_id)s, r.scope, r.session_id, r.stream_id, r.opened_by, r.continues, r.root, r.started_at, r.ended_at, r.outcome,
       r.metadata, r.unheard::int8multirange, r.summary, r.summary_position, r.summary_style, r.summary_by, r.summary_prompt,
       r.summarised_at, r.redactions
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(scope bigint, session_id text, stream_id uuid, opened_by text, continues text, root text,
         started_at timestamptz, ended_at timestamptz, outcome text, metadata jsonb, unheard text, summary text,
         summary_position bigint, summary_style text, summary_by text, summary_prompt text, summarised_at timestamptz,
         redactions integer)
