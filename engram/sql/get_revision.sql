-- The revision of the schema, as the migrations keep it: read once, before anything else is said.
SELECT v.version_num FROM public.engram_version v
