-- Take away the topics of some scopes, whose names may hold erased words; all memories but the erased wait for a topic again.
WITH members AS (
  UPDATE engram.memory_topic_members k SET topic_id = NULL
   WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = ANY(%(scope_ids)s) AND k.topic_id IS NOT NULL
     AND k.memory_id <> ALL (%(memory_ids)s::uuid[])),
erased AS (
  DELETE FROM engram.memory_topic_members k
   WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = ANY(%(scope_ids)s) AND k.memory_id = ANY(%(memory_ids)s::uuid[]))
DELETE FROM engram.memory_topics t WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY(%(scope_ids)s)
