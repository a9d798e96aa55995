"""Web pages, rendered from the same views as the JSON; templates and static files are in here."""
