"""The offline model with a memory, for `llm_at_once.py`: an equal prompt costs no processor time again.

python -m benchmarks.llm_endpoint --port 8090 --latency 0.5 --latency-per-token 0.005
"""

import argparse

import uvicorn
from pydantic import BaseModel

from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.requests import ChatRequest


class Remembered:
    """Answers prompts of ours, equal ones from memory."""

    def __init__(self) -> None:
        self._replies: dict[str, BaseModel] = {}

    def __call__(self, chat: ChatRequest) -> BaseModel:
        """The reply to a prompt.

        Raises:
            Unanswerable: The prompt is not one of ours.
        """
        key = f"{chat.task}\n{chat.text}"
        if key not in self._replies:
            prompt = ParsedPrompt.read(chat.first_message("user"), None)
            self._replies[key] = answer(chat.task, prompt)
        return self._replies[key]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--latency", type=float, default=0.0)
    options.add_argument("--latency-per-token", type=float, default=0.0)
    chosen = options.parse_args()
    faults = Faults(latency_s=chosen.latency, latency_per_token_s=chosen.latency_per_token)
    app = create_app(None, faults, reply_to=Remembered())
    uvicorn.run(app, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
