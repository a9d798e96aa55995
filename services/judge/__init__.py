"""Judge: which answer is better, and what else evaluators say about a battle.

    BattleRetrieved or BattleAssigned  ->  [evaluator]  ->  BattleJudged or BattleGraded

Battles wait for one judge; all other evaluators run beside it. A judge's model is asked in both orders (live
profile) or in one seeded random order (paper profile). A verdict that changes with the order counts as a tie,
and the flip is recorded. A reply that cannot be used is a failure, never a tie.
"""
