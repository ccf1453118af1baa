-- What a search must know before it can be made, as before, with less work: the words that no table counts are counted by one function
-- whose plan is kept, and a table of frequencies is asked for the words of the question alone. Joined with it, the planner read
-- the words of all scopes of the tenant.
create function engram.lexeme_frequencies(p_scopes bigint[], p_lexemes text[], p_most integer)
returns table (lexeme text, df bigint)
language plpgsql stable strict security definer rows 10
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  return query
  select t.lexeme, least(sum(c.df), p_most)::bigint
    from (select u.scope_id, u.lexeme, (engram.scoped_lexeme(u.scope_id, u.lexeme) || ':A')::tsquery as term
            from unnest(p_scopes, p_lexemes) u(scope_id, lexeme) offset 0) t
   cross join lateral (
         select count(*) as df
           from (select from engram.memory_lexemes l
                  where l.lexemes @@ t.term
                    and (l.tenant_id = v_tenant) is true and (l.scope_id = t.scope_id) is true
                  limit p_most) seen) c
   group by t.lexeme;
end $$;

comment on function engram.lexeme_frequencies is 'In how many memories of some scopes each of some words occurs.';

revoke all on function engram.lexeme_frequencies from public;

grant execute on function engram.lexeme_frequencies to engram_app;

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
     group by l.lexeme),
  marked as materialized (
    select r.place, count(s.stream_id) as streams, min(s.stream_id::text) as stream_id, coalesce(sum(s.position), 0)::bigint as head,
           coalesce(sum(b.behind), 0)::bigint as behind
      from unnest(p_derivers, p_versions) with ordinality r(deriver, version, place)
      left join engram.event_streams s on s.tenant_id = p_tenant_id and s.scope_id = any (p_scope_ids)
      left join lateral (
           select max(c.position) as position
             from engram.derivations c
            where c.tenant_id = s.tenant_id and c.stream_id = s.stream_id and c.deriver = r.deriver and c.version <= r.version) d on true
      left join lateral (
           select count(*) as behind
             from engram.agent_events e
            where s.derivable > coalesce(d.position, 0) and e.tenant_id = s.tenant_id and e.stream_id = s.stream_id
              and e.position > coalesce(d.position, 0) and r.deriver = any (e.derive)) b on true
     group by r.place)
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
         (select jsonb_agg(jsonb_build_array(d.streams, d.stream_id, d.head, d.behind) order by d.place) from marked d)
    from chosen c
    left join engram.embedding_models a on a.tenant_id = p_tenant_id and a.state = 'active';
end $$;
