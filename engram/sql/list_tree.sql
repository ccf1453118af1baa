-- The topics of a scope as they are kept.
SELECT t.topic_id, t.parent_id, t.name, t.trust, t.named_by, t.named_members, t.private, t.members, t.shown,
       halfvec_send(t.centre) AS centre
  FROM engram.memory_topics t
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
 ORDER BY t.topic_id
