"""Ratings over HTTP: the query parameters, the calls to the rater, and the JSON shapes of the replies."""
