"""Environment variables that begin with NUGGETSTREAM_ but are not settings, such as misspelt ones."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings, ServerSettings
from services.runtime.llm.settings import LLMSettings

PREFIX = "NUGGETSTREAM_"
_SETTINGS = (
    AccessSettings,
    EntrySettings,
    PlatformSettings,
    PipelineSettings,
    FetchSettings,
    RetrievalSettings,
    EmbeddingSettings,
    ServerSettings,
    LLMSettings,
)
# Read by an argument of `serve` and `health`, by clients, `fidelity` and the tests, and deploy/compose.yaml.
_OTHERS = ("NUGGETSTREAM_SERVICE", "NUGGETSTREAM_API_KEY", "NUGGETSTREAM_DATA", "NUGGETSTREAM_TAG")


def settings_variables(models: Iterable[type[BaseSettings]] = _SETTINGS) -> set[str]:
    """Names of the variables that the settings are read from."""
    names: set[str] = set()
    for model in models:
        prefix = str(model.model_config.get("env_prefix", ""))
        for name, field in model.model_fields.items():
            alias = field.validation_alias
            choices = alias.choices if isinstance(alias, AliasChoices) else ()
            names |= {f"{prefix}{name}".upper(), *(choice for choice in choices if isinstance(choice, str))}
    return names


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """The variables that look like settings but are none, each with the setting whose name is nearest.

    Empty variables are ignored, as they are by the settings.

    >>> unknown_variables({"NUGGETSTREAM_LLM_MODLE": "x", "NUGGETSTREAM_PROFILE": "live", "PATH": "/bin"})
    {'NUGGETSTREAM_LLM_MODLE': 'NUGGETSTREAM_LLM_MODEL'}
    """
    variables = sorted(settings_variables() | set(_OTHERS))
    unknown = (
        name
        for name, value in sorted(environment.items())
        if value and name.upper().startswith(PREFIX) and name.upper() not in variables
    )
    return {name: _nearest(name.upper(), variables) for name in unknown}


def warning(name: str, nearest: str | None) -> str:
    """The line that warns about one unknown variable."""
    hint = f"; did you mean {nearest}?" if nearest else ""
    return f"Warning: {name} is not a setting and is ignored{hint}"


def _nearest(name: str, variables: Iterable[str]) -> str | None:
    # Without the common prefix, which would make all names similar.
    suffixes = [other.removeprefix(PREFIX) for other in variables if other.startswith(PREFIX)]
    matches = get_close_matches(name.removeprefix(PREFIX), suffixes, n=1, cutoff=0.6)
    return PREFIX + matches[0] if matches else None
