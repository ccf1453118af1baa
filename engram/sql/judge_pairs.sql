-- What was made of pairs of like memories: none of them is judged again.
UPDATE engram.memory_pairs p
   SET verdict = s.verdict
  FROM unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[], %(verdicts)s::text[]) AS s (low_id, high_id, verdict)
 WHERE p.tenant_id = %(tenant_id)s AND p.low_id = s.low_id AND p.high_id = s.high_id
