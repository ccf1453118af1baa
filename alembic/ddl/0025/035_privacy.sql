-- Whether a session or a run of a scope holds private memories, or a message that was refused and was to be one: what was made of all of it,
-- such as a summary or a checkpoint, may tell what those say.
create function engram.holds_private(p_tenant_id text, p_scope_id bigint, p_session_id text, p_task_run_id text)
returns boolean
language sql stable parallel safe
as $$
  select exists (
           select from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.session_id = p_session_id and m.private)
      or exists (
           select from engram.agent_memory m
            where m.tenant_id = p_tenant_id and m.scope_id = p_scope_id and m.task_run_id = p_task_run_id and m.private)
      or exists (
           select from engram.memory_changes d
             join engram.agent_events e on e.tenant_id = d.tenant_id and e.event_id = d.event_id
            where d.tenant_id = p_tenant_id and d.scope_id = p_scope_id and d.decision -> 'private' = 'true'
              and (e.session_id = p_session_id or e.task_run_id::text = p_task_run_id))
$$;

comment on function engram.holds_private is
  'Whether a session or a run holds private memories, or what was refused and was to be one: what was made of all of it may tell of them.';
