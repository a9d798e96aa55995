"""Settings of the documentation site, which `make docs` builds with Sphinx. Every warning is an error there.

Sphinx because it is maintained, reads docstrings, Markdown and notebooks by kept extensions, and searches in
the reader's browser without a server.
"""

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT / "docs" / "kernel")  # of the notebooks that run

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Nuggetstream"
author = _PROJECT["authors"][0]["name"]
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = _PROJECT["version"]
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",
    "docs.extensions.accessible",
    "docs.extensions.docstrings",
    "docs.extensions.languages",
    "docs.extensions.references",
    "docs.extensions.repository",
    "docs.extensions.search",
    "docs.extensions.offline",
]
exclude_patterns = ["extensions", "kernel", "static"]
nitpicky = True
highlight_language = "none"
default_role = "py:obj"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

html_theme = "furo"
html_title = "Nuggetstream"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
