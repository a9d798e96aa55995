"""Generate the Python stubs from the contracts: `python proto/generate.py [--check]`.

With --check nothing is written; the exit status says whether the committed stubs are up to date.
"""

import filecmp
import importlib.resources
import os
import shutil
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).parent
STUBS = HERE / "gen" / "python"


def generate(target: Path) -> None:
    """Write stubs, type stubs and package markers for every contract below this folder."""
    contracts = sorted(HERE.glob("arena/**/*.proto"))
    with_services = [path for path in contracts if "\nservice " in path.read_text()]
    well_known = importlib.resources.files("grpc_tools") / "_proto"
    common = ["protoc", f"-I{HERE}", f"-I{well_known}"]
    runs = (
        [f"--python_out={target}", f"--mypy_out=quiet:{target}", *map(str, contracts)],
        [f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet:{target}", *map(str, with_services)],
    )
    for run in runs:
        if protoc.main([*common, *run]) != 0:
            raise SystemExit("the contracts do not compile; see above")
    for package in (target / "arena", target / "arena" / "v1"):
        (package / "__init__.py").touch()


def differences(left: Path, right: Path) -> list[str]:
    """Names of generated files that differ between two stub trees."""
    names = {str(p.relative_to(root)) for root in (left, right) for p in root.rglob("*.py*") if p.is_file()}
    names = {name for name in names if "__pycache__" not in name}
    _, mismatched, missing = filecmp.cmpfiles(left, right, sorted(names), shallow=False)
    return sorted(mismatched + missing)


def main() -> None:
    """Regenerate the stubs, or with --check compare them."""
    # The type-stub plugin sits beside this interpreter, whether or not the environment is activated.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        if "--check" in sys.argv[1:]:
            if stale := differences(STUBS, fresh):
                raise SystemExit("stale stubs, run `make proto`: " + ", ".join(stale))
            return
        shutil.rmtree(STUBS, ignore_errors=True)
        shutil.copytree(fresh, STUBS)


if __name__ == "__main__":
    main()
