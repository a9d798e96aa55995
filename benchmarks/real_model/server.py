"""A llama.cpp server in a process of its own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers import cache_folder, environment

REQUIREMENT = "xllamacpp==2026.10.11549"  # a build of llama.cpp with its own server
CACHE = cache_folder("real-model")
_LISTENING = "listening on "


@contextmanager
def llama_cpp(weights: Path, context: int, threads: int) -> Iterator[str]:
    """Serve a model for the duration of the block.

    Args:
        weights: The GGUF file.
        context: Tokens of a prompt and its reply together, at most.
        threads: Threads that compute.

    Yields:
        The base URL for OpenAI's client.

    Raises:
        RuntimeError: The server does not start.
    """
    python = environment("llama.cpp", [REQUIREMENT], CACHE)
    command = [python, str(Path(__file__).with_name("serve.py")), str(weights), str(context), str(threads)]
    with (CACHE / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            lines = (line for line in server.stdout if line.startswith(_LISTENING))
            line = next(lines, None)
            if line is None:
                raise RuntimeError(f"llama.cpp does not start; {CACHE / 'server.log'} says why")
            yield f"{line.removeprefix(_LISTENING).strip()}/v1"
        finally:
            server.stdin.close()
            server.kill()
            server.wait()
