"""Carry out hand-made faults on a copy of the tree, and name the test that notices each.

    python -m tests.mutations [WORD ...]      by default all; with words, those whose names contain one

Ends with 1 where a fault is not noticed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutations.faults import Fault, faults
from tests.tree import copy_tree

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_TIME_S = 600  # for the tests of one fault; one that makes a test hang is noticed, too


def noticed_by(fault: Fault, tree: Path) -> str | None:
    """The test that fails with a fault; None where none does.

    Raises:
        RuntimeError: The tests could not run.
    """
    before = fault.apply(tree)
    path = os.pathsep.join([str(tree), str(tree / "proto/gen/python")])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *fault.tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
            check=False, timeout=_TIME_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the tests hang for {_TIME_S} s"
    finally:
        (tree / fault.file).write_text(before, encoding="utf-8")
    if done.returncode == 0:
        return None
    if done.returncode != 1 or (failed := _FAILED.search(done.stdout)) is None:
        raise RuntimeError(f"the tests of {fault.name!r} did not run:\n{done.stdout[-2000:]}{done.stderr}")
    return failed[1]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("words", nargs="*", metavar="WORD")
    words = options.parse_args().words
    chosen = [fault for fault in faults() if not words or any(word in fault.name for word in words)]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copy_tree(Path(folder))
        for fault in chosen:
            test = noticed_by(fault, Path(folder))
            missed += test is None
            print(f"{'noticed' if test else 'NOT NOTICED'}: {fault.name}: {test or fault.file}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are noticed")
    raise SystemExit(min(missed, 1))


if __name__ == "__main__":
    main()
