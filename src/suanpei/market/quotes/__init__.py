"""Quotes: offers as sellers write them, brought onto one basis.

``files`` turns a file into a `Document` (lines of cells that know their place); ``text`` reads the facts in a cell;
``read`` finds the tables, lists and messages and makes a `QuotedOffer` of each; ``form`` and ``clouds`` do so for
filled forms and catalogues of clouds, ``own_columns`` for files in our own columns; ``as_offers`` makes of those what
a plan can rent. Nothing is guessed silently: what was inferred is flagged, what is missing becomes a question, what
cannot be read is listed as unread.
"""
