-- Write memories in the places they were given, each with its first statement, its counters, its history and its vector; a candidate
-- that was not stored leaves its mark in the history alone. One row of JSON for each, in their order.
WITH given AS MATERIALIZED (
  SELECT r.*
    FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (
      memory_id uuid, fact text, fact_hash text, main_content text, memory_type text, category text, tags text[], importance float8,
      confidence float8, trust smallint, layer text, status text, critical_slot text, conflict_key text, topic_key text, subject text,
      attribute text, value text, negates text, moot boolean, lineage_id uuid, revision integer, superseded_by uuid,
      valid_from timestamptz, holds_at timestamptz, valid_from_stated boolean, ended_at timestamptz, heir_from timestamptz,
      expires_at timestamptz, surprise float8, source text, session_id text, task_run_id text, metadata jsonb, private boolean,
      deriver text, deriver_version integer, ordinal integer, rule text, event_id uuid, actor text, embed_state text,
      stated_recorded_at timestamptz, char_start integer, char_end integer, quote_hash text, verified boolean, model text,
      prompt_hash text, entry text, previous_id uuid, decision jsonb)) WITH ORDINALITY AS r),
added AS (
INSERT INTO engram.agent_memory (
  tenant_id, memory_id, scope_id, fact, fact_hash, main_content, memory_type, category, tags, importance, confidence, trust, layer,
  status, status_reason, critical_slot, conflict_key, topic_key, subject, attribute, value, negates, moot, lineage_id, revision,
  superseded_by, superseded_at, valid_from, valid_from_stated, valid_to, ended_at, recorded_at, expires_at, surprise, source,
  session_id, task_run_id, metadata, private, deriver, deriver_version, ordinal, policy, policy_version, rule, event_id, actor,
  embed_state, stands_at, stands_recorded_at, stands_event_id, stands_ordinal, born_epoch, layer_epoch)
SELECT
  %(tenant_id)s, g.memory_id, %(scope_id)s, g.fact, decode(g.fact_hash, 'hex'), g.main_content, g.memory_type, g.category, g.tags,
  g.importance, g.confidence, g.trust,
  -- A correction of what has risen does not fall: it keeps the layer of the head it revises, but for what a pin gave that.
  CASE WHEN g.previous_id IS NULL THEN g.layer ELSE
    coalesce((SELECT h.layer FROM engram.agent_memory h
               WHERE h.tenant_id = %(tenant_id)s AND h.memory_id = g.previous_id AND h.critical_slot IS NULL
                 AND array_position(ARRAY['buffer', 'working', 'core'], h.layer)
                   > array_position(ARRAY['buffer', 'working', 'core'], g.layer)), g.layer) END,
  g.status, NULL, g.critical_slot, g.conflict_key, g.topic_key, g.subject, g.attribute, g.value, g.negates, g.moot, g.lineage_id,
  g.revision, g.superseded_by, CASE WHEN g.status = 'superseded' THEN coalesce(%(at)s::timestamptz, clock_timestamp()) END,
  g.valid_from, g.valid_from_stated,
  CASE WHEN g.heir_from IS NULL THEN g.ended_at ELSE greatest(g.valid_from, least(g.ended_at, g.heir_from)) END,
  g.ended_at, coalesce(%(at)s::timestamptz, clock_timestamp()), g.expires_at, g.surprise, g.source, g.session_id, g.task_run_id,
  g.metadata, g.private, g.deriver, g.deriver_version, g.ordinal, %(policy)s, %(policy_version)s, g.rule, g.event_id, g.actor,
  g.embed_state, g.holds_at, g.stated_recorded_at, g.event_id, g.ordinal, s.epoch, s.epoch
  FROM given g
  JOIN engram.memory_scopes s ON s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s
 WHERE g.memory_id IS NOT NULL
 ORDER BY g.ordinality
RETURNING agent_memory AS m, memory_id, status, recorded_at),
counted AS (
  INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id)
  SELECT %(tenant_id)s, a.memory_id, %(scope_id)s FROM added a),
stated AS (
  INSERT INTO engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from,
    holds_at, recorded_at, deriver, deriver_version, trust, model, prompt_hash)
  SELECT %(tenant_id)s, g.memory_id, g.event_id, g.ordinal, g.char_start, g.char_end, decode(g.quote_hash, 'hex'), g.verified,
         g.valid_from, greatest(g.valid_from, g.holds_at), g.stated_recorded_at, g.deriver, g.deriver_version, g.trust, g.model,
         g.prompt_hash
    FROM given g
   WHERE g.memory_id IS NOT NULL),
embedded AS (
  INSERT INTO engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding, windowed)
  SELECT %(tenant_id)s, %(scope_id)s, %(model_id)s, v.memory_id, v.embedding::halfvec, v.windowed
    FROM unnest(%(memory_ids)s::uuid[], %(vectors)s::text[], %(windowed)s::boolean[]) v (memory_id, embedding, windowed)
   ORDER BY v.memory_id
      ON CONFLICT DO NOTHING)
INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason,
  actor, event_id, run_id)
SELECT %(tenant_id)s, g.memory_id, %(scope_id)s, coalesce(a.recorded_at, %(at)s::timestamptz, clock_timestamp()), g.entry, a.status,
       g.previous_id, CASE WHEN a.memory_id IS NOT NULL THEN engram.memory_state(a.m) END, g.decision, %(reason)s, g.actor,
       g.event_id, CASE WHEN a.memory_id IS NOT NULL THEN %(run_id)s::uuid END
  FROM given g
  LEFT JOIN added a ON a.memory_id = g.memory_id
 ORDER BY g.ordinality
