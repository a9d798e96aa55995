"""Families of models by the beginning of their names, so that a judge can be compared with its relatives.

"openai/gpt-5-mini"  ->  last part "gpt-5-mini"  ->  begins with "gpt"  ->  openai
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

# Beginnings of public model names, and who publishes the models. Written down in 2026; incomplete by nature.
PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "c4ai": "cohere",
        "chatgpt": "openai",
        "claude": "anthropic",
        "codestral": "mistral",
        "command": "cohere",
        "deepseek": "deepseek",
        "ernie": "baidu",
        "gemini": "google",
        "gemma": "google",
        "glm": "zhipu",
        "gpt": "openai",
        "granite": "ibm",
        "grok": "xai",
        "jamba": "ai21",
        "kimi": "moonshot",
        "llama": "meta",
        "magistral": "mistral",
        "ministral": "mistral",
        "mistral": "mistral",
        "mixtral": "mistral",
        "nemotron": "nvidia",
        "nova": "amazon",
        "o1": "openai",
        "o3": "openai",
        "o4": "openai",
        "phi": "microsoft",
        "ppl": "perplexity",
        "pplx": "perplexity",
        "qwen": "alibaba",
        "qwq": "alibaba",
        "sonar": "perplexity",
    }
)


def family_of(name: str) -> str | None:
    """The family of a model or system; None where no prefix fits.

    A prefix fits where the name, or its part after the last slash, begins with it and no letter follows. The
    longest prefix counts.

    Args:
        name: Name of a model or of a system that is named after its model.

    >>> family_of("gpt-5-mini"), family_of("meta-llama/Llama-3.3-70B"), family_of("philosopher")
    ('openai', 'meta', None)
    """
    whole = name.strip().lower()
    starts = (whole, whole.rpartition("/")[2])
    fitting = [prefix for prefix in PREFIXES if any(_begins(start, prefix) for start in starts)]
    return PREFIXES[max(fitting, key=len)] if fitting else None


def common_family(models: str) -> str | None:
    """The family of all of several models; None where one has another family, or none that is known.

    Args:
        models: Name of a model, or of several separated by commas.

    >>> common_family("gpt-5, o3"), common_family("gpt-5, claude-5"), common_family("atlas, gpt-5")
    ('openai', None, None)
    """
    families = {family_of(name) for name in models.split(",")}
    return families.pop() if len(families) == 1 else None


def _begins(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and not re.match(r"[^\W\d_]", name[len(prefix) :])
