"""Nuggetizer: lists the atomic facts a good answer needs.

    BattleRetrieved  ->  [nuggetizer]  ->  BattleNuggetized

It keeps no state. In the `live` profile one call covers all documents; in the `paper` profile the list is
rewritten window by window, as in Search Arena Meets Nuggets. Ids are derived from the input, the model and
the prompt, so a redelivery changes nothing.
"""
