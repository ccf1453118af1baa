-- What the memories of a read are about, largest first: each counts once, by the narrowest name it has. The newest rows of each scope
-- are looked at, however many there are; the reader fills in the rows of its moment and what is current there.
SELECT t.name, count(*) AS memories, min(t.trust) AS trust
  FROM (SELECT coalesce(nullif(m.subject, 'user'), m.attribute, m.topic_key, m.category, m.memory_type) AS name, m.trust
          FROM /*source*/
         WHERE /*visible*/ AND /*current*/ AND NOT m.moot AND coalesce(m.category, '') <> ALL (%(evidence)s)) t
 GROUP BY t.name
 ORDER BY memories DESC, t.name COLLATE "C"
 LIMIT %(limit)s
