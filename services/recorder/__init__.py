"""Recorder: stores all events in the database.

    every battle event  ->  [recorder]  ->  database, and a notification for watchers of the battle

It owns the tables `events` and `failures` and the states in `battles`. Events are stored under their message
id, so recording one twice changes nothing. Its reconciler sends battles that no stage works on to the stages
again, or ends them with a reason.
"""
