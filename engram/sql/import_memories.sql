-- Memories as they were exported; each waits for a vector, or gets none.
INSERT INTO engram.agent_memory (
  tenant_id, memory_id, scope_id, fact, fact_hash, main_content, memory_type, category, tags, importance, confidence, trust, layer,
  status, status_reason, critical_slot, conflict_key, topic_key, subject, attribute, value, negates, moot, lineage_id, revision,
  superseded_by, superseded_at, put_away, consolidated_into, valid_from, valid_from_stated, valid_to, ended_at, recorded_at,
  expires_at, surprise, source, session_id, task_run_id, metadata, private, deriver, deriver_version, ordinal, policy,
  policy_version, rule, event_id, actor, embed_state, stands_at, stands_recorded_at, stands_event_id, stands_ordinal,
  born_epoch, layer_epoch, marks)
SELECT
  %(tenant_id)s, r.memory_id, r.scope, r.fact, decode(r.fact_hash, 'hex'), r.main_content, r.memory_type, r.category, r.tags,
  r.importance, r.confidence, r.trust, r.layer, r.status, r.status_reason, r.critical_slot, r.conflict_key, r.topic_key, r.subject,
  r.attribute, r.value, r.negates, r.moot, r.lineage_id, r.revision, r.superseded_by, r.superseded_at, r.put_away,
  r.consolidated_into, r.valid_from, r.valid_from_stated, r.valid_to, r.ended_at, r.recorded_at, r.expires_at, r.surprise, r.source,
  r.session_id, r.task_run_id, r.metadata, r.private, r.deriver, r.deriver_version, r.ordinal, r.policy, r.policy_version, r.rule,
  r.event_id, r.actor, r.embed_state, r.stands_at, r.stands_recorded_at, r.stands_event_id, r.stands_ordinal,
  r.born_epoch, r.layer_epoch, r.marks
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(memory_id uuid, scope bigint, fact text, fact_hash text, main_content text, memory_type text,
         category text, tags text[], importance float8, confidence float8, trust smallint, layer text, status text,
         status_reason text, critical_slot text, conflict_key text, topic_key text, subject text, attribute text, value text,
         negates text, moot boolean, lineage_id uuid, revision integer, superseded_by uuid, superseded_at timestamptz,
         put_away boolean, consolidated_into uuid, valid_from timestamptz, valid_from_stated boolean, valid_to timestamptz,
         ended_at timestamptz, recorded_at timestamptz, expires_at timestamptz, surprise float8, source text, session_id text,
         task_run_id text, metadata jsonb, private boolean, deriver text, deriver_version integer, ordinal integer, policy text,
         policy_version integer, rule text, event_id uuid, actor text, embed_state text, stands_at timestamptz,
         stands_recorded_at timestamptz, stands_event_id uuid, stands_ordinal integer, born_epoch bigint,
         layer_epoch bigint, marks jsonb)
