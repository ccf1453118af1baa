-- What the cosines of the model in use mean, where it was calibrated: a search is told in the statement that tells it the model, so that
-- no process goes by another scale than the vectors it compares.
create function engram.model_thresholds(p_tenant_id text)
returns jsonb
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return (select nullif(m.thresholds, '{}') from engram.embedding_models m where m.tenant_id = p_tenant_id and m.state = 'active');
end $$;

comment on function engram.model_thresholds is 'What the cosines of a tenant''s model in use mean; null where it was not calibrated.';

revoke all on function engram.model_thresholds from public;

grant execute on function engram.model_thresholds to engram_app;
