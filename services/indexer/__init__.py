"""Indexer: pages become chunks with vectors.

    BattleScraped  ->  [indexer]  ->  BattleIndexed

Owns the tables `chunks`, `vectors` and `sources`. Ids derive from content, so a page is cut and
embedded once ever, whichever battle brings it and however often. Serves `Embedding.Embed`.
"""
