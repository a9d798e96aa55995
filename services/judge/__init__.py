"""Judge: which answer is better?

    BattleRetrieved  ->  [judge]  ->  BattleJudged

It keeps no state. The model is asked in both orders (live profile) or in one seeded random order (paper
profile). A verdict that changes with the order counts as a tie, and the flip is recorded. A reply that cannot
be used is a failure, never a tie.
"""
