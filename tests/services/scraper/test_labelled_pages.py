"""Quality classes on labelled pages in eight languages, of which a third is kept apart from tuning."""

from pathlib import Path

import pytest

from benchmarks.labelled_pages import LANGUAGES, labelled_pages
from benchmarks.page_quality import confusion, given_class, read, table, text_f1

DOCS = Path(__file__).parents[3] / "benchmarks" / "README.md"
PAGES = labelled_pages()


def test_there_are_many_pages_of_every_class_in_every_language() -> None:
    assert len(PAGES) >= 120
    assert len({page.name for page in PAGES}) == len(PAGES)
    kinds = {page.kind for page in PAGES}
    assert {(page.name.split()[0], page.kind) for page in PAGES} == {
        (language, kind) for language in LANGUAGES for kind in kinds
    }
    assert sum(page.held_out for page in PAGES) >= len(PAGES) / 3


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [False, True])
def test_nearly_all_pages_get_the_right_class_and_text(held_out: bool) -> None:
    pages = [page for page in PAGES if page.held_out is held_out]
    given = [given_class(page, result) for page, result in zip(pages, read(pages), strict=True)]
    wrong = [(page.name, name) for page, name in zip(pages, given, strict=True) if name != page.label]
    assert len(wrong) <= 0.05 * len(pages), wrong


@pytest.mark.slow
def test_the_documentation_has_the_table_of_this_version() -> None:
    lines = table(confusion(PAGES, read(PAGES)))
    assert "\n".join(lines) in DOCS.read_text(encoding="utf-8")


def test_the_measure_sees_garbled_text() -> None:
    assert text_f1("Möwen über Århus", "Möwen über Århus") == 1.0
    assert text_f1("MÃ¶wen Ã¼ber Ã…rhus", "Möwen über Århus") == 0.0
    assert text_f1("梟は夜", "梟は夜に狩る") == pytest.approx(2 * 3 / 9)
