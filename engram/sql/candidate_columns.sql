-- The columns that ranking needs beside a memory: whether it stands, whether it is an heir, how many epochs old it is, what was
-- distilled of evidence, where it was said, and which model is in use at the moment of the statement.
, n.channels, n.cosine, n.coverage, n.matched, n.closeness, n.seed_id, n.nearness, n.found,
       (/*strict*/) IS TRUE AS stands, (/*heir*/) IS TRUE AS heir,
       /*epochs*/ AS epochs,
       CASE WHEN m.category IN ('verbatim', 'source_chunk') THEN (
         SELECT jsonb_agg(jsonb_build_array(d.memory_id, d.status) ORDER BY d.memory_id)
           FROM (SELECT m.memory_id, m.status, m.status_reason, m.category
                   FROM (SELECT q.memory_id FROM engram.memory_sources q
                          WHERE q.tenant_id = %(tenant_id)s AND q.event_id = m.event_id AND q.ordinal < 10000
                            AND (%(known_at)s::timestamptz IS NULL OR q.recorded_at <= %(known_at)s::timestamptz)) q
                        /*row of q.memory_id*/) d
          WHERE coalesce(d.category, '') NOT IN ('verbatim', 'source_chunk')
            AND (d.status_reason IS DISTINCT FROM 'erased') IS TRUE) END AS distilled,
       CASE WHEN m.session_id IS NOT NULL THEN (
         SELECT e.stream_id || ':' || e.position FROM engram.agent_events e
          WHERE e.tenant_id = m.tenant_id AND e.event_id = m.event_id) END AS place,
       (SELECT u.model_id FROM engram.embedding_models u WHERE u.tenant_id = %(tenant_id)s AND u.state = 'active') AS model_in_use
