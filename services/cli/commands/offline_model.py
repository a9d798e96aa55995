"""`nuggetstream offline-model`: serve the offline model over HTTP, with simulated faults."""

import click


@click.command("offline-model")
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
@click.option("--refusal", default=0.0, show_default=True, help="Share of calls it declines.")
def command(host: str, port: int, **faults: float) -> None:
    """Serve the offline model as an OpenAI-compatible API, to simulate load and faults.

    To use it, set NUGGETSTREAM_LLM_BASE_URL=http://HOST:PORT/v1 and
    NUGGETSTREAM_LLM_MODEL=offline-heuristic.
    """
    from services.judge.graders import heuristics
    from services.offline.faults import Faults
    from services.offline.serve import run

    chosen = Faults(
        seed=int(faults["seed"]),
        latency_s=faults["latency"],
        latency_per_token_s=faults["latency_per_token"],
        rate_limited=faults["rate_limited"],
        server_error=faults["server_error"],
        invalid_json=faults["invalid_json"],
        refusal=faults["refusal"],
    )
    click.echo(f"offline-heuristic at http://{host}:{port}/v1")
    run(host, port, chosen, heuristics())
