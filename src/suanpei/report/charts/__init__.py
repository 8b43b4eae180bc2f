"""Charts as SVG text, the same bytes for the same numbers."""
