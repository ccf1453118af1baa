-- What a search must know before it can be made, at once: of its scopes how many memories they hold, who speaks there, which model
-- is in use and which have its graph; of its words their lexemes there, and in how many memories each occurs (from the table of
-- frequencies where there is one and the word is in it, otherwise counted); and of each deriver how far it has come.
create function engram.look_at_question(p_tenant_id text, p_scope_ids bigint[], p_words text[], p_config text, p_most integer,
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
      left join engram.memory_terms t on t.tenant_id = p_tenant_id and t.scope_id = s.scope_id and t.term = ''),
  chosen as materialized (
    select coalesce((select c.config::text from engram.text_search_configs c where c.tenant_id = p_tenant_id), p_config) as config),
  asked as materialized (
    select w.place, w.word, l.lexeme
      from chosen c
     cross join unnest(p_words) with ordinality w(word, place)
      left join lateral (select u.lexeme from unnest(to_tsvector(c.config::regconfig, w.word)) u) l on true),
  counted as materialized (
    select t.lexeme,
           coalesce(sum(k.df), 0)
           + coalesce(engram.lexeme_frequency(
               array_agg(s.scope_id) filter (where k.df is null),
               (string_agg(engram.scoped_lexeme(s.scope_id, t.lexeme) || ':A', ' | ') filter (where k.df is null))::tsquery,
               p_most), 0) as df
      from (select distinct lexeme from asked where lexeme is not null) t
     cross join scopes s
      left join engram.memory_terms k
        on s.size is not null and k.tenant_id = p_tenant_id and k.scope_id = s.scope_id and k.term = t.lexeme
     group by t.lexeme),
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

comment on function engram.look_at_question is 'What a search must know of its scopes and its words before it can be made.';

revoke all on function engram.look_at_question from public;

grant execute on function engram.look_at_question to engram_app;
