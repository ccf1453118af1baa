-- What a search of the past may come to: of all memories there ever were, the nearest, those that hold most of the words, those of the
-- window and of whom is named, and what was ever pinned. Their lineages alone are put together as they stood then. The last time it
-- is asked, everything there is.
/*said*/,
/*nearest*/,
worded_then AS MATERIALIZED (
  SELECT s.memory_id FROM said s ORDER BY s.coverage DESC, s.memory_id LIMIT %(reach)s),
/*dated*/,
named_then AS MATERIALIZED (
  SELECT o.memory_id
    FROM (SELECT DISTINCT n.name FROM unnest(%(names)s::text[]) n (name)) n
   CROSS JOIN LATERAL (   -- name by name: of many at once so many rows are expected that the scope would be read for them
         SELECT o.memory_id
           FROM engram.agent_memory o
          WHERE o.tenant_id = %(tenant_id)s AND o.scope_id = ANY(%(scope_ids)s) AND o.subject = n.name
          LIMIT %(reach)s) o
   LIMIT %(reach)s),
pinned_then AS MATERIALIZED (
  SELECT c.memory_id
    FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.state ->> 'critical_slot' IS NOT NULL),
world AS MATERIALIZED (
  SELECT m.*
    FROM engram.memories_around(%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz, ARRAY(
           SELECT memory_id FROM near_reached UNION ALL SELECT memory_id FROM worded_then UNION ALL SELECT memory_id FROM dated_then
            UNION ALL SELECT memory_id FROM named_then UNION ALL SELECT memory_id FROM pinned_then
            UNION ALL SELECT unnest(%(also)s::uuid[])
            UNION ALL
           SELECT o.memory_id
             FROM engram.agent_memory o
            WHERE %(whole)s AND o.tenant_id = %(tenant_id)s AND o.scope_id = ANY(%(scope_ids)s))) m
   WHERE /*visible*/),
sight_0 AS NOT MATERIALIZED (
  SELECT m.* FROM world m),
