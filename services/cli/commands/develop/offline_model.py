"""`nuggetstream offline-model`: serve the offline model over HTTP, with simulated faults."""

from typing import Any

import click

from services.cli.commands.sections import Sectioned

_SECTIONS = {
    "latency": "Latency",
    "rate_limited": "Faults",
    "confidence": "Probabilities and reasoning",
    "batch_seconds": "Batches",
}


@click.command("offline-model", cls=Sectioned, sections=_SECTIONS)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option("--port", default=8090, show_default=True, help="Port to listen on.")
@click.option("--seed", default=0, show_default=True, help="Seed of the simulated faults.")
@click.option("--latency", default=0.0, show_default=True, help="Seconds before each reply.")
@click.option("--latency-per-token", default=0.0, show_default=True, help="Seconds per token of a reply.")
@click.option("--rate-limited", default=0.0, show_default=True, help="Share of calls answered with 429.")
@click.option("--server-error", default=0.0, show_default=True, help="Share of calls answered with 500.")
@click.option(
    "--invalid-json", default=0.0, show_default=True, help="Share of replies that are invalid JSON."
)
@click.option("--wrong-count", default=0.0, show_default=True, help="Share of replies that lack a label.")
@click.option("--unknown-label", default=0.0, show_default=True, help="Share of replies with a wrong label.")
@click.option("--empty", default=0.0, show_default=True, help="Share of replies without text.")
@click.option("--cut", default=0.0, show_default=True, help="Share of replies that stop half way.")
@click.option("--dropped", default=0.0, show_default=True, help="Share of connections that break.")
@click.option("--timeout", default=0.0, show_default=True, help="Share of calls that are not answered.")
@click.option("--refusal", default=0.0, show_default=True, help="Share of calls it declines.")
@click.option("--content-filter", default=0.0, show_default=True, help="Share of replies that are filtered.")
@click.option("--declined", default=0.0, show_default=True, help="Share of decisions that it declines.")
@click.option(
    "--confidence",
    default=1.0,
    show_default=True,
    help="Exponent applied to probabilities; above 1 the model is overconfident.",
)
@click.option(
    "--reasoning-tokens", type=int, help="Tokens it thinks for before a reply; by default it does not reason."
)
@click.option("--batch-seconds", default=0.0, show_default=True, help="Seconds that a batch takes.")
@click.option("--batch-failed", default=0.0, show_default=True, help="Share of batches that fail.")
@click.option("--batch-expired", default=0.0, show_default=True, help="Share of batches that expire.")
def command(host: str, port: int, **faults: Any) -> None:
    """Serve the offline model as an OpenAI-compatible API, to simulate load and faults.

    To use it, set NUGGETSTREAM_LLM_BASE_URL=http://HOST:PORT/v1 and
    NUGGETSTREAM_LLM_MODEL=offline-heuristic.
    """
    from services.judge.registry import heuristics
    from services.offline.faults import Faults
    from services.offline.serve import run

    latency = {"latency_s": faults.pop("latency"), "latency_per_token_s": faults.pop("latency_per_token")}
    latency["batch_s"] = faults.pop("batch_seconds")
    shares: dict[str, Any] = {**faults, **latency, "seed": int(faults["seed"])}
    try:
        chosen = Faults(**shares)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(f"offline-heuristic at http://{host}:{port}/v1")
    run(host, port, chosen, heuristics)
