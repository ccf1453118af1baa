-- The ledger: streams, their events, and the payloads of the events. The application may read all of it and write none of
-- it: events come in by engram.append_events and payloads go out by engram.redact_event. Policies and the right to read are
-- given to every table in 090.
create table engram.event_streams (
  tenant_id text not null,
  stream_id uuid not null,
  scope_id bigint not null,
  kind text not null check (kind in ('session', 'task', 'scope')),
  name text not null check (octet_length(name) between 1 and 200),
  position bigint not null default 0 check (position >= 0),
  derivable bigint not null default 0 check (derivable between 0 and position),   -- newest position a deriver waits for
  head_hash bytea not null default decode(repeat('00', 32), 'hex') check (octet_length(head_hash) = 32),
  recorded_at timestamptz,                                                        -- of the newest event
  created_at timestamptz not null default clock_timestamp(),
  unique (tenant_id, scope_id, kind, name),
  foreign key (tenant_id, scope_id) references engram.memory_scopes
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

-- Made last on purpose: on a table never analysed the planner holds every index that begins with the tenant for equally good
-- and takes the newest, and this is the one each append asks.
alter table engram.event_streams add primary key (tenant_id, stream_id);

comment on table engram.event_streams is 'The head of each stream: its append lock, its counter and the end of its hash chain.';

create table engram.agent_events (
  tenant_id text not null,
  stream_id uuid not null,
  position bigint not null check (position > 0),
  event_id uuid not null,
  scope_id bigint not null,
  role text not null check (role in ('user', 'assistant', 'agent', 'tool', 'system')),
  event_type text not null check (octet_length(event_type) between 1 and 64),
  trust smallint not null check (trust between 0 and 5),
  occurred_at timestamptz not null check (occurred_at >= '1900-01-01+00' and occurred_at < '2200-01-01+00'),
  recorded_at timestamptz not null,
  txid xid8 not null default pg_current_xact_id(),   -- orders followers; outside the hash, since a restore may have to renew it
  session_id text check (octet_length(session_id) between 1 and 200),
  task_run_id uuid,
  actor text check (octet_length(actor) between 1 and 200),
  idempotency_key text check (octet_length(idempotency_key) between 1 and 1024),
  derive text[] not null default '{}',
  hash_version smallint not null check (hash_version in (1, 2)),
  commitment bytea not null check (octet_length(commitment) = 32),
  prev_hash bytea not null check (octet_length(prev_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (tenant_id, stream_id, position),
  unique (tenant_id, event_id)
);

comment on table engram.agent_events is 'The append-only record: one immutable entry a row, chained by hash to the one before it.';

create unique index agent_events_idempotency on engram.agent_events (tenant_id, scope_id, idempotency_key)
  where idempotency_key is not null;

create index agent_events_follow on engram.agent_events (tenant_id, txid, stream_id, position);

create index agent_events_scope on engram.agent_events (tenant_id, scope_id, recorded_at, stream_id, position);

create index agent_events_session on engram.agent_events (tenant_id, session_id, recorded_at, stream_id, position)
  where session_id is not null;

create index agent_events_task on engram.agent_events (tenant_id, task_run_id, recorded_at, stream_id, position)
  where task_run_id is not null;

create table engram.agent_event_payloads (
  tenant_id text not null,
  stream_id uuid not null,
  position bigint not null,
  salt bytea not null check (octet_length(salt) = 32),
  body bytea not null check (octet_length(body) <= 1048576),
  primary key (tenant_id, stream_id, position)
);

comment on table engram.agent_event_payloads is
  'What an event says, as canonical JSON bytes under a random salt: the only part of the ledger that can be erased.';

-- Refusals, for the owner and for anyone who is ever given a right too many.
create function engram.refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception 'the ledger is append-only' using errcode = '55000';
end $$;

create function engram.refuse_unredacted() returns trigger
language plpgsql
as $$
begin
  if not exists (
    select from engram.agent_events e
      join engram.agent_events r on r.tenant_id = e.tenant_id and r.scope_id = e.scope_id and r.stream_id = e.stream_id
       and r.idempotency_key = 'redaction:' || e.event_id and r.event_type = 'redaction'
     where e.tenant_id = old.tenant_id and e.stream_id = old.stream_id and e.position = old.position)
  then
    raise exception 'a payload is erased only by a redaction' using errcode = '55000';
  end if;
  return old;
end $$;

create function engram.refuse_step_back() returns trigger
language plpgsql
as $$
begin
  if new.position < old.position or (new.position = old.position and new.head_hash <> old.head_hash)
     or (new.tenant_id, new.stream_id, new.scope_id, new.kind, new.name)
        is distinct from (old.tenant_id, old.stream_id, old.scope_id, old.kind, old.name)
  then
    raise exception 'the head of a stream only moves forward' using errcode = '55000';
  end if;
  return new;
end $$;

create trigger refuse_rows before update or delete on engram.agent_events
  for each row execute function engram.refuse_change();

create trigger refuse_truncate before truncate on engram.agent_events
  for each statement execute function engram.refuse_change();

create trigger refuse_edit before update on engram.agent_event_payloads
  for each row execute function engram.refuse_change();

create trigger refuse_delete before delete on engram.agent_event_payloads
  for each row execute function engram.refuse_unredacted();

create trigger refuse_truncate before truncate on engram.agent_event_payloads
  for each statement execute function engram.refuse_change();

create trigger refuse_delete before delete on engram.event_streams
  for each row execute function engram.refuse_change();

create trigger refuse_step_back before update on engram.event_streams
  for each row execute function engram.refuse_step_back();

create trigger refuse_truncate before truncate on engram.event_streams
  for each statement execute function engram.refuse_change();

-- The hash of an event covers an injective encoding of its header: fixed widths, a length before every text, and a presence
-- byte before everything that may be missing. engram/chain.py writes the same bytes.
create function engram.framed(p_text text) returns bytea
language sql stable parallel safe
as $$
  select case when p_text is null then '\x00'::bytea
    else '\x01'::bytea || int4send(octet_length(p_text)) || convert_to(p_text, 'UTF8') end
$$;

create function engram.event_hash(p_tenant text, p_stream uuid, p_position bigint, p_event uuid, p_scope bigint, p_role text,
  p_type text, p_trust smallint, p_occurred timestamptz, p_recorded timestamptz, p_session text, p_task uuid, p_actor text,
  p_key text, p_derive text[], p_commitment bytea, p_prev bytea, p_inner bytea, p_outer bytea) returns bytea
language plpgsql stable parallel safe
as $$
declare
  v_header bytea := 'engram-event'::bytea || int2send((case when p_inner is null then 1 else 2 end)::int2)
    || engram.framed(p_tenant) || uuid_send(p_stream) || int8send(p_position) || uuid_send(p_event) || int8send(p_scope)
    || engram.framed(p_role) || engram.framed(p_type) || int2send(p_trust)
    || timestamptz_send(p_occurred) || timestamptz_send(p_recorded) || engram.framed(p_session)
    || case when p_task is null then '\x00'::bytea else '\x01'::bytea || uuid_send(p_task) end
    || engram.framed(p_actor) || engram.framed(p_key) || array_send(p_derive) || p_commitment || p_prev;
begin
  if p_inner is null then
    return sha256(v_header);
  end if;
  return sha256(p_outer || sha256(p_inner || v_header));   -- HMAC-SHA256 from the two padded forms of the key
end $$;

create function engram.open_stream(p_scope bigint, p_stream uuid, p_kind text, p_name text)
returns table (stream_id uuid, "position" bigint, recorded_at timestamptz)
language plpgsql security definer
set search_path = engram, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  if not exists (select from event_streams s
     where s.tenant_id = v_tenant and s.scope_id = p_scope and s.kind = p_kind and s.name = p_name)
  then
    insert into event_streams (tenant_id, stream_id, scope_id, kind, name)
      values (v_tenant, p_stream, p_scope, p_kind, p_name)
      on conflict (tenant_id, scope_id, kind, name) do nothing;
  end if;
  return query select s.stream_id, s.position, s.recorded_at from event_streams s
    where s.tenant_id = v_tenant and s.scope_id = p_scope and s.kind = p_kind and s.name = p_name;
end $$;

comment on function engram.open_stream is 'The stream of that name in a scope, made when it is not there yet.';

-- Where events of a batch were recorded before: rarely asked, and planned afresh each time, since no plan made on a small
-- table is any good on a large one.
create function engram.known_events(p_scope bigint, p_events uuid[], p_keys text[])
returns table (place integer, event engram.agent_events, salt bytea, job_id uuid)
language plpgsql stable
set search_path = engram, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant text := engram.current_tenant();
begin
  return query
    with known as (
      select n.place, a::engram.agent_events as event
        from unnest(p_events) with ordinality as n (event_id, place)
       cross join lateral (select x.* from agent_events x where x.tenant_id = v_tenant and x.event_id = n.event_id limit 1) a
      union
      select n.place, a::engram.agent_events
        from unnest(p_keys) with ordinality as n (key, place)
       cross join lateral (select x.* from agent_events x
          where x.tenant_id = v_tenant and x.scope_id = p_scope and x.idempotency_key = n.key limit 1) a)
    select k.place::integer, k.event, p.salt, j.job_id
      from known k
      left join lateral (select x.salt from agent_event_payloads x where x.tenant_id = v_tenant
         and x.stream_id = (k.event).stream_id and x.position = (k.event).position limit 1) p on true
      left join lateral (select x.job_id from memory_jobs x
         where x.tenant_id = v_tenant and x.dedup_key = sha256('derive'::bytea || uuid_send((k.event).event_id)) limit 1) j on true
     order by k.place;
end $$;

-- The one way in. Everything of a batch happens or nothing: positions, chain, payloads and the jobs the events cause. No
-- foreign key guards what only this function writes and nobody deletes; `verify` checks more than a foreign key could.
--
-- It writes first and asks only when a unique index answers that something was there before: the usual batch is all new, and
-- then no look-up is planned or run. Its plans are kept (force_generic_plan): each asks one row by its primary key.
create function engram.write_events(p_scope bigint, p_stream uuid, p_expected bigint, p_events uuid[], p_jobs uuid[],
  p_roles text[], p_types text[], p_trusts smallint[], p_occurred timestamptz[], p_sessions text[], p_tasks uuid[],
  p_actors text[], p_keys text[], p_derive text[], p_salts bytea[], p_bodies bytea[], p_inner bytea, p_outer bytea)
returns table (place integer, event_id uuid, stream_id uuid, "position" bigint, recorded_at timestamptz, status text,
  job_id uuid)
language plpgsql security definer
set search_path = engram, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
  v_size integer := cardinality(p_events);
  v_head event_streams;
  v_now timestamptz;
  v_item record;
  v_known boolean := false;
  v_old_places integer[] := '{}';
  v_new integer;
  v_written integer;
  v_prev bytea;
  v_derivable bigint;
  v_positions bigint[];
  v_commitments bytea[];
  v_prevs bytea[];
  v_hashes bytea[];
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  -- What is acknowledged is on disk, whatever the session prefers.
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  select s.* into v_head from event_streams s
   where s.tenant_id = v_tenant and s.stream_id = p_stream and s.scope_id = p_scope
     for no key update;                                   -- held to the end: commits come in the order of positions
  if not found then
    raise exception 'no such stream' using errcode = 'P0002';
  end if;
  v_now := greatest(clock_timestamp(), v_head.recorded_at);

  loop
    if v_known then
      v_old_places := '{}';
      for v_item in
        select k.*, p_roles[k.place] as new_role, p_types[k.place] as new_type, p_bodies[k.place] as new_body
          from engram.known_events(p_scope, p_events, p_keys) k
      loop
        -- An id that another scope has taken is refused like another body: a receipt would tell of what that scope holds.
        if v_item.place = any (v_old_places) or (v_item.event).scope_id <> p_scope or (v_item.event).role <> v_item.new_role
           or (v_item.event).event_type <> v_item.new_type
           or (v_item.salt is not null and sha256(v_item.salt || v_item.new_body) <> (v_item.event).commitment)
        then
          raise exception 'an event id or idempotency key was used before with another body' using errcode = '23P99';
        end if;
        v_old_places := v_old_places || v_item.place;
        place := v_item.place;
        event_id := (v_item.event).event_id;
        stream_id := (v_item.event).stream_id;
        position := (v_item.event).position;
        recorded_at := (v_item.event).recorded_at;
        status := case when v_item.salt is null then 'erased' else 'duplicate' end;
        job_id := v_item.job_id;
        return next;
      end loop;
      if cardinality(v_old_places) = v_size then
        return;
      end if;
    end if;

    if p_expected is not null and p_expected <> v_head.position then
      if v_known then
        raise exception 'the stream is elsewhere' using errcode = '23P98', detail = v_head.position::text;
      end if;
      v_known := true;                                    -- perhaps it moved because this very batch was appended before
      continue;
    end if;

    v_new := 0;
    v_prev := v_head.head_hash;
    v_derivable := v_head.derivable;
    v_positions := '{}';
    v_commitments := '{}';
    v_prevs := '{}';
    v_hashes := '{}';
    for v_item in
      select * from unnest(p_events, p_roles, p_types, p_trusts, p_occurred, p_sessions, p_tasks, p_actors, p_keys, p_derive,
          p_salts, p_bodies) with ordinality
        as n (event_id, role, type, trust, occurred, session, task, actor, key, derive, salt, body, place)
    loop
      if v_item.place = any (v_old_places) then
        v_positions := v_positions || null::bigint;
        v_commitments := v_commitments || null::bytea;
        v_prevs := v_prevs || null::bytea;
        v_hashes := v_hashes || null::bytea;
        continue;
      end if;
      v_new := v_new + 1;
      v_positions := v_positions || (v_head.position + v_new);
      v_commitments := v_commitments || sha256(v_item.salt || v_item.body);
      v_prevs := v_prevs || v_prev;
      v_prev := engram.event_hash(v_tenant, p_stream, v_head.position + v_new, v_item.event_id, p_scope, v_item.role,
        v_item.type, v_item.trust, coalesce(v_item.occurred, v_now), v_now, v_item.session, v_item.task, v_item.actor,
        v_item.key, string_to_array(v_item.derive, ','), v_commitments[v_item.place], v_prev, p_inner, p_outer);
      v_hashes := v_hashes || v_prev;
      if v_item.derive <> '' then
        v_derivable := v_head.position + v_new;
      end if;
    end loop;

    begin
      insert into agent_events (tenant_id, stream_id, position, event_id, scope_id, role, event_type, trust, occurred_at,
          recorded_at, session_id, task_run_id, actor, idempotency_key, derive, hash_version, commitment, prev_hash, hash)
        select v_tenant, p_stream, n.position, n.event_id, p_scope, n.role, n.type, n.trust, coalesce(n.occurred, v_now), v_now,
               n.session, n.task, n.actor, n.key, string_to_array(n.derive, ','), case when p_inner is null then 1 else 2 end,
               n.commitment, n.prev, n.hash
          from unnest(p_events, p_roles, p_types, p_trusts, p_occurred, p_sessions, p_tasks, p_actors, p_keys, p_derive,
                 v_positions, v_commitments, v_prevs, v_hashes)
               as n (event_id, role, type, trust, occurred, session, task, actor, key, derive, position, commitment, prev, hash)
         where n.position is not null
        on conflict do nothing;
      get diagnostics v_written = row_count;
      if v_written <> v_new then
        raise exception 'an event was there before' using errcode = '23P97';
      end if;
    exception when sqlstate '23P97' then
      if v_known then
        -- Either the batch names one event twice, or another stream took the same id or key between the look-up and now:
        -- then the whole transaction may be run again and will find it.
        raise exception 'an event was appended twice at the same moment' using errcode =
          case when (select count(distinct x) from unnest(p_events) x) < v_size
                 or (select count(x) - count(distinct x) from unnest(p_keys) x) > 0 then '22023' else '40001' end;
      end if;
      v_known := true;
      continue;
    end;
    exit;
  end loop;

  insert into agent_event_payloads (tenant_id, stream_id, position, salt, body)
    select v_tenant, p_stream, n.position, n.salt, n.body from unnest(v_positions, p_salts, p_bodies) as n (position, salt, body)
     where n.position is not null;
  insert into memory_jobs (tenant_id, job_id, scope_id, kind, stream_id, position, dedup_key)
    select v_tenant, n.job_id, p_scope, 'derive', p_stream, n.position, sha256('derive'::bytea || uuid_send(n.event_id))
      from unnest(v_positions, p_events, p_jobs, p_derive) as n (position, event_id, job_id, derive)
     where n.position is not null and n.derive <> '';
  update event_streams s set position = v_head.position + v_new, head_hash = v_prev, recorded_at = v_now, derivable = v_derivable
   where s.tenant_id = v_tenant and s.stream_id = p_stream;

  return query
    select n.place::integer, n.event_id, p_stream, n.position, v_now, 'appended', case when n.derive <> '' then n.job_id end
      from unnest(p_events, p_jobs, p_derive, v_positions) with ordinality as n (event_id, job_id, derive, position, place)
     where n.position is not null;
end $$;

comment on function engram.write_events is 'The work behind append_events and redact_event; nobody else may call it.';

create function engram.append_events(p_scope bigint, p_stream uuid, p_expected bigint, p_events uuid[], p_jobs uuid[],
  p_roles text[], p_types text[], p_trusts smallint[], p_occurred timestamptz[], p_sessions text[], p_tasks uuid[],
  p_actors text[], p_keys text[], p_derive text[], p_salts bytea[], p_bodies bytea[], p_inner bytea, p_outer bytea)
returns table (place integer, event_id uuid, stream_id uuid, "position" bigint, recorded_at timestamptz, status text,
  job_id uuid)
language plpgsql security definer
set search_path = engram, pg_temp
as $$
begin
  if 'redaction' = any (p_types) then
    raise exception 'a redaction is made by redact_event' using errcode = '22023';
  end if;
  if exists (select from unnest(p_keys) k where k like 'redaction:%') then
    raise exception 'keys that begin with redaction: belong to the ledger' using errcode = '22023';
  end if;
  return query select w.* from engram.write_events(p_scope, p_stream, p_expected, p_events, p_jobs, p_roles, p_types,
    p_trusts, p_occurred, p_sessions, p_tasks, p_actors, p_keys, p_derive, p_salts, p_bodies, p_inner, p_outer) w;
end $$;

comment on function engram.append_events is
  'Append a batch of events to one stream, with their jobs, at the next positions: durably, and once an id and key.';

-- The one way out for what an event said. The event, its place and its hash stay; the redaction is an event itself.
create function engram.redact_event(p_event uuid, p_redaction uuid, p_trust smallint, p_actor text, p_salt bytea, p_body bytea,
  p_inner bytea, p_outer bytea)
returns table (event_id uuid, stream_id uuid, "position" bigint, recorded_at timestamptz, status text)
language plpgsql security definer
set search_path = engram, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
  v_event agent_events;
  v_key text;
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  select e.* into v_event from agent_events e where e.tenant_id = v_tenant and e.event_id = p_event;
  if not found then
    raise exception 'no such event' using errcode = 'P0002';
  end if;
  if v_event.event_type = 'redaction' then
    raise exception 'a redaction cannot be redacted' using errcode = '22023';
  end if;
  perform from event_streams s where s.tenant_id = v_tenant and s.stream_id = v_event.stream_id for no key update;
  v_key := 'redaction:' || p_event;
  return query select e.event_id, e.stream_id, e.position, e.recorded_at, 'duplicate' from agent_events e
    where e.tenant_id = v_tenant and e.scope_id = v_event.scope_id and e.idempotency_key = v_key;
  if found then
    return;
  end if;
  return query select w.event_id, w.stream_id, w.position, w.recorded_at, w.status from engram.write_events(v_event.scope_id,
    v_event.stream_id, null, array[p_redaction], array[p_redaction], array['system'], array['redaction'], array[p_trust],
    array[null::timestamptz], array[v_event.session_id], array[v_event.task_run_id], array[p_actor], array[v_key], array[''],
    array[p_salt], array[p_body], p_inner, p_outer) w;
  delete from agent_event_payloads p
   where p.tenant_id = v_tenant and p.stream_id = v_event.stream_id and p.position = v_event.position;
end $$;

comment on function engram.redact_event is 'Erase what an event said, for ever, and append the event that says so.';

revoke all on function engram.refuse_change, engram.refuse_unredacted, engram.refuse_step_back, engram.event_hash,
  engram.open_stream, engram.known_events, engram.write_events, engram.append_events, engram.redact_event from public;

grant execute on function engram.open_stream, engram.append_events, engram.redact_event to engram_app;
