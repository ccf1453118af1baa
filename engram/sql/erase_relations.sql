-- Take away what an event said of relations, and the relations of the memories that were emptied with it.
SELECT engram.erase_relations(%(event_id)s::uuid, %(memory_ids)s::uuid[])
