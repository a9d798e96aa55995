"""Measures of texts: terms, citations, readability, length, markup and similarity, in any language."""
