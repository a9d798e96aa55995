"""Retriever: the evidence for a battle.

    BattleIndexed  ->  [retriever]  ->  BattleRetrieved

Keeps a cache of the chunk table in memory: faiss for meaning, BM25 for words, fused by reciprocal
rank. The table is the record; for searches of the whole corpus the cache catches up with it before
every answer, and one battle's pages are read from it, so a battle always sees the chunks it brought.
Serves `Retrieval.Search`.
"""
