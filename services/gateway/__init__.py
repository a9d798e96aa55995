"""Gateway: the public interface. It accepts battles and votes, and serves battles, explanations and ratings.

    HTTP, gRPC, NATS ingest  ->  [gateway]  ->  BattleSubmitted, BattleVoted
    the database, Ratings    ->  [gateway]  ->  REST, server-sent events, gRPC stream, web pages

    battles/   battles and votes: accept them, show them, follow their events
    ratings/   leaderboards, pairs, advice and agreement, as the rater computes them
    pages/     web pages, rendered from the same views as the JSON (nuggetstream.views)
    app.py     the HTTP application of all three; server.py runs it

It owns the first record of a battle (rows of the table `battles`) and nothing else. Accepting a battle twice
does no harm: its row stays as it is, and its event is published again under the same message id.
"""
