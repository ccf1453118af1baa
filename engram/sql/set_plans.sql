-- Whether statements of this transaction are planned for their values or for none, which the server keeps.
SELECT set_config('plan_cache_mode', %(mode)s, true)
