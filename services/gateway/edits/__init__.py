"""Edits of nugget lists by people: over the API, and by the form on the page of a battle."""
