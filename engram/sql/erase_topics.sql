-- Drop the topics of the scopes of some memories that are erased: their names and centres were made of them.
SELECT engram.erase_topics(%(memory_ids)s::uuid[], NULL)
