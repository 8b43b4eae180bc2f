"""Results as people read them: text, tables, translation."""
