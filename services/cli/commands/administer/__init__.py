"""Commands that run and maintain services."""
