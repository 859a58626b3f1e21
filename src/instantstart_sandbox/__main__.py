"""`python -m instantstart_sandbox --state-dir DIR --port P --kube-port K [--speed N] [--mode explicit|auto]`."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import IO

from instantstart_sandbox.assembly import CHARTS, Sandbox, build
from instantstart_sandbox.charts import chart_rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="instantstart_sandbox", description="Simulated AWS and EKS on loopback.")
    parser.add_argument("--state-dir", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--kube-port", type=int, default=0)
    parser.add_argument("--speed", type=float, default=None)
    parser.add_argument("--mode", choices=["auto", "explicit"], default=None)
    return parser.parse_args()


def _own(state_dir: Path) -> IO[str]:
    """Lock the folder for this process; ends the process when another has it."""
    state_dir.mkdir(parents=True, exist_ok=True)
    lock = (state_dir / "sandbox.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"Another sandbox process has the folder {state_dir}.")
    return lock


def _write_down(sandbox: Sandbox) -> None:
    """`charts.json` (where charts come from), then `sandbox.json`; each replaced in one step."""
    _replace(sandbox.state_dir / "charts.json", chart_rows(f"{sandbox.url}{CHARTS.rstrip('/')}"))
    doc = {"url": sandbox.url, "kube_url": sandbox.kube_url, "pid": os.getpid(), "ca_file": str(sandbox.ca.ca)}
    _replace(sandbox.state_dir / "sandbox.json", doc)


def _replace(path: Path, doc: object) -> None:
    part = path.with_suffix(".json.part")
    part.write_text(json.dumps(doc))
    part.replace(path)


async def _run(args: argparse.Namespace) -> None:
    sandbox = build(args.state_dir, mode=args.mode, speed=args.speed, port=args.port, kube_port=args.kube_port)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    await sandbox.start()
    _write_down(sandbox)
    assert sandbox.broken is not None
    sandbox.broken.add_done_callback(lambda _: ended.set())
    await ended.wait()
    await sandbox.stop()
    if sandbox.broken.done():
        sys.exit("The world cannot go on; the log says why.")


def main() -> None:
    """Be the sandbox until told to end."""
    args = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    lock = _own(args.state_dir)
    try:
        asyncio.run(_run(args))
    except OSError as error:
        sys.exit(f"The sandbox cannot start: {error}")
    finally:
        lock.close()


if __name__ == "__main__":
    main()
