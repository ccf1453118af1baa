-- An event as bytes, but for the hash before it, which comes last: what is the same whatever was appended before is made for a whole
-- batch at once.
create or replace function engram.event_header(p_tenant text, p_stream uuid, p_position bigint, p_event uuid, p_scope bigint, p_role text,
  p_type text, p_trust smallint, p_occurred timestamptz, p_recorded timestamptz, p_session text, p_task uuid, p_actor text,
  p_key text, p_derive text[], p_commitment bytea, p_keyed boolean) returns bytea
language sql stable parallel safe
as $$
  select 'engram-event'::bytea || int2send((case when p_keyed then 2 else 1 end)::int2)
    || engram.framed(p_tenant) || uuid_send(p_stream) || int8send(p_position) || uuid_send(p_event) || int8send(p_scope)
    || engram.framed(p_role) || engram.framed(p_type) || int2send(p_trust)
    || timestamptz_send(p_occurred) || timestamptz_send(p_recorded) || engram.framed(p_session)
    || case when p_task is null then '\x00'::bytea else '\x01'::bytea || uuid_send(p_task) end
    || engram.framed(p_actor) || engram.framed(p_key) || array_send(p_derive) || p_commitment
$$;

comment on function engram.event_header is 'The bytes of an event that its hash covers, but for the hash before it.';

revoke all on function engram.event_header from public;

create or replace function engram.event_hash(p_tenant text, p_stream uuid, p_position bigint, p_event uuid, p_scope bigint, p_role text,
  p_type text, p_trust smallint, p_occurred timestamptz, p_recorded timestamptz, p_session text, p_task uuid, p_actor text,
  p_key text, p_derive text[], p_commitment bytea, p_prev bytea, p_inner bytea, p_outer bytea) returns bytea
language plpgsql stable parallel safe
as $$
declare
  v_header bytea := engram.event_header(p_tenant, p_stream, p_position, p_event, p_scope, p_role, p_type, p_trust, p_occurred, p_recorded,
    p_session, p_task, p_actor, p_key, p_derive, p_commitment, p_inner is not null) || p_prev;
begin
  if p_inner is null then
    return sha256(v_header);
  end if;
  return sha256(p_outer || sha256(p_inner || v_header));   -- HMAC-SHA256 from the two padded forms of the key
end $$;

-- The one way in, as in 0009, but that what the events of a batch are as bytes is made in one query, and only the chain link by link.
create or replace function engram.write_events(p_scope bigint, p_stream uuid, p_expected bigint, p_events uuid[], p_jobs uuid[],
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
  v_prev bytea;
  v_derivable bigint;
  v_positions bigint[];
  v_commitments bytea[];
  v_prevs bytea[];
  v_hashes bytea[];
  v_headers bytea[];
  v_header bytea;
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

    v_new := v_size - cardinality(v_old_places);
    select array_agg(h.position order by h.place), array_agg(h.commitment order by h.place), array_agg(h.header order by h.place),
           greatest(v_head.derivable, max(h.position) filter (where h.derive <> ''))
      into v_positions, v_commitments, v_headers, v_derivable
      from (select n.place, n.derive, n.position, n.commitment,
                   case when n.position is not null then engram.event_header(v_tenant, p_stream, n.position, n.event_id, p_scope, n.role,
                     n.type, n.trust, coalesce(n.occurred, v_now), v_now, n.session, n.task, n.actor, n.key,
                     string_to_array(n.derive, ','), n.commitment, p_inner is not null) end as header
              from (select u.*, case when u.place = any (v_old_places) then null else sha256(u.salt || u.body) end as commitment,
                           case when v_new = v_size then v_head.position + u.place
                                when u.place = any (v_old_places) then null
                                else v_head.position + u.place - (select count(*) from unnest(v_old_places) o where o < u.place) end
                             as position
                      from unnest(p_events, p_roles, p_types, p_trusts, p_occurred, p_sessions, p_tasks, p_actors, p_keys, p_derive,
                             p_salts, p_bodies) with ordinality
                        as u (event_id, role, type, trust, occurred, session, task, actor, key, derive, salt, body, place)
                    offset 0) n) h;
    v_prev := v_head.head_hash;
    v_prevs := '{}';
    v_hashes := '{}';
    foreach v_header in array v_headers loop
      v_prevs := v_prevs || v_prev;
      if v_header is null then
        v_hashes := v_hashes || null::bytea;
        continue;
      end if;
      v_prev := case when p_inner is null then sha256(v_header || v_prev)
                     else sha256(p_outer || sha256(p_inner || v_header || v_prev)) end;
      v_hashes := v_hashes || v_prev;
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
         where n.position is not null;
    exception when unique_violation then
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
