-- Make a stream with the id it had where it was exported.
SELECT engram.import_stream(%(scope_id)s, %(stream_id)s::uuid, %(type)s, %(name)s, %(created_at)s::timestamptz)
