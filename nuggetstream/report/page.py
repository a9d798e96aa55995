"""The page: one HTML file that needs nothing else.

Everything in it that comes from battles is escaped. Its content security policy forbids every request, and
every script but its own two.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment
from plotly.offline import get_plotlyjs

from nuggetstream.files.templates import html_environment
from nuggetstream.report import blocks
from nuggetstream.report.section import Content, Section
from nuggetstream.statistics.share import FEW

_TEMPLATES = Path(__file__).parent / "templates"


def render(
    sections: Sequence[tuple[Section[Any], Content]], title: str, subtitle: str, notice: str | None = None
) -> str:
    """The whole page as HTML.

    Args:
        sections: Each section with what it shows, in order.
        title: Title of the page.
        subtitle: One line about what the page rests on.
        notice: What a reader must know before anything else; None without it.
    """
    env = _environment()
    scripts = [get_plotlyjs(), (_TEMPLATES / "report.js").read_text(encoding="utf-8")]
    return env.get_template("report.html").render(
        sections=sections,
        title=title,
        subtitle=subtitle,
        notice=notice,
        few=FEW,
        style=(_TEMPLATES / "report.css").read_text(encoding="utf-8"),
        scripts=scripts,
        hashes=[_hash(script) for script in scripts],
    )


def _environment() -> Environment:
    env = html_environment(_TEMPLATES)
    for kind in (blocks.Facts, blocks.Figures, blocks.Table, blocks.Notice):
        env.tests[kind.__name__.lower()] = lambda value, kind=kind: isinstance(value, kind)
    return env


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
