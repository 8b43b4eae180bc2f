"""How much of a file is read: far more than a price list holds, far less than a machine's memory."""

from __future__ import annotations

MOST_FILE_BYTES = 64 * 2**20
"""Of the file itself: a price list of 50,000 rows takes 3 MB as a workbook and 8 MB as text. [B]"""
MOST_UNPACKED_BYTES = 256 * 2**20
"""Of all parts of a workbook or document, unpacked: 50,000 rows of 12 cells take 40 MB. [B]"""
MOST_TREE_BYTES = 32 * 2**20
"""Of a document or page that is held as a tree, which takes some ten times its size in memory. [B]"""
MOST_CELLS = 4_000_000
"""Of all tables of a file: 50,000 rows of 80 columns; an empty cell takes 8 bytes. [-]"""
MOST_COLUMNS = 256
"""Of a table; what stands further right is named as unread. [-]"""
MOST_CELL_CHARACTERS = 32_767
"""Of a cell or a line of text; what is longer is named as unread. Source: Microsoft, "Excel specifications and limits":
the most that a cell of a spreadsheet holds. [-]"""
MOST_PAGES = 500
"""Of a PDF: a page takes about 50 ms. [-]"""
MOST_NAMED = 20
"""Places that are named one by one for the same reason; the rest is counted. [-]"""
