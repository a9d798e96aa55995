"""Nuggetizer: the atomic facts a good answer needs.

    BattleRetrieved  ->  [nuggetizer]  ->  BattleNuggetized

Keeps no state. Two profiles: `live` asks once over all documents, `paper` rewrites the list window
by window as in Search Arena Meets Nuggets. Ids derive from the input, the model and the prompt, so
a message delivered twice does no harm.
"""
