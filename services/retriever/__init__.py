"""Retriever: finds the evidence for a battle.

    BattleIndexed  ->  [retriever]  ->  BattleRetrieved

It searches the chunk table by dense vectors and by words (BM25), fused by reciprocal rank, with an index in
memory or in PostgreSQL. Before each search of the whole corpus the index is updated from the table, and the
pages of one battle are read from the table, so a battle always sees its own chunks. It serves
`Retrieval.Search`.
"""
