"""The extraction process: reads jobs from standard input and writes results to standard output.

    python -m services.scraper.extractor --memory BYTES --seconds SECONDS

It sends an empty frame once its parsers are loaded, then one frame per job: an `Extraction`, or
{"error": why}. It limits its own memory and its time per job. It ends when its input ends, so it never
outlives its parent, not even a killed one.
"""

import argparse
import json
import logging
import os
import resource
import signal
import sys
from typing import BinaryIO

from services.scraper.documents import read_document
from services.scraper.extraction import PREFIX, ExtractionFailed, ExtractionJob, frame

OUT_OF_MEMORY = 3
"""Exit status when the memory limit is hit; the heap cannot be trusted afterwards."""


def main() -> None:
    """Process jobs until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memory", type=int, required=True, help="limit of the address space in bytes")
    parser.add_argument("--seconds", type=float, required=True, help="time limit of one job")
    options = parser.parse_args()
    jobs, results = _private_pipes()
    _restrict(options.memory)
    logging.disable(logging.CRITICAL)  # parsers log about every page; the outcome has what matters
    _send(results, frame({}))
    try:
        serve(jobs, results, options.seconds)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        os._exit(0)  # the parent is gone


def serve(jobs: BinaryIO, results: BinaryIO, seconds: float) -> None:
    """Process jobs one by one until the input ends."""
    while (prefix := jobs.read(PREFIX.size)) and len(prefix) == PREFIX.size:
        header_length, body_length = PREFIX.unpack(prefix)
        header = json.loads(jobs.read(header_length))
        body = jobs.read(body_length)
        # The unhandled alarm kills the process even inside a C parser. Normally the parent's limit, which is
        # shorter, comes first; this one matters when the parent is gone.
        signal.setitimer(signal.ITIMER_REAL, seconds)
        answer = _answer(ExtractionJob.parse(header, body))
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(results, answer)


def _answer(job: ExtractionJob) -> bytes:
    try:
        return read_document(job).frame()
    except MemoryError:
        raise
    except ExtractionFailed as failure:
        return frame({"error": str(failure)})
    except Exception as error:  # a bug in a parser must cost only this page
        return frame({"error": f"{type(error).__name__}: {error}"[:500]})


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes under new descriptors, so that a library that prints cannot corrupt a frame."""
    results = os.fdopen(os.dup(1), "wb", buffering=0)
    jobs = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return jobs, results


def _restrict(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(limit, (0, 0))  # a parser that is taken over writes no file and starts no process
    if sys.platform != "darwin":  # macOS has no address space limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _send(results: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[results.write(view) :]


if __name__ == "__main__":
    main()
