"""Tables to entries: rows below headings, grids, turned tables."""
