"""Rater: who is better, by three lenses.

    BattleAssigned, BattleJudged, BattleVoted  ->  [rater]  ->  outcomes, RatingsUpdated

Owns the table `outcomes`, keyed by (battle, source): a message handled twice changes nothing. Boards
are computed from its counts when asked for, so any number of raters agree. Serves `Ratings`: boards,
combined ratings, pairs, advice and agreement, on any slice.
"""
