"""Small pure statistics, one question per module."""
