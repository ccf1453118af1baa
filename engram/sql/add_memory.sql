-- Write one memory in the place it was given, with its first statement, its counters and its history.
WITH added AS (
INSERT INTO engram.agent_memory (
  tenant_id, memory_id, scope_id, fact, fact_hash, main_content, memory_type, category, tags, importance, confidence, trust, layer,
  status, status_reason, critical_slot, conflict_key, topic_key, subject, attribute, value, negates, moot, lineage_id, revision,
  superseded_by, superseded_at, valid_from, valid_from_stated, valid_to, ended_at, recorded_at, expires_at, surprise, source,
  session_id, task_run_id, metadata, private, deriver, deriver_version, ordinal, policy, policy_version, rule, event_id, actor,
  embed_state, stands_at, stands_recorded_at, stands_event_id, stands_ordinal, born_epoch, layer_epoch)
VALUES (
  %(tenant_id)s, %(memory_id)s, %(scope_id)s, %(fact)s, %(fact_hash)s, %(main_content)s, %(memory_type)s, %(category)s, %(tags)s,
  %(importance)s, %(confidence)s, %(trust)s,
  -- A correction of what has risen does not fall: it keeps the layer of the head it revises, but for what a pin gave that.
  coalesce((SELECT h.layer FROM engram.agent_memory h
             WHERE h.tenant_id = %(tenant_id)s AND h.memory_id = %(previous_id)s::uuid AND h.critical_slot IS NULL
               AND array_position(ARRAY['buffer', 'working', 'core'], h.layer)
                 > array_position(ARRAY['buffer', 'working', 'core'], %(layer)s::text)), %(layer)s), %(status)s, NULL, %(critical_slot)s, %(conflict_key)s, %(topic_key)s,
  %(subject)s, %(attribute)s, %(value)s, %(negates)s, %(moot)s, %(lineage_id)s, %(revision)s, %(superseded_by)s,
  CASE WHEN %(status)s = 'superseded' THEN coalesce(%(at)s::timestamptz, clock_timestamp()) END, %(valid_from)s, %(valid_from_stated)s,
  CASE WHEN %(heir_from)s::timestamptz IS NULL THEN %(ended_at)s
       ELSE greatest(%(valid_from)s, least(%(ended_at)s, %(heir_from)s::timestamptz)) END,
  %(ended_at)s, coalesce(%(at)s::timestamptz, clock_timestamp()), %(expires_at)s, %(surprise)s, %(source)s, %(session_id)s, %(task_run_id)s, %(metadata)s,
  %(private)s, %(deriver)s, %(deriver_version)s, %(ordinal)s, %(policy)s, %(policy_version)s, %(rule)s, %(event_id)s, %(actor)s,
  %(embed_state)s, %(holds_at)s, %(stated_recorded_at)s, %(event_id)s, %(ordinal)s,
  (SELECT s.epoch FROM engram.memory_scopes s WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s),
  (SELECT s.epoch FROM engram.memory_scopes s WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s))
RETURNING agent_memory AS m, tenant_id, memory_id, scope_id, status, recorded_at),
counted AS (
  INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id) SELECT tenant_id, memory_id, scope_id FROM added),
stated AS (
  INSERT INTO engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from,
    holds_at, recorded_at, deriver, deriver_version, trust, model, prompt_hash)
  SELECT tenant_id, memory_id, %(event_id)s, %(ordinal)s, %(char_start)s, %(char_end)s, %(quote_hash)s, %(verified)s, %(valid_from)s,
         greatest(%(valid_from)s, %(holds_at)s), %(stated_recorded_at)s, %(deriver)s, %(deriver_version)s, %(trust)s,
         %(model)s, %(prompt_hash)s
    FROM added)
INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason, actor,
  event_id, run_id)
SELECT tenant_id, memory_id, scope_id, recorded_at, %(entry)s, status, %(previous_id)s::uuid, engram.memory_state(m), %(decision)s::jsonb,
       %(reason)s, %(actor)s, %(event_id)s::uuid, %(run_id)s::uuid
  FROM added
