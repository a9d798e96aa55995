"""The page docs/python.md has every public function; tests/docs runs its examples."""

from pathlib import Path

import nuggetstream as ns


def test_every_public_function_is_on_the_python_page() -> None:
    page = (Path(__file__).parents[3] / "docs/python.md").read_text(encoding="utf-8")
    assert [name for name in ns.__all__ if f"ns.{name}" not in page] == []
