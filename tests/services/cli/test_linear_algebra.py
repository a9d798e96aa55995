"""Every command bounds the threads of linear algebra; an operator can choose another number."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
from services.cli.main import main
main.get_command(None, {command!r})
import numpy
from threadpoolctl import threadpool_info
print(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("2", "2")])
@pytest.mark.parametrize("command", ["rate", "serve"])
def test_linear_algebra_runs_in_one_thread_unless_another_number_is_chosen(
    command: str, chosen: str | None, threads: str
) -> None:
    pytest.importorskip("threadpoolctl")
    if (os.cpu_count() or 1) < 2:
        pytest.skip("with one core there is one thread in any case")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    if chosen is not None:
        environment["OPENBLAS_NUM_THREADS"] = chosen
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(command=command)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == threads
