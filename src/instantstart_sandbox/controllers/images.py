"""Images: how long a pull takes, what goes wrong with it, and which node already has what."""

from __future__ import annotations

import hashlib
from typing import Any

from instantstart_sandbox.controllers.containers import full_image
from instantstart_sandbox.controllers.plane import Plane

Obj = dict[str, Any]
_HEAVY = ("pytorch", "vllm", "sglang", "cuda", "nemo", "huggingface", "djl-inference", "ray-ml", "training")


def pull_seconds(image: str) -> float:
    """World seconds of the first pull on a node: under two for small images, most of a minute for frameworks."""
    spread = int(hashlib.sha256(image.encode()).hexdigest()[:4], 16) / 65536
    if any(word in image.lower() for word in _HEAVY):
        return 35.0 + 20.0 * spread
    return 0.8 + 1.6 * spread


def size_bytes(image: str) -> int:
    """The size that the pull event tells."""
    draw = int(hashlib.sha256(image.encode()).hexdigest()[:8], 16)
    return 9_000_000_000 + draw if pull_seconds(image) > 10 else 2_000_000 + draw % 90_000_000


class Images:
    """Pulls for the kubelets. What a node has is remembered by this process only: a restart pulls anew."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self._have: dict[tuple[str, str], set[str]] = {}

    def has(self, cluster: str, node: str, container: Obj) -> bool:
        """Whether the node need not pull."""
        here = self._have.get((cluster, node), ())
        return container.get("imagePullPolicy") != "Always" and container["image"] in here

    def failure(self, container: Obj) -> str | None:
        """What a pull fails with, when a fault says so."""
        image = container["image"]
        if self.plane.world.faults.take("image_pull", "kubernetes", "", image) is None:
            return None
        whole = full_image(image)
        return (
            f'rpc error: code = NotFound desc = failed to pull and unpack image "{whole}": '
            f'failed to resolve reference "{whole}": {whole}: not found'
        )

    def pulled(self, cluster: str, node: str, pod: Obj, container: Obj, path: str) -> None:
        """Tell that the image is there, and remember it."""
        image, here = container["image"], self._have.setdefault((cluster, node), set())
        if self.has(cluster, node, container):
            text = f'Container image "{image}" already present on machine'
        else:
            took = 0.2 if image in here else pull_seconds(image)
            text = (
                f'Successfully pulled image "{image}" in {took:.3f}s ({took:.3f}s including waiting). '
                f"Image size: {size_bytes(image)} bytes."
            )
        here.add(image)
        self.plane.event(cluster, pod, "Pulled", text, host=node, path=path)

    def seconds(self, cluster: str, node: str, container: Obj) -> float:
        """How long the container's image takes to be there."""
        if container["image"] in self._have.get((cluster, node), ()):
            return 0.2
        return pull_seconds(container["image"])

    def forget(self, cluster: str, node: str) -> None:
        """The node is gone."""
        self._have.pop((cluster, node), None)
