-- Take away what an event left on memories that are not made of it: the attributes it set, where they still stand, the hash of
-- what it quoted, the reason it gave, and a candidate of it that was refused.
WITH marked AS (
  SELECT c.memory_id, c.change_id, c.state AS became,
         (SELECT p.state FROM engram.memory_changes p
           WHERE p.tenant_id = c.tenant_id AND p.memory_id = c.memory_id AND p.change_id < c.change_id AND p.state IS NOT NULL
           ORDER BY p.change_id DESC LIMIT 1) AS was
    FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = %(event_id)s::uuid AND c.memory_id IS NOT NULL AND c.state IS NOT NULL),
set_by_it AS (
  SELECT DISTINCT ON (k.memory_id) k.memory_id, k.change_id, k.was, k.became,
         ARRAY(SELECT jsonb_array_elements_text(k.became->'tags') EXCEPT SELECT jsonb_array_elements_text(k.was->'tags')) AS tags
    FROM marked k
   WHERE k.was IS NOT NULL AND (k.was->'tags', k.was->'metadata', k.was->'source', k.was->'critical_slot', k.was->'category')
     IS DISTINCT FROM (k.became->'tags', k.became->'metadata', k.became->'source', k.became->'critical_slot', k.became->'category')
   ORDER BY k.memory_id, k.change_id),
unset AS (
  UPDATE engram.agent_memory m
     SET tags = ARRAY(SELECT t FROM unnest(m.tags) t WHERE t <> ALL (s.tags)),
         metadata = CASE WHEN m.metadata = s.became->'metadata' THEN s.was->'metadata' ELSE m.metadata END,
         source = CASE WHEN to_jsonb(m.source) = s.became->'source' THEN s.was->>'source' ELSE m.source END,
         category = CASE WHEN to_jsonb(m.category) = s.became->'category' THEN s.was->>'category' ELSE m.category END,
         critical_slot = CASE WHEN to_jsonb(m.critical_slot) = s.became->'critical_slot' THEN s.was->>'critical_slot'
                              ELSE m.critical_slot END
    FROM set_by_it s
   WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = s.memory_id),
unremembered AS (
  UPDATE engram.memory_changes c
     SET state = c.state || jsonb_build_object('tags', coalesce((c.state->'tags') - s.tags, '[]')) || coalesce((
           SELECT jsonb_object_agg(f, s.was->f) FROM unnest('{metadata,source,critical_slot,category}'::text[]) f
            WHERE c.state->f = s.became->f), '{}'),
         reason = CASE WHEN c.event_id = %(event_id)s::uuid THEN NULL ELSE c.reason END
    FROM set_by_it s
   WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = s.memory_id AND c.change_id >= s.change_id AND c.state IS NOT NULL),
unexplained AS (
  UPDATE engram.memory_changes c
     SET reason = NULL, decision = c.decision || '{"fact": null}'
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = %(event_id)s::uuid
     AND c.change_id NOT IN (SELECT o.change_id FROM engram.memory_changes o JOIN set_by_it s ON s.memory_id = o.memory_id
                              WHERE o.tenant_id = %(tenant_id)s AND o.change_id >= s.change_id AND o.state IS NOT NULL))
UPDATE engram.memory_sources q SET quote_hash = %(empty)s, verified = false
 WHERE q.tenant_id = %(tenant_id)s AND q.event_id = %(event_id)s::uuid
