"""The life of memories: how they are reinforced, fade, merge, rise and are put away. Decisions here are pure."""
