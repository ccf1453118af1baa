-- What was made, and what tools gave: of a scope these are few among many, and a context lists the newest.
create index agent_events_made on engram.agent_events (tenant_id, scope_id, recorded_at, stream_id, position)
  where event_type in ('artifact', 'tool_result');
