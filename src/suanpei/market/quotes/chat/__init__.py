"""Lists and chat messages to entries."""
