"""Every page of the site is among those that the checks of accessibility open."""

import re

from services.gateway.access.rules import RULES
from tests.browser.test_accessible_pages import PAGES

NO_PAGES = {
    "/embed/battles/{battle_id:path}/events",
    "/embed/widget.js",
    "/leaderboard/files/{kind}",
    "/healthz",
    "/readyz",
}


def pattern_of(route: str) -> str:
    parts = re.split(r"(\{[^}]*\})", route)
    return "".join("[^?]+" if part.startswith("{") else re.escape(part) for part in parts) + r"(\?.*)?"


def test_every_page_is_checked_for_accessibility() -> None:
    routes = {path for method, path in RULES if method == "GET" and not path.startswith("/v1/")} - NO_PAGES
    assert [
        route for route in sorted(routes) if not any(re.fullmatch(pattern_of(route), p) for p in PAGES)
    ] == []
