"""Where the names in docstrings and signatures lead.

A name that the site describes becomes a link, also where it is written without its module. Any other name in
a docstring or signature stays text: it is a value, or a type of another library. A name that a page refers
to by itself must be described, or the build fails.
"""

from typing import Any


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    if node.get("refdomain") != "py":
        return None
    from sphinx.util.nodes import make_refnode

    domain = env.domains.python_domain
    target = node["reftarget"]
    ending = f".{target.rpartition('.')[2] if target.startswith('nuggetstream.') else target}"
    matches = [
        (name, entry)
        for name, entry in domain.objects.items()
        if name.endswith(ending) and entry.objtype not in ("module", "attribute") and not entry.aliased
    ]
    if len(matches) == 1:
        name, entry = matches[0]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)
    return content if _is_in_a_description(node) or node["reftype"] == "obj" else None


def _is_in_a_description(node: Any) -> bool:
    from sphinx.addnodes import desc

    parent = node.parent
    while parent is not None:
        if isinstance(parent, desc):
            return True
        parent = parent.parent
    return False


def setup(app: Any) -> dict[str, bool]:
    """Look names up that Sphinx does not find."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
