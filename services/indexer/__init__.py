"""Indexer: cuts pages into chunks and computes their vectors.

    BattleScraped  ->  [indexer]  ->  BattleIndexed

It owns the tables `chunks`, `vectors` and `sources`. Ids are derived from content, so each page is cut and
embedded only once, however many battles cite it. It serves `Embedding.Embed`.
"""
