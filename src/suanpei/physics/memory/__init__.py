"""Memory of one accelerator, by part."""
