-- How far each of some derivers has come in the streams of some scopes; only streams with something left are looked into.
SELECT w.streams, w.stream_id, w.head, w.behind
  FROM engram.watermarks(engram.current_tenant(), %(scope_ids)s::bigint[], %(derivers)s::text[], %(versions)s::integer[]) w
 ORDER BY w.place
