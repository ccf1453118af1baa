-- Analyze a table of a young database that nothing has analyzed since it has grown fourfold; its name.
SELECT engram.analyze_grown_table() AS analyzed
