"""The Jinja environment that the report and the web pages share."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from nuggetstream.files.templates import html_environment


def rendered(folder: Path, template: str, **values: object) -> str:
    (folder / "page.html").write_text(template, encoding="utf-8")
    return html_environment(folder).get_template("page.html").render(**values)


def test_every_value_is_escaped(tmp_path: Path) -> None:
    text = rendered(tmp_path, '<p title="{{ x }}">{{ x }}</p>', x='<b> & "it"')
    assert text == '<p title="&lt;b&gt; &amp; &#34;it&#34;">&lt;b&gt; &amp; &#34;it&#34;</p>'


def test_a_variable_that_is_not_defined_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError, match="'misspelt' is undefined"):
        rendered(tmp_path, "{{ misspelt }}")


def test_block_tags_leave_no_blank_lines(tmp_path: Path) -> None:
    assert rendered(tmp_path, "<ul>\n  {% for x in (1, 2) %}\n  <li>{{ x }}\n  {% endfor %}\n</ul>") == (
        "<ul>\n  <li>1\n  <li>2\n</ul>"
    )


def test_a_filter_added_by_one_caller_is_not_seen_by_another(tmp_path: Path) -> None:
    html_environment(tmp_path).filters["shout"] = str.upper
    assert "shout" not in html_environment(tmp_path).filters
