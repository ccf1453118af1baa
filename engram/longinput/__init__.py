"""Texts too long to be one event: read in parts, cut into chunks, told apart by kind, cited to the character."""
