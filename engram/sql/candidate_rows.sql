-- The rows that are loaded: those chosen, each with what every channel says of it.
signals n /*row of n.memory_id*/
