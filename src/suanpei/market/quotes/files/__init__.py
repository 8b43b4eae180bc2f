"""Files of quotes as lines of cells that know their place: `read_document` takes a file, `read_pasted` a text."""

from __future__ import annotations

from suanpei.market.quotes.files.read import read_document, read_pasted

__all__ = ["read_document", "read_pasted"]
