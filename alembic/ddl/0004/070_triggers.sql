-- Memories that are to be read before something is done are few among many: a tag says so.
create function engram.is_triggered(tags text[]) returns boolean
language sql immutable parallel safe
return exists (select from unnest(tags) t(tag) where starts_with(t.tag, 'trigger:'));

comment on function engram.is_triggered(text[]) is 'Whether one of the tags names an action: trigger:<action>.';

create index agent_memory_triggers on engram.agent_memory (tenant_id, scope_id)
  where status = 'active' and tags <> '{}' and engram.is_triggered(tags);

-- What every context begins and ends with is found without looking at the rest.
create index agent_memory_decided on engram.agent_memory (tenant_id, scope_id, recorded_at desc)
  where status = 'active' and memory_type in ('decision', 'constraint');

create index agent_memory_core on engram.agent_memory (tenant_id, scope_id) where status = 'active' and layer = 'core';
