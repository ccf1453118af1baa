-- What was ever pinned, so that a read of the past finds what was pinned then.
create index memory_changes_pinned on engram.memory_changes (tenant_id, scope_id, memory_id) where state ->> 'critical_slot' is not null;
