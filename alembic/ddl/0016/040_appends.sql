-- An append in one statement, where nothing is to be made or decided before it: the scope and the stream are there, and the session,
-- if one is named, is in its newest part, goes on, and is heard. Otherwise no row comes back, and the caller takes the steps one by
-- one. What it writes and refuses is what find_scope, enter_session and append_events write and refuse. With a key the caller says
-- for which stream its padded forms are; another is not written to.
-- Who ends the transaction with it says after how many events a session is summarised (`p_every`). Where that would come due nothing is
-- written either, since the summary is asked for in the same transaction.
-- What is new: the scope is found by its owner. `is not distinct from` takes no index: every append read all users of the tenant.
create or replace function engram.append_at_once(p_namespace text, p_agent text, p_user text, p_session text, p_kind text, p_name text,
  p_stream uuid, p_gap interval, p_expected bigint, p_events uuid[], p_jobs uuid[], p_roles text[], p_types text[],
  p_trusts smallint[], p_occurred timestamptz[], p_sessions text[], p_tasks uuid[], p_actors text[], p_keys text[], p_derive text[],
  p_salts bytea[], p_bodies bytea[], p_inner bytea, p_outer bytea, p_every bigint default null)
returns table (place integer, event_id uuid, stream_id uuid, "position" bigint, recorded_at timestamptz, status text, job_id uuid,
  scope_id bigint, "before" bigint, opened_by text)
language plpgsql security definer
set search_path = engram, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
  v_scope bigint;
  v_stream uuid;
  v_root text;
  v_newest agent_sessions;
  v_before bigint;
  v_at timestamptz;
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  if 'redaction' = any (p_types) then
    raise exception 'a redaction is made by redact_event' using errcode = '22023';
  end if;
  if exists (select from unnest(p_keys) k where k like 'redaction:%') then
    raise exception 'keys that begin with redaction: belong to the ledger' using errcode = '22023';
  end if;
  if p_user is null then
    select s.scope_id into v_scope from memory_scopes s
     where s.tenant_id = v_tenant and s.namespace = p_namespace and s.agent_id = p_agent and s.user_id is null
       and s.scope_id > 0 and s.shelf_of is null;
  else
    select s.scope_id into v_scope from memory_scopes s
     where s.tenant_id = v_tenant and s.namespace = p_namespace and s.agent_id = p_agent and s.user_id = p_user
       and s.scope_id > 0 and s.shelf_of is null;
  end if;
  if p_session is null then
    select s.stream_id into v_stream from event_streams s
     where s.tenant_id = v_tenant and s.scope_id = v_scope and s.kind = p_kind and s.name = p_name;
  else
    select s.stream_id, s.root into v_stream, v_root from agent_sessions s
     where s.tenant_id = v_tenant and s.scope_id = v_scope and s.session_id = p_session;
  end if;
  if v_stream is null or v_stream <> p_stream or (p_stream is null and p_inner is not null) then
    return;
  end if;
  if p_session is not null then
    select h.position, h.recorded_at into v_before, v_at from event_streams h
     where h.tenant_id = v_tenant and h.stream_id = v_stream for no key update;
    -- Under the lock of its head, as in enter_session: who splits, ends or silences a session holds that lock.
    select s.* into v_newest from agent_sessions s
     where s.tenant_id = v_tenant and s.scope_id = v_scope and s.root = v_root order by s.started_at desc limit 1;
    if v_newest.stream_id <> v_stream or v_newest.ended_at is not null or coalesce(upper_inf(v_newest.unheard), false)
       or (v_newest.opened_by = 'engram' and clock_timestamp() - coalesce(v_at, v_newest.started_at) > p_gap)
       or (v_before + cardinality(p_events)) / p_every > v_before / p_every
    then
      return;
    end if;
  end if;
  return query select w.*, v_scope, v_before, v_newest.opened_by
    from engram.write_events(v_scope, v_stream, p_expected, p_events, p_jobs, p_roles, p_types, p_trusts, p_occurred, p_sessions,
      p_tasks, p_actors, p_keys, p_derive, p_salts, p_bodies, p_inner, p_outer) w;
end $$;
