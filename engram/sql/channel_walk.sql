-- What the graph of one large scope brings; where it brings less than it was asked for, its scope is compared exactly too.
SELECT w.memory_id, w.cosine FROM /*walked*/ w
 UNION
(/*exact*/)
 UNION ALL
