"""Entries to drafts, one per price, and what each amount is per accelerator-hour."""
