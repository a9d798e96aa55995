"""No room has an import circle, also none of imports inside functions or for annotations only."""

import grimp


def circular(imports: dict[str, set[str]]) -> set[str]:
    """The modules that import themselves through others.

    Args:
        imports: What each module imports.
    """
    candidates = set(imports)  # without those that import nothing left, which are on no circle
    while ends := {module for module in candidates if not imports[module] & candidates}:
        candidates -= ends
    return {module for module in candidates if module in reached(module, imports, candidates)}


def reached(start: str, imports: dict[str, set[str]], candidates: set[str]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = (imports[waiting.pop()] & candidates) - seen
        seen |= new
        waiting += new
    return seen


def test_no_room_has_an_import_circle() -> None:
    graph = grimp.build_graph("nuggetstream", "services", exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert circular(imports) == set()


def test_a_circle_is_found_and_what_leads_to_one_is_none() -> None:
    assert circular({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b", "c"}
    assert circular({"a": {"b"}, "b": {"c"}, "c": set()}) == set()
