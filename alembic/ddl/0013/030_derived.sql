-- Which streams have something left for a deriver. A search asks it of all streams of its scopes: from the cursors alone it had to
-- look into every one of them, however long ago it was read to its end.
alter table engram.event_streams add column derived bigint not null default 0;

comment on column engram.event_streams.derived is
  'Every event up to it has been read by each deriver that it names, but for the language model. It may lag behind them, never lead.';

-- For what is there the cursors say it. A deriver that has none in a stream has read nothing of it: so events are looked at from where
-- the slowest of those stands that the tenant has had, which is the beginning where one of them has none.
alter table engram.event_streams no force row level security;

alter table engram.agent_events no force row level security;

alter table engram.derivations no force row level security;

update engram.event_streams s
   set derived = coalesce((
         select e.position - 1
           from engram.agent_events e
          where e.tenant_id = s.tenant_id and e.stream_id = s.stream_id and e.position <= s.derivable
            and e.position > (select min(coalesce((select max(x.position) from engram.derivations x
                                                    where x.tenant_id = s.tenant_id and x.stream_id = s.stream_id and x.deriver = k.deriver), 0))
                                from (select d.tenant_id, d.deriver from engram.derivations d where d.deriver <> 'llm' group by 1, 2) k
                               where k.tenant_id = s.tenant_id)
            and exists (
              select from unnest(e.derive) d (name)
               where d.name <> 'llm'
                 and e.position > coalesce((select max(c.position) from engram.derivations c
                                             where c.tenant_id = s.tenant_id and c.stream_id = s.stream_id and c.deriver = d.name), 0))
          order by e.position
          limit 1), s.derivable)
 where s.derivable > 0
   and exists (select from engram.derivations d where d.tenant_id = s.tenant_id and d.stream_id = s.stream_id and d.deriver <> 'llm');

alter table engram.derivations force row level security;

alter table engram.agent_events force row level security;

alter table engram.event_streams force row level security;

-- `waiting` changes only when a stream has been read to its end and when something new comes then. So it can have an index, and an
-- append to a stream that waits already touches none. Columns of one index are compared one by one: an index over `derivable`
-- itself would be written by every append.
alter table engram.event_streams
  add constraint event_streams_derived_check check (derived between 0 and derivable),
  add column waiting boolean not null generated always as (derivable > derived) stored;

comment on column engram.event_streams.waiting is 'Whether a deriver, but for the language model, may have something left to read.';

create index event_streams_waiting on engram.event_streams (tenant_id, scope_id, kind, stream_id) where waiting;

-- How far every deriver has come in the waiting ones of some streams, noted at the streams. The newest of their cursors counts,
-- whatever its version: a new version goes on where the one before it stood. What was appended meanwhile stays in wait, and a stream
-- that somebody holds is left to the next mark. So that no mark is lost for long, some others of the scopes are looked at as well,
-- the oldest that wait.
create function engram.mark_derived(p_streams uuid[]) returns void
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_ids uuid[];
  v_id uuid;
  v_head record;
  v_derived bigint;
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  v_ids := array(
    select o.stream_id
      from (select distinct m.scope_id
              from unnest(p_streams) p (stream_id)
             cross join lateral (
                   select s.scope_id from event_streams s where s.tenant_id = v_tenant and s.stream_id = p.stream_id limit 1) m) c
     cross join lateral (
           select s.stream_id
             from event_streams s
            where s.tenant_id = v_tenant and s.scope_id = c.scope_id and s.waiting
            order by s.kind, s.stream_id
            limit 5) o
     where o.stream_id <> all (p_streams));
  foreach v_id in array p_streams || v_ids
  loop
    select s.derived, s.derivable into v_head
      from event_streams s
     where s.tenant_id = v_tenant and s.stream_id = v_id and s.derivable > s.derived  -- as below, by the primary key
       for no key update skip locked;
    continue when not found;
    select e.position - 1 into v_derived
      from agent_events e
     where e.tenant_id = v_tenant and e.stream_id = v_id and e.position > v_head.derived and e.position <= v_head.derivable
       and exists (
         select from unnest(e.derive) d (name)
          where d.name <> 'llm'
            and e.position > coalesce((select max(c.position) from derivations c
                                        where c.tenant_id = v_tenant and c.stream_id = v_id and c.deriver = d.name), 0))
     order by e.position
     limit 1;
    v_derived := coalesce(v_derived, v_head.derivable);
    update event_streams s set derived = v_derived
     where s.tenant_id = v_tenant and s.stream_id = v_id and s.derived < v_derived;
  end loop;
end $$;

comment on function engram.mark_derived is 'Note at streams how far every deriver but the language model has read them.';

revoke all on function engram.mark_derived from public;

grant execute on function engram.mark_derived to engram_app;

-- The streams of some scopes with something left, of these kinds: of each kind and scope a thousand, those made last; where that is not
-- all there may be, also those in which the newest 200 events of each scope were recorded.
create function engram.waiting_streams(p_tenant_id text, p_scope_ids bigint[], p_kinds text[])
returns table (stream_id uuid, head bigint, derived bigint, derivable bigint, recorded_at timestamptz)
language sql stable rows 10
as $$
  with made as materialized (
    select s.stream_id, s.position, s.derived, s.derivable, s.recorded_at
      from unnest(p_scope_ids) c (scope_id)
     cross join unnest(p_kinds) k (kind)
     cross join lateral (
           select w.stream_id, w.position, w.derived, w.derivable, w.recorded_at
             from engram.event_streams w
            where w.tenant_id = p_tenant_id and w.scope_id = c.scope_id and w.kind = k.kind and w.waiting
            order by w.stream_id desc
            limit 1000) s)
  select m.stream_id, m.position, m.derived, m.derivable, m.recorded_at from made m
   union
  select s.stream_id, s.position, s.derived, s.derivable, s.recorded_at
    from unnest(p_scope_ids) c (scope_id)
   cross join lateral (
         select x.stream_id
           from engram.agent_events x
          where x.tenant_id = p_tenant_id and x.scope_id = c.scope_id
          order by x.recorded_at desc, x.stream_id desc, x.position desc
          limit 200) e
   cross join lateral (
         select w.stream_id, w.kind, w.position, w.derived, w.derivable, w.recorded_at
           from engram.event_streams w
          where w.tenant_id = p_tenant_id and w.stream_id = e.stream_id
            and w.derivable > w.derived  -- which is `waiting`, said so that no index but the primary key seems to fit
          limit 1) s
   where s.kind = any (p_kinds) and (select count(*) from made) >= 1000
$$;

comment on function engram.waiting_streams is 'The streams of some scopes that derivers, but for the language model, may have something left in.';

revoke all on function engram.waiting_streams from public;

grant execute on function engram.waiting_streams to engram_app;
