-- How far each of some derivers has come in the streams of some scopes; only streams with something left are looked into.
SELECT count(s.stream_id) AS streams,
       min(s.stream_id::text) AS stream_id,
       coalesce(sum(s.position), 0)::bigint AS head,
       coalesce(sum(b.behind), 0)::bigint AS behind
  FROM unnest(%(derivers)s::text[], %(versions)s::integer[]) WITH ORDINALITY r(deriver, version, place)
  LEFT JOIN engram.event_streams s ON s.tenant_id = engram.current_tenant() AND s.scope_id = ANY (%(scope_ids)s)
  LEFT JOIN LATERAL (
         SELECT max(c.position) AS position
           FROM engram.derivations c
          WHERE c.tenant_id = s.tenant_id AND c.stream_id = s.stream_id AND c.deriver = r.deriver AND c.version <= r.version) d ON true
  LEFT JOIN LATERAL (
         SELECT count(*) AS behind
           FROM engram.agent_events e
          WHERE s.derivable > coalesce(d.position, 0)
            AND e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id AND e.position > coalesce(d.position, 0)
            AND r.deriver = ANY (e.derive)) b ON true
 GROUP BY r.place
 ORDER BY r.place
