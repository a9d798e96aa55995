"""Results read back from a file, as every section takes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.files.results import Results, read_results
from tests.evaluated import file_of


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Results]:
    """Write battles to a results.jsonl and read it."""

    def read(*battles: dict[str, Any]) -> Results:
        return read_results(file_of(tmp_path, battles))

    return read
