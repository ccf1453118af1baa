-- The statements that imported memories rest on.
INSERT INTO engram.memory_sources (tenant_id, memory_id, event_id, ordinal, char_start, char_end, quote_hash, verified, valid_from, holds_at,
  recorded_at, deriver, deriver_version, trust, model, prompt_hash)
SELECT %(tenant_id)s, r.memory_id, r.event_id, r.ordinal, r.char_start, r.char_end, decode(r.quote_hash, 'hex'), r.verified, r.valid_from,
       r.holds_at, r.recorded_at, r.deriver, r.deriver_version, r.trust, r.model, r.prompt_hash
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(memory_id uuid, event_id uuid, ordinal integer, char_start integer, char_end integer,
         quote_hash text, verified boolean, valid_from timestamptz, holds_at timestamptz, recorded_at timestamptz, deriver text,
         deriver_version integer, trust smallint, model text, prompt_hash text)
