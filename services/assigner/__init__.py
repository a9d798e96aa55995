"""Assigner: which nuggets does each answer state?

    BattleNuggetized  ->  [assigner]  ->  BattleAssigned

Keeps no state. Every nugget gets exactly one label per answer, or the battle fails: a missing label
is never a "not supported". Ids derive from the input, so a message delivered twice does no harm.
"""
