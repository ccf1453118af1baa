-- The rows that are loaded: those chosen, each with what every channel says of it.
signals n JOIN world m ON m.memory_id = n.memory_id
