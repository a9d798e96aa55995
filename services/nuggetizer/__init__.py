"""Nuggetizer: lists the atomic facts a good answer needs.

    BattleRetrieved  ->  [nuggetizer]  ->  BattleNuggetized

In the `live` profile one call covers all documents; in the `paper` profile the list is rewritten window by
window, as in Search Arena Meets Nuggets. It keeps no state, except for the lists that battles share where
that is switched on (`bank`). Ids are derived from the input, the model and the prompt, and a battle keeps the
shared list that it got first, so a redelivery changes nothing.
"""
