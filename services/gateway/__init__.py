"""Gateway: the front door. Battles and votes come in; the record, the reasons and the boards go out.

    HTTP, gRPC, NATS ingest  ->  [gateway]  ->  BattleSubmitted, BattleVoted
    the record, Ratings      ->  [gateway]  ->  REST, SSE, gRPC stream, web pages

Owns the first sight of a battle (`battles` rows) and nothing else. Accepting a battle twice is
harmless: its row stays as it is, and its event is published again under the same message id.
"""
