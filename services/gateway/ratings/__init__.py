"""Ratings over HTTP: query parameters become calls to the rater, and its replies become JSON."""
