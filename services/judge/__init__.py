"""Judge: which answer is better?

    BattleRetrieved  ->  [judge]  ->  BattleJudged

Keeps no state. Asked in both orders (live) or one seeded random order (paper); a verdict that
changes with the order is a tie, and the flip is recorded. A judge that could not be read is a
failure, never a tie.
"""
