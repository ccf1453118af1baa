-- Take away the topics of a scope, and who was in them.
WITH members AS (
  DELETE FROM engram.memory_topic_members k WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s)
DELETE FROM engram.memory_topics t WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
