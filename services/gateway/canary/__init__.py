"""The results of canary battles, as JSON and as a page."""
