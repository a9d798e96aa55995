"""Assigner: which nuggets does each answer state?

    BattleNuggetized  ->  [assigner]  ->  BattleAssigned

Every nugget gets exactly one label per answer, or the battle fails: a missing label never counts as "not
supported". It keeps no state, except for the labels of shared nugget lists (`shared_labels`). Ids are derived
from the input, so a redelivery changes nothing.
"""
