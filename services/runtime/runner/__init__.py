"""The loop around every handler, and what happens to messages that are given up."""

from services.runtime.runner.dead_letter import BodyLeftOut, DeadLetter
from services.runtime.runner.mover import AdvisoryMover, advisory_consumer, advisory_stream
from services.runtime.runner.runner import Runner

__all__ = [
    "AdvisoryMover",
    "BodyLeftOut",
    "DeadLetter",
    "Runner",
    "advisory_consumer",
    "advisory_stream",
]
