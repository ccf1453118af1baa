"""Operations: what each public call does, step by step, with the waiting left to its door."""
