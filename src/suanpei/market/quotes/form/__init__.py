"""Filled forms of a request for quotation, read back by their keys: without loss and without inference."""
