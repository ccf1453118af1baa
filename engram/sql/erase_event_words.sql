-- Take the words of an event out of the index.
DELETE FROM engram.event_lexemes
 WHERE tenant_id = %(tenant_id)s AND stream_id = %(stream_id)s::uuid AND position = %(position)s
