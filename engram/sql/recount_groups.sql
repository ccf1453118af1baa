-- Count the members of the inner topics of a scope by their leaves; one without a leaf goes.
WITH counted AS (
  SELECT t.topic_id, coalesce(sum(l.members), 0)::integer AS members, coalesce(sum(l.shown), 0)::integer AS shown
    FROM engram.memory_topics t
    LEFT JOIN engram.memory_topics l ON l.tenant_id = t.tenant_id AND l.scope_id = t.scope_id AND l.parent_id = t.topic_id
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.centre IS NULL
   GROUP BY t.topic_id),
gone AS (
  DELETE FROM engram.memory_topics t USING counted c
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.topic_id = c.topic_id AND c.members = 0)
UPDATE engram.memory_topics t SET members = c.members, shown = c.shown
  FROM counted c
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.topic_id = c.topic_id AND c.members > 0
