"""The index in memory: BM25 over terms, and exact or approximate nearest neighbours over vectors.

Chunks have rows, numbered in the order in which they came. Everything that a search reads is replaced and
never changed in place, so searches need no lock. Only the numbers of removed vectors are overwritten, which
no search returns any more.
"""
