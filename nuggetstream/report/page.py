"""The page: one HTML file that needs nothing else.

Everything in it that comes from battles is escaped. Its content security policy forbids every request, and
every script but its own two. The larger one, which draws the figures, is in the page in compressed form; the
other one unpacks it.
"""

import base64
import gzip
import hashlib
from pathlib import Path

from jinja2 import Environment

from nuggetstream.files.templates import html_environment
from nuggetstream.report import blocks
from nuggetstream.report.arrangement import Arranged
from nuggetstream.statistics.share import FEW

_TEMPLATES = Path(__file__).parent / "templates"
_PLOTLY = Path(__file__).parent / "vendor" / "plotly-cartesian.min.js.gz"


def render(
    report: Arranged,
    title: str,
    subtitle: str,
    notice: str | None = None,
    pages: str | None = None,
) -> str:
    """The whole page as HTML.

    Args:
        report: What the page shows.
        title: Title of the page.
        subtitle: One line about what the page rests on.
        notice: What a reader must know before anything else; None without it.
        pages: URL of the pages of a platform that has the battles; None without links to them.
    """
    env = _environment()
    packed = _PLOTLY.read_bytes()
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    return env.get_template("report.html").render(
        report=report,
        title=title,
        subtitle=subtitle,
        notice=notice,
        pages=pages,
        few=FEW,
        style=(_TEMPLATES / "report.css").read_text(encoding="utf-8"),
        packed=base64.b64encode(packed).decode(),
        script=script,
        hashes=[_hash(gzip.decompress(packed)), _hash(script.encode())],
    )


def _environment() -> Environment:
    env = html_environment(_TEMPLATES)
    for kind in (blocks.Facts, blocks.Figures, blocks.Table, blocks.Notice, blocks.BattleLink):
        env.tests[kind.__name__.lower()] = lambda value, kind=kind: isinstance(value, kind)
    return env


def _hash(script: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode()
