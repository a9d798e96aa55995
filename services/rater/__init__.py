"""Rater: who is better, by three lenses.

    EventRecorded  ->  [rater]  ->  RatingsUpdated

It writes nothing: the recorder counts outcomes. Boards are computed from the counts when asked for, so any
number of raters agree, and a notification that is lost or comes twice makes no board wrong. Serves `Ratings`:
boards, combined ratings, pairs, advice and agreement, on any slice.
"""
