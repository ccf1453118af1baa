-- The database's clock, from which a question's words such as "yesterday" are read.
SELECT clock_timestamp()
