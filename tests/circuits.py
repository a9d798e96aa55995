"""The metric of open circuits, over all endpoints of a model."""

from prometheus_client import REGISTRY


def open_circuits(model: str, cause: str, role: str | None = None) -> float:
    wanted = {"model": model, "cause": cause} | ({} if role is None else {"role": role})
    return sum(
        sample.value
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "nuggetstream_llm_circuit_open" and wanted.items() <= sample.labels.items()
    )
