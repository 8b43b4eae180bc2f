"""The words of sellers: each module reads one kind of fact in a text, in the words of ``quote_words.toml``."""
