"""Deletion of battles by administrators: one by its id, or a batch of old ones."""
