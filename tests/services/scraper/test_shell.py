"""The shell of an application, whose scripts make the page, is told from a page with nothing to read."""

import pytest

from services.scraper.documents import read_document
from services.scraper.extraction import ExtractionJob
from services.scraper.media_type import MediaKind

MAIN = "<script src='/main.js'></script>"


def is_shell(body: str) -> bool:
    document = f"<!doctype html><html><head><title>Owls</title></head><body>{body}</body></html>"
    return read_document(
        ExtractionJob(MediaKind.HTML, "https://app.example/", "text/html", None, document.encode())
    ).is_shell


@pytest.mark.parametrize(
    "body",
    [
        f"<div id='root'></div>{MAIN}",
        f"<app-root></app-root>{MAIN}",
        "<div id='app'><p>Loading…</p></div><script type='module'>boot()</script>",
        f"<div id='app'><a href='#main'>Skip</a><svg><circle/></svg></div>{MAIN}",
        f"<noscript>Switch on scripts in the browser to see this site.</noscript><div id='root'></div>{MAIN}",
        f"<noscript><img src='/count.gif'></noscript><main id='root'></main>{MAIN}",
    ],
)
def test_scripts_with_an_element_to_fill_and_no_text_are_a_shell(body: str) -> None:
    assert is_shell(body)


@pytest.mark.parametrize(
    "body",
    [
        "<div id='root'></div>",
        "<div id='root'></div><script type='application/ld+json'>{}</script>",
        "<div id='root'></div><script></script>",
        f"<div></div>{MAIN}",
        f"<div id='root'><img src='/owl.jpg'></div>{MAIN}",
        f"<div id='root'><form><input name='q'></form></div>{MAIN}",
        f"<div id='root'>{'Owls hunt at night. ' * 3}</div>{MAIN}",
        f"<div id='root'>{'<b></b>' * 3000}</div>{MAIN}",
    ],
)
def test_everything_else_is_none(body: str) -> None:
    assert not is_shell(body)
