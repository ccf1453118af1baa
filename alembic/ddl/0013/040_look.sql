-- How far derivers have come in the streams of some scopes, one row each in their order. Nothing of it grows with the streams that are
-- read to their end, nor with what waits in one of the others:
--   * positions are summed up over all streams, up to a hundred of them; of more, over those that wait;
--   * of many streams that wait some are looked at (`waiting_streams`);
--   * events are counted up to a thousand positions; of streams beyond, whatever was appended behind the cursor counts.
create function engram.watermarks(p_tenant_id text, p_scope_ids bigint[], p_derivers text[], p_versions integer[])
returns table (place bigint, streams bigint, stream_id text, head bigint, behind bigint)
language plpgsql stable rows 2
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off  -- how many streams a scope has is not guessed: they are taken from the index one after another
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
  with few as materialized (
    select h.stream_id, h.position
      from unnest(p_scope_ids) c (scope_id)
     cross join lateral (
           select s.stream_id, s.position
             from engram.event_streams s
            where s.tenant_id = p_tenant_id and s.scope_id = c.scope_id
            order by s.kind, s.name
            limit 101) h
     limit 101),
  waiting as materialized (
    select h.stream_id, h.head, h.derived, h.derivable
      from engram.waiting_streams(p_tenant_id, p_scope_ids, '{session,task,scope,document}') h),
  told as materialized (
    select f.streams, case when f.streams = 1 then f.stream_id end as stream_id,
           case when f.streams <= 100 then f.head else (select coalesce(sum(w.head), 0) from waiting w) end as head
      from (select count(*) as streams, min(few.stream_id::text) as stream_id, coalesce(sum(few.position), 0) as head from few) f),
  starts as materialized (
    select w.stream_id, w.derivable, array_agg(d.position order by r.place) as positions, min(d.position) as slowest
      from waiting w
     cross join unnest(p_derivers, p_versions) with ordinality r (deriver, version, place)
     cross join lateral (
           select greatest(w.derived, max(c.position)) as position
             from engram.derivations c
            where c.tenant_id = p_tenant_id and c.stream_id = w.stream_id and c.deriver = r.deriver and c.version <= r.version) d
     group by w.stream_id, w.derivable),
  spans as materialized (
    select s.stream_id, s.derivable, s.positions, s.slowest, sum(s.derivable - s.slowest) over (order by s.stream_id desc) <= 1000 as counted
      from starts s
     where s.derivable > s.slowest),
  events as materialized (
    select s.positions, e.position, e.derive
      from spans s
     cross join lateral (
           select x.position, x.derive
             from engram.agent_events x
            where x.tenant_id = p_tenant_id and x.stream_id = s.stream_id and x.position > s.slowest and x.position <= s.derivable
            order by x.position
            limit 1000) e
     where s.counted)
  select r.place, t.streams, t.stream_id, t.head::bigint,
         (select count(*) from events e where e.position > e.positions[r.place] and r.deriver = any (e.derive))
           + coalesce((select sum(s.derivable - s.positions[r.place]) from spans s where not s.counted), 0)::bigint
    from unnest(p_derivers) with ordinality r (deriver, place)
   cross join told t
   order by r.place;
end $$;

comment on function engram.watermarks is 'How far each of some derivers has come in the streams of some scopes.';

revoke all on function engram.watermarks from public;

grant execute on function engram.watermarks to engram_app;

-- What a search must know before it can be made, as 0007/013_look.sql has it, with the watermarks above.
create or replace function engram.look_at_question(p_tenant_id text, p_scope_ids bigint[], p_words text[], p_config text, p_most integer,
  p_derivers text[], p_versions integer[])
returns table (now timestamptz, size bigint, actors text[], graphed bigint[], model_id bigint, config text, words jsonb, marks jsonb)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with scopes as materialized (
    select s.scope_id, t.df as size
      from unnest(p_scope_ids) s(scope_id)
      left join lateral (
           select t.df
             from engram.memory_terms t
            where t.tenant_id = p_tenant_id and t.scope_id = s.scope_id and t.term = '' offset 0) t on true),
  chosen as materialized (
    select coalesce((select c.config::text from engram.text_search_configs c where c.tenant_id = p_tenant_id), p_config) as config),
  asked as materialized (
    select w.place, w.word, l.lexeme
      from chosen c
     cross join unnest(p_words) with ordinality w(word, place)
      left join lateral (select u.lexeme from unnest(to_tsvector(c.config::regconfig, w.word)) u) l on true),
  sought as materialized (
    select l.lexeme, s.scope_id, k.df
      from (select distinct lexeme from asked where lexeme is not null) l
     cross join scopes s
      left join lateral (
           select k.df
             from engram.memory_terms k
            where s.size is not null and k.tenant_id = p_tenant_id and k.scope_id = s.scope_id and k.term = l.lexeme
           offset 0) k on true),
  counted as materialized (
    select l.lexeme, sum(l.df) as df
      from (select s.lexeme, s.df from sought s where s.df is not null
             union all
            select f.lexeme, f.df
              from engram.lexeme_frequencies(
                     array(select s.scope_id from sought s where s.df is null order by s.lexeme, s.scope_id),
                     array(select s.lexeme from sought s where s.df is null order by s.lexeme, s.scope_id), p_most) f) l
     group by l.lexeme)
  select clock_timestamp(),
         (select coalesce(sum(coalesce(s.size, (
                   select count(*) from engram.memory_lexemes l where l.tenant_id = p_tenant_id and l.scope_id = s.scope_id))), 0)::bigint
            from scopes s),
         (select coalesce(array_agg(distinct n.actor order by n.actor), '{}')
            from (select a.actor from engram.memory_actors a
                   where a.tenant_id = p_tenant_id and a.scope_id = any (p_scope_ids) limit 500) n),
         (select coalesce(array_agg(g.scope_id order by g.scope_id), '{}')
            from engram.memory_graphs g
           where g.tenant_id = p_tenant_id and g.scope_id = any (p_scope_ids) and g.model_id = a.model_id),
         a.model_id, c.config,
         (select coalesce(jsonb_agg(jsonb_build_array(w.word, w.lexeme, k.df::bigint) order by w.place, w.lexeme), '[]')
            from asked w left join counted k on k.lexeme = w.lexeme),
         (select jsonb_agg(jsonb_build_array(d.streams, d.stream_id, d.head, d.behind) order by d.place)
            from engram.watermarks(p_tenant_id, p_scope_ids, p_derivers, p_versions) d)
    from chosen c
    left join engram.embedding_models a on a.tenant_id = p_tenant_id and a.state = 'active';
end $$;
