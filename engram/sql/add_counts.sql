-- Add to the counters of memories; none falls below nothing.
UPDATE engram.memory_activity a
   SET access_count = greatest(0, a.access_count + s.accesses), repetition_count = greatest(0, a.repetition_count + s.repetitions),
       positive = greatest(0, a.positive + s.positive), negative = greatest(0, a.negative + s.negative)
  FROM jsonb_to_recordset(%(rows)s::jsonb) s(memory_id uuid, accesses bigint, repetitions integer, positive integer, negative integer)
 WHERE a.tenant_id = %(tenant_id)s AND a.memory_id = s.memory_id
