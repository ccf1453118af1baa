-- Whole memories as far as the scopes of a read show them. The reader fills in the rows of its moment, what now means there,
-- and which of the rows it wants: these alone choose the index, and what is IS TRUE of a row chooses none.
SELECT m.memory_id::text, m.scope_id, m.fact, m.main_content, m.memory_type, m.category, m.tags, m.importance, m.confidence,
       m.trust, m.layer, m.status, m.status_reason, m.critical_slot, m.conflict_key, m.topic_key, m.subject, m.attribute, m.value,
       m.moot, m.lineage_id::text, m.revision, m.superseded_by::text, m.superseded_at, m.consolidated_into::text, m.valid_from,
       m.valid_from_stated, m.valid_to, m.ended_at, m.recorded_at, m.expires_at, m.surprise, m.source, m.session_id,
       m.task_run_id, m.metadata, m.private, m.deriver, m.deriver_version, m.policy, m.policy_version, m.rule, m.embed_state,
       m.event_id::text, m.actor, s.namespace, s.agent_id, s.user_id, a.access_count, a.last_accessed_at, a.repetition_count,
       a.positive, a.negative,
       (m.expires_at IS NOT NULL AND m.expires_at <= /*now*/) AS expired,
       (m.ended_at IS NOT NULL AND m.ended_at <= /*now*/) AS ended,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(q.event_id, q.char_start, q.char_end, encode(q.quote_hash, 'hex'), q.verified)
                                  ORDER BY q.recorded_at, q.event_id, q.ordinal), '[]')
          FROM engram.memory_sources q WHERE q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id
           AND (%(known_at)s::timestamptz IS NULL OR q.recorded_at <= %(known_at)s::timestamptz)) AS citations
       /*more*/
  FROM /*source*/
  JOIN engram.memory_scopes s ON s.tenant_id = m.tenant_id AND s.scope_id = m.scope_id
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND /*which*/
   AND (m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)) IS TRUE
 ORDER BY m.revision DESC
