"""The list of hand-made faults fits the tree; `python -m tests.mutations` shows that tests notice them."""

import ast
from pathlib import Path

import pytest

from tests.mutations.faults import Fault, faults

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_a_fault_has_its_place_and_its_tests(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.find) == 1
    assert ast.dump(ast.parse(text.replace(fault.find, fault.replace))) != ast.dump(ast.parse(text))
    assert [path for path in fault.tests if not (ROOT / path).exists()] == []


def test_there_are_at_least_sixty_faults_and_none_is_there_twice() -> None:
    listed = faults()
    assert len({(fault.file, fault.find, fault.replace) for fault in listed}) == len(listed) >= 60
    assert len({fault.name for fault in listed}) == len(listed)
