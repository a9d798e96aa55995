"""The prepared battles: `demo/battles.jsonl`, one JSON object per line."""

import json
from pathlib import Path
from typing import Any

SITE_PLACEHOLDER = "{site}"


def read_battles(root: Path, site: str) -> list[dict[str, Any]]:
    """All battles of the demo in file order, with sources on the running site.

    Args:
        root: The demo folder, see `services.cli.demo.site.demo_root`.
        site: Base URL of the site without a trailing slash, as `serve_site` yields it.

    Returns:
        Plain JSON objects; `demo/README.md` describes their fields.
    """
    text = (root / "battles.jsonl").read_text("utf-8").replace(SITE_PLACEHOLDER, site)
    return [json.loads(line) for line in text.splitlines() if line]
