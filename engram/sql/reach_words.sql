-- The words of a question in a search of the past: what each of all memories that hold its rarest words, whenever they stood, holds of them.
/*matched*/,
said AS MATERIALIZED (
  /*scores*/)
