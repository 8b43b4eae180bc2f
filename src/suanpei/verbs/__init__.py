"""One module per command: gathers, calls, returns a typed result."""
