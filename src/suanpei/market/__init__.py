"""Prices and costs, in Decimal."""
