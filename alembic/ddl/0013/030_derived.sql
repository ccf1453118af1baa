-- Which streams have something left for a deriver. A search asks it of all streams of its scopes: from the cursors alone it had to
-- look into every one of them, however long ago it was read to its end.
--
-- `waiting` changes only when a stream is read to its end and when something new comes then. So it can have an index, and an
-- append to a stream that waits already touches none. Columns of one index are compared one by one: an index over `derivable`
-- itself would be written by every append.
alter table engram.event_streams
  add column derived bigint not null default 0,
  add column waiting boolean not null generated always as (derivable > derived) stored,
  add constraint event_streams_derived_check check (derived between 0 and derivable);

comment on column engram.event_streams.derived is
  'Every event up to it has been read by each deriver that it names, but for the language model. It may lag behind them, never lead.';

comment on column engram.event_streams.waiting is 'Whether a deriver, but for the language model, may have something left to read.';

create index event_streams_waiting on engram.event_streams (tenant_id, scope_id, stream_id) where waiting;

-- How far every deriver has come in the waiting ones of some streams, noted at the streams. The newest of their cursors counts,
-- whatever its version: a new version goes on where the one before it stood. What was appended meanwhile stays in wait. Streams are
-- locked in the order in which those are that are appended to together.
create function engram.mark_derived(p_streams uuid[]) returns void
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_stream record;
  v_derived bigint;
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  for v_stream in
    select s.stream_id, s.derived, s.derivable
      from event_streams s
     where s.tenant_id = v_tenant and s.stream_id = any (p_streams) and s.waiting
     order by s.stream_id
  loop
    select e.position - 1 into v_derived
      from agent_events e
     where e.tenant_id = v_tenant and e.stream_id = v_stream.stream_id
       and e.position > v_stream.derived and e.position <= v_stream.derivable
       and exists (
         select from unnest(e.derive) d (name)
          where d.name <> 'llm'
            and e.position > coalesce((select max(c.position) from derivations c
                                        where c.tenant_id = v_tenant and c.stream_id = v_stream.stream_id and c.deriver = d.name), 0))
     order by e.position
     limit 1;
    v_derived := coalesce(v_derived, v_stream.derivable);
    update event_streams s set derived = v_derived
     where s.tenant_id = v_tenant and s.stream_id = v_stream.stream_id and s.derived < v_derived;
  end loop;
end $$;

comment on function engram.mark_derived is 'Note at streams how far every deriver but the language model has read them.';

revoke all on function engram.mark_derived from public;

grant execute on function engram.mark_derived to engram_app;

-- The same for all that is there: what the cursors have passed waits for nobody.
alter table engram.event_streams no force row level security;

alter table engram.agent_events no force row level security;

alter table engram.derivations no force row level security;

update engram.event_streams s
   set derived = coalesce((
         select e.position - 1
           from engram.agent_events e
          where e.tenant_id = s.tenant_id and e.stream_id = s.stream_id and e.position <= s.derivable
            and e.position > coalesce((select min(c.position) from (
                                        select max(x.position) as position from engram.derivations x
                                         where x.tenant_id = s.tenant_id and x.stream_id = s.stream_id and x.deriver <> 'llm'
                                         group by x.deriver) c), 0)
            and exists (
              select from unnest(e.derive) d (name)
               where d.name <> 'llm'
                 and e.position > coalesce((select max(c.position) from engram.derivations c
                                             where c.tenant_id = s.tenant_id and c.stream_id = s.stream_id and c.deriver = d.name), 0))
          order by e.position
          limit 1), s.derivable)
 where s.derivable > 0;

alter table engram.derivations force row level security;

alter table engram.agent_events force row level security;

alter table engram.event_streams force row level security;
