-- What the graph and temporal channels look for: whom a memory is about, and when it began to hold.
create index agent_memory_subject on engram.agent_memory (tenant_id, scope_id, subject) where subject is not null;

create index agent_memory_valid on engram.agent_memory (tenant_id, scope_id, valid_from);
