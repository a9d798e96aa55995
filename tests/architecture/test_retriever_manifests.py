"""What an operator adds to the retriever: a model that it asks."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest

from k8s.checks import rules
from k8s.checks.render import K8S, Manifest, name_of, pod_template, render, render_with
from services.cli.wiring.retrieval import RetrievalSettings
from tests.architecture.operators import documented, on_top
from tests.tools import REQUIRED

COMPONENT = K8S / "components/retriever-model"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("kubectl") is None and not REQUIRED, reason="kubectl is not installed"),
]


def of(manifests: list[Manifest], name: str) -> Manifest:
    (manifest,) = [manifest for manifest in manifests if name_of(manifest) == name]
    return manifest


def container(manifest: Manifest) -> dict[str, Any]:
    template = pod_template(manifest)
    assert template is not None
    first: dict[str, Any] = template["spec"]["containers"][0]
    return first


def test_the_documented_retriever_reaches_a_model_with_its_settings_key_and_prices(tmp_path: Path) -> None:
    manifests = on_top(tmp_path, **documented("components/retriever-model"))
    assert rules.problems(manifests, policies=True) == []
    retriever, nuggetizer = of(manifests, "Deployment retriever"), of(manifests, "Deployment nuggetizer")
    told, as_others = container(retriever), container(nuggetizer)
    assert told["envFrom"] == as_others["envFrom"]  # shared settings, and those of the model with its budgets
    keys = {e["name"]: e["valueFrom"] for e in told["env"] if e["name"].endswith("_API_KEY")}
    assert keys.pop("NUGGETSTREAM_RERANK_API_KEY")["secretKeyRef"]["name"] == "nuggetstream-reranker"
    assert keys == {e["name"]: e["valueFrom"] for e in as_others["env"] if e["name"].endswith("_API_KEY")}
    labels = retriever["spec"]["template"]["metadata"]["labels"]
    assert rules.selects(of(manifests, "NetworkPolicy to-model")["spec"]["podSelector"], labels)
    assert rules.selects(retriever["spec"]["selector"], labels)


def test_the_documented_retriever_makes_variations_and_reranks(tmp_path: Path) -> None:
    manifests = on_top(tmp_path, **documented("components/retriever-model"))
    name = container(of(manifests, "Deployment retriever"))["envFrom"][0]["configMapRef"]["name"]
    told = of(manifests, f"ConfigMap {name}")["data"]
    names = {field: f"NUGGETSTREAM_{field.upper()}" for field in RetrievalSettings.model_fields}
    settings = RetrievalSettings.model_validate(
        {field: told[variable] for field, variable in names.items() if variable in told}
    )
    assert settings.retrieval_query_variations > 0
    assert settings.rerank_url
    assert settings.rerank_model


def test_without_the_component_the_retriever_holds_no_key_and_reaches_no_model() -> None:
    manifests = render(K8S / "overlays/prod")
    retriever = of(manifests, "Deployment retriever")
    assert "API_KEY" not in str(retriever)
    labels = retriever["spec"]["template"]["metadata"]["labels"]
    assert not rules.selects(of(manifests, "NetworkPolicy to-model")["spec"]["podSelector"], labels)


def test_a_service_that_is_told_of_prices_but_has_no_price_file_is_noticed() -> None:
    """Such as a retriever with the label, the settings and the key of a model, and nothing else."""
    manifests = copy.deepcopy(render_with((COMPONENT,)))
    assert rules.problems(manifests, policies=False) == []
    mounts = container(of(manifests, "Deployment retriever"))["volumeMounts"]
    mounts[:] = [mount for mount in mounts if mount["name"] != "prices"]
    assert rules.problems(manifests, policies=False) == [
        "Deployment retriever: the price file /etc/nuggetstream/prices.toml is not mounted"
    ]
