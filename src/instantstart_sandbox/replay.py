"""`python -m instantstart_sandbox.replay DIR`: how much of a real API server's recorded answers this one gives too."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from instantstart_sandbox.kube import bootstrap
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.replay import Score, load, play
from instantstart_sandbox.world import World


def install(world: World, api: KubeApi) -> None:
    """What every namespace gets; the other controllers are installed by the sandbox's assembly."""
    world.work.on("replay.namespace", lambda key: bootstrap.furnish(api, *key.split("/")))

    def changed(cluster: str, resource: str, event: str, obj: dict[str, object], _old: object) -> None:
        meta = obj["metadata"]
        if resource == "namespaces" and event == "ADDED" and isinstance(meta, dict):
            world.work.enqueue("replay.namespace", f"{cluster}/{meta['name']}")

    api.subscribe(changed)


def replay(folder: Path) -> Score:
    """The sum over all recordings of a folder."""
    total = Score()
    for recording in load(folder):
        score = asyncio.run(play(recording, folder.parent / "crds", install))
        total.statuses += score.statuses
        total.good_statuses += score.good_statuses
        total.bodies += score.bodies
        total.good_bodies += score.good_bodies
        total.missing.extend(score.missing)
        total.details.extend(score.details)
    return total


def main() -> None:
    """Print what differs, then the counts."""
    total = replay(Path(sys.argv[1]).resolve())
    out = sys.stdout
    for line in total.details:
        out.write(line.replace("\n", " ")[:400] + "\n")
    out.write(f"{total.good_statuses}/{total.statuses} statuses, {total.good_bodies}/{total.bodies} bodies\n")


if __name__ == "__main__":
    main()
