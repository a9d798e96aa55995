"""Small pure statistics, one question per module. Data without an answer raise or say None."""
