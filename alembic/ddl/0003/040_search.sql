-- What the graph and temporal channels look for: whom a memory is about, when it began to hold, and when it ended.
create index agent_memory_subject on engram.agent_memory (tenant_id, scope_id, subject) where subject is not null;

create index agent_memory_valid on engram.agent_memory (tenant_id, scope_id, valid_from);

create index agent_memory_until on engram.agent_memory (tenant_id, scope_id, valid_to) where valid_to is not null;
