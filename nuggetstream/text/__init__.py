"""Texts: terms, readability, length and similarity, in any language."""
