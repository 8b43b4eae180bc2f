"""Requests for quotation: one specification for every seller, and the form that they fill.

``planned`` says what is needed of a plan's JSON; ``specification`` works out what to ask for; ``requirements``
says it; ``fields``, ``words`` and ``marker`` define the form once, for its writer and for `market.quotes.form`, which
reads it.
"""
