-- Sessions: conversations with a beginning, an end and a rolling summary. The row is a projection of the session's stream; how
-- far it has come and when it was last spoken in is in the stream's head, so that an append touches no row here.
create table engram.agent_sessions (
  tenant_id text not null,
  scope_id bigint not null,
  session_id text not null check (octet_length(session_id) between 1 and 200),
  stream_id uuid not null,
  opened_by text not null check (opened_by in ('caller', 'engram')),
  continues text check (octet_length(continues) between 1 and 200),
  root text not null check (octet_length(root) between 1 and 200),   -- the first part of a session that was split
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  outcome text check (outcome in ('completed', 'failed', 'idle')),
  metadata jsonb not null default '{}',
  unheard int8multirange not null default '{}',                      -- positions between #mem-off and #mem-on
  summary text check (octet_length(summary) between 1 and 65536),
  summary_position bigint not null default 0 check (summary_position >= 0),
  summary_style text check (summary_style in ('concise', 'structured')),
  summary_by text check (octet_length(summary_by) between 1 and 200),
  summary_prompt text check (octet_length(summary_prompt) between 1 and 64),
  summarised_at timestamptz,
  redactions integer not null default 0 check (redactions >= 0),     -- a summary begun before one is not written
  check ((ended_at is null) = (outcome is null)),
  check ((summary is null) = (summarised_at is null)),
  foreign key (tenant_id, scope_id) references engram.memory_scopes,
  foreign key (tenant_id, stream_id) references engram.event_streams
) with (fillfactor = 80);

create unique index agent_sessions_stream on engram.agent_sessions (tenant_id, stream_id);

create index agent_sessions_started on engram.agent_sessions (tenant_id, scope_id, started_at desc, session_id desc);

create index agent_sessions_root on engram.agent_sessions (tenant_id, scope_id, root, started_at desc);

-- Made last, as with the streams: an append asks by it.
alter table engram.agent_sessions add primary key (tenant_id, scope_id, session_id);

comment on table engram.agent_sessions is 'Conversations: when each began and ended, what it is continued from, and its rolling summary.';

-- Private memories by session: a read from outside their scope is not shown a summary that may tell of them.
create index agent_memory_private on engram.agent_memory (tenant_id, scope_id, session_id) where private;

-- Sessions that began before this table did. The wall stands around the owner too, so it is opened for this one statement and
-- closed again in the same transaction.
alter table engram.event_streams no force row level security;

insert into engram.agent_sessions (tenant_id, scope_id, session_id, stream_id, opened_by, root, started_at)
  select tenant_id, scope_id, name, stream_id, 'caller', name, created_at from engram.event_streams where kind = 'session';

alter table engram.event_streams force row level security;

-- Where an event that names a session goes: the session's newest part, its stream made with its row when there is none yet, and
-- the head locked to the end, so that what is read here still holds when the event is appended. It takes the place of
-- open_stream, and costs an append no round trip of its own.
create function engram.enter_session(p_scope bigint, p_session text, p_stream uuid, p_opened_by text, p_metadata jsonb,
  p_continues text default null)
returns table (session_id text, stream_id uuid, "position" bigint, idle interval, opened_by text, ended boolean, unheard boolean,
  is_new boolean)
language plpgsql security definer
set search_path = engram, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
  v_part agent_sessions;
  v_newest agent_sessions;
  v_before agent_sessions;
  v_head event_streams;
  v_new boolean := false;
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  loop
    select s.* into v_part from agent_sessions s
     where s.tenant_id = v_tenant and s.scope_id = p_scope and s.session_id = p_session;
    exit when found;
    select s.* into v_before from agent_sessions s
     where s.tenant_id = v_tenant and s.scope_id = p_scope and s.session_id = p_continues;
    insert into agent_sessions (tenant_id, scope_id, session_id, stream_id, opened_by, continues, root, metadata, unheard)
      select v_tenant, p_scope, p_session, o.stream_id, p_opened_by, v_before.session_id, coalesce(v_before.root, p_session),
             coalesce(v_before.metadata, p_metadata), case when upper_inf(v_before.unheard) then '{[1,)}' else '{}' end::int8multirange
        from engram.open_stream(p_scope, p_stream, 'session', p_session) o
      on conflict do nothing;
    v_new := found;
  end loop;
  loop
    -- Which part is the newest is known for sure only under the lock of its head: who splits a session holds that lock.
    select h.* into v_head from event_streams h where h.tenant_id = v_tenant and h.stream_id = v_part.stream_id for no key update;
    select s.* into v_newest from agent_sessions s
     where s.tenant_id = v_tenant and s.scope_id = p_scope and s.root = v_part.root order by s.started_at desc limit 1;
    exit when v_newest.stream_id = v_part.stream_id;
    v_part := v_newest;
  end loop;
  return query select v_newest.session_id, v_newest.stream_id, v_head.position,
    clock_timestamp() - coalesce(v_head.recorded_at, v_newest.started_at), v_newest.opened_by, v_newest.ended_at is not null,
    coalesce(upper_inf(v_newest.unheard), false), v_new;
end $$;

comment on function engram.enter_session is 'Where an event that names a session goes: its newest part, made with its stream on first use.';

revoke all on function engram.enter_session from public;

grant execute on function engram.enter_session to engram_app;

grant insert, update on engram.agent_sessions to engram_app;
