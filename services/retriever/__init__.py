"""Retriever: finds the evidence for a battle.

    BattleIndexed  ->  [retriever]  ->  BattleRetrieved

It keeps an index of the chunk table in memory: faiss for dense vectors and BM25 for terms, fused by
reciprocal rank. Before each search of the whole corpus the index is updated from the table, and the pages of
one battle are read from the table, so a battle always sees its own chunks. It serves `Retrieval.Search`.
"""
