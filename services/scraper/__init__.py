"""Scraper: from cited URLs to readable pages, or to the reason why there is none."""
