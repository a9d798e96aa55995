"""Recorder: everything that happens, into the database.

    every battle event  ->  [recorder]  ->  the record, and a nudge for whoever watches that battle

Owns the tables `events` and `failures` and the state of `battles`. An event's message id is its key,
so recording it twice changes nothing.
"""
