"""The notebooks run with the library as it is, and their final tables have the expected shape."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
SHAPES = {"from-nuggets-to-preferences.ipynb": 2, "rate-a-file-of-votes.ipynb": 4}
FIGURES = {"from-nuggets-to-preferences.ipynb": 4, "rate-a-file-of-votes.ipynb": 4}


def notebook(name: str) -> Any:
    return nbformat.read(FOLDER / name, as_version=4)


def test_every_notebook_is_tested() -> None:
    assert {path.name for path in FOLDER.glob("*.ipynb")} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    cells = [cell for cell in notebook(name).cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows"), SHAPES.items())
def test_a_notebook_runs_and_ends_with_a_row_per_system(name: str, rows: int) -> None:
    ran = notebook(name)
    ran.cells.append(nbformat.v4.new_code_cell("table.height, len(table.columns) > 3"))
    NotebookClient(ran, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    cells = [cell for cell in ran.cells if cell.cell_type == "code"]
    assert [output for cell in cells for output in cell.outputs if output.output_type == "error"] == []
    assert all(cell.outputs for cell in cells)
    shown = [output.get("data", {}).get("text/html", "") for cell in cells for output in cell.outputs]
    assert sum("<table>" in html and "Plotly.newPlot" in html for html in shown) == FIGURES[name]
    assert cells[-1].outputs[0].data["text/plain"] == f"({rows}, True)"
