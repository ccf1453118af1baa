-- The current memories of which time has left least by a forgetting curve, and the clock of activity as each of them met it.
WITH aged AS (
  SELECT m.memory_id, m.recorded_at, m.importance, m.critical_slot IS NOT NULL OR m.layer = 'core' AS kept,
         coalesce(a.access_count, 0) AS accesses, p.epoch, m.born_epoch, a.accessed_epoch,
         CASE WHEN %(curve)s <> 'epochs' THEN %(half_life)s::float8
              WHEN m.memory_type IN ('episodic', 'tool_result') THEN %(episodic)s::float8
              WHEN m.memory_type = 'procedural' THEN %(procedural)s::float8
              ELSE %(semantic)s::float8 END * (1 + %(slowing)s::float8 * coalesce(a.access_count, 0)) AS half_life,
         CASE %(curve)s WHEN 'epochs' THEN greatest(p.epoch - m.born_epoch, 0)
              WHEN 'ebbinghaus' THEN greatest(extract(epoch FROM %(now)s::timestamptz - m.recorded_at) / 86400, 0)
              ELSE greatest(extract(epoch FROM %(now)s::timestamptz - coalesce(a.last_accessed_at, m.recorded_at)) / 86400, 0)
         END::float8 AS age
    FROM engram.agent_memory m
    JOIN engram.memory_scopes p ON p.tenant_id = m.tenant_id AND p.scope_id = m.scope_id
    LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)
     AND m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
     AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz) AND (m.ended_at IS NULL OR m.ended_at > %(now)s::timestamptz)
     AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
     AND (%(memory_id)s::uuid IS NULL OR m.memory_id = %(memory_id)s::uuid)),
left_over AS (
  SELECT g.*, g.importance * exp(-ln(2::float8) * least(g.age / g.half_life, 900))
              * CASE WHEN %(curve)s = 'ebbinghaus' THEN 1 + 0.1 * ln((1 + g.accesses)::float8) / ln(2::float8) ELSE 1 END
              + CASE WHEN %(curve)s = 'epochs' THEN %(bonus)s::float8 * g.accesses * exp(-ln(2::float8)
                     * least(greatest(g.epoch - coalesce(g.accessed_epoch, g.born_epoch), 0) / g.half_life, 900)) ELSE 0 END AS effective
    FROM aged g)
SELECT l.memory_id::text, l.epoch, l.born_epoch, l.accessed_epoch
  FROM left_over l
 ORDER BY l.kept, l.effective, l.recorded_at DESC, l.memory_id
 LIMIT %(limit)s
