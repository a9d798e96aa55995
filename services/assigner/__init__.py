"""Assigner: which nuggets does each answer state?

    BattleNuggetized  ->  [assigner]  ->  BattleAssigned

It keeps no state. Every nugget gets exactly one label per answer, or the battle fails: a missing label never
counts as "not supported". Ids are derived from the input, so a redelivery changes nothing.
"""
