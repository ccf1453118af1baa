-- Analyze the tables that have grown since they were made and that nothing has analyzed yet; their names.
SELECT engram.analyze_grown_tables() AS analyzed
