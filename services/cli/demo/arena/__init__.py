"""A demo arena: people choose a question, vote, and see why one answer is better.

`site` and its templates use the public API alone, so they are an example for the site of an arena;
`running` starts the platform beside it.
"""
