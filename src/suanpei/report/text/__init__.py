"""Results as text for a terminal, in English and Chinese."""
