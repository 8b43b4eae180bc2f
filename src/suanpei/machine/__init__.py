"""On which accelerators, joined by what."""
