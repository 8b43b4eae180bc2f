"""Drafts to quoted offers with flags and questions, and what a plan takes of them."""
