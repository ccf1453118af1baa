-- What a cursor of this transaction reads it reads to the end: planned for the first tenth, a scope is looked for in the whole tenant.
SELECT set_config('cursor_tuple_fraction', '1', true)
