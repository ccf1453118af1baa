-- Note the statement a memory rests on; the same statement twice is one.
INSERT INTO engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from,
  holds_at, recorded_at, deriver, deriver_version, trust, model, prompt_hash)
VALUES (%(tenant_id)s, %(memory_id)s, %(event_id)s, %(ordinal)s, %(char_start)s, %(char_end)s, %(quote_hash)s, %(verified)s,
  %(valid_from)s, greatest(%(valid_from)s, %(holds_at)s), %(stated_recorded_at)s, %(deriver)s, %(deriver_version)s, %(trust)s,
  %(model)s, %(prompt_hash)s)
ON CONFLICT (tenant_id, memory_id, event_id, ordinal) DO NOTHING
