-- Count the members of some leaves of a scope anew, with the middle of their vectors; a leaf without members goes.
WITH counted AS (
  SELECT w.topic_id, count(m.memory_id)::integer AS members, (count(*) FILTER (WHERE NOT m.private))::integer AS shown,
         avg(l2_normalize(e.embedding)) AS centre
    FROM unnest(%(topic_ids)s::integer[]) w(topic_id)
    LEFT JOIN engram.memory_topic_members k
      ON k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s AND k.topic_id = w.topic_id
    LEFT JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = k.memory_id
    LEFT JOIN engram.memory_embeddings e
      ON e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id = k.memory_id
   GROUP BY w.topic_id),
gone AS (
  DELETE FROM engram.memory_topics t USING counted c
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.topic_id = c.topic_id AND c.members = 0)
UPDATE engram.memory_topics t SET members = c.members, shown = c.shown, centre = coalesce(c.centre, t.centre)
  FROM counted c
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.topic_id = c.topic_id AND c.members > 0
