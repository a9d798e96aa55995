"""Two processes, whose sets have different orders, compute the same numbers to the last bit."""

import os
import subprocess
import sys

PROGRAM = """
from services.offline.heuristics.vectors import bag_vectors, rarity
texts = [" ".join(f"word{i * j % 37} thing{i + j}" for j in range(1, 40)) for i in range(1, 30)]
weight = rarity(texts)
print(list(weight), bag_vectors(texts, weight).tobytes().hex())
"""


def printed(seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_weights_and_vectors_do_not_depend_on_the_order_of_sets() -> None:
    first = printed("1")
    assert first.startswith("[")
    assert printed("2") == first
