"""The scraper: fetches the URLs that answers cite and extracts their text, or says why there is none."""
