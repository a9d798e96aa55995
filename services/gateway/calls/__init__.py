"""The model calls of a battle, for administrators: as JSON and as a page."""
