-- Whether a text has a word that the index keeps.
SELECT to_tsvector(%(config)s::regconfig, %(said)s) <> ''::tsvector
