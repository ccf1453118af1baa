-- How much of a question's words the memories of some scopes hold: those that hold its rarest words (`p_leads`), and those of `p_also`.
-- What it counts is told in `score_words.sql`, which does the same for every search that is not ordinary. Here the index itself
-- tells which memory holds which of the rare words, and only the others (`p_sought` is null, or it does not lead) are looked for in
-- the memories that were found. A word that no memory was counted for is asked for once: mostly it is nowhere.
-- It reads as the owner, as `lexeme_matches` does, and names the tenant itself.
create function engram.score_words(
  p_scope_ids bigint[], p_term_scopes bigint[], p_labels text[], p_terms text[], p_sought text[], p_leads boolean[], p_idfs float8[],
  p_phrases boolean[], p_total float8, p_most integer, p_also uuid[])
returns table (memory_id uuid, matched text[], coverage float8)
language plpgsql stable security definer rows 500
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
begin
  if p_labels is null or (p_sought is null and coalesce(cardinality(p_also), 0) = 0) then
    return;
  end if;
  return query
  with asked as materialized (
    select w.scope_id, w.label, w.term::tsquery as term, w.sought::tsquery as sought, w.idf, w.phrase, w.leads,
           w.leads and not w.phrase as told,
           w.sought is null or w.leads
           or exists (select from engram.memory_lexemes l where l.lexemes @@ w.sought::tsquery) as occurs
      from unnest(p_term_scopes, p_labels, p_terms, p_sought, p_leads, p_idfs, p_phrases)
           w(scope_id, label, term, sought, leads, idf, phrase)
     order by w.idf desc),
  open as materialized (
    select a.scope_id, a.label, a.term, a.idf, a.phrase from asked a where a.occurs and a.told is not true),
  hit as materialized (
    select l.memory_id, a.scope_id, l.own_terms, case when o.open then l.lexemes end as lexemes, a.label, a.idf,
           case when a.told then ts_rank('{0.1,0.15,0.3,1}', l.lexemes, a.term)::float8 end as rank
      from asked a
     cross join (select exists (select from open) as open) o
     cross join lateral (
           select l.memory_id, l.own_terms, l.lexemes
             from engram.memory_lexemes l
            where l.lexemes @@ a.sought and (l.tenant_id = v_tenant) is true and (l.scope_id = a.scope_id) is true offset 0) l
     where a.leads
     limit p_most),
  beside as materialized (
    select l.memory_id, l.scope_id, greatest(1, l.own_terms / 30.0::float8) as length, l.lexemes || ''::tsvector as lexemes
      from (select unnest(p_also) as memory_id except select h.memory_id from hit h) b
     cross join lateral (
           select l.memory_id, l.scope_id, l.own_terms, l.lexemes
             from engram.memory_lexemes l
            where l.tenant_id = v_tenant and l.memory_id = b.memory_id and (l.scope_id = any (p_scope_ids)) is true offset 0) l)
  select s.memory_id, array_agg(s.label order by s.idf desc, s.label),
         sum(s.idf * least(1, 1.329 * s.rank / (s.rank + 0.2 * s.length))) / p_total
    from (select h.memory_id, h.label, h.idf, greatest(1, h.own_terms / 30.0::float8) as length, h.rank
            from hit h where h.rank is not null
           union all
          select c.memory_id, a.label, a.idf, c.length,
                 case when a.phrase then 0.6079 else ts_rank('{0.1,0.15,0.3,1}', c.lexemes, a.term)::float8 end
            from (select distinct on (h.memory_id) h.memory_id, h.scope_id, greatest(1, h.own_terms / 30.0::float8) as length,
                         h.lexemes || ''::tsvector as lexemes
                    from hit h where h.lexemes is not null offset 0) c
            join open a on a.scope_id = c.scope_id and c.lexemes @@ a.term
           union all
          select b.memory_id, a.label, a.idf, b.length,
                 case when a.phrase then 0.6079 else ts_rank('{0.1,0.15,0.3,1}', b.lexemes, a.term)::float8 end
            from beside b
            join asked a on a.scope_id = b.scope_id and a.occurs and b.lexemes @@ a.term) s
   group by s.memory_id;
end $$;

comment on function engram.score_words is 'How much of a question''s words the memories hold that have its rarest ones, and some others.';

revoke all on function engram.score_words from public;

grant execute on function engram.score_words to engram_app;
