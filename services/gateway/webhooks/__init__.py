"""Webhooks: events of battles, sent to the addresses that administrators of arenas have added."""
