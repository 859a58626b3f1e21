"""Kills service and sandbox at random moments of a create: every create must finish, nothing may be made twice.

    python -m bench.crash --rounds 20 [--seed 1] [--speed 600]

Prints one line a round and a summary; exits 1 when a round did not end well.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.harness import CREATE, TERMINAL, Up

_NOISE = {"clientRequestToken", "ClientRequestToken", "ClientToken", "clientToken", "Version", "Action"}
_DELETES = {"Delete", "Terminate", "Release", "Remove"}


def duplicates(items: list[dict[str, Any]]) -> list[str]:
    """Things that were created twice without a delete between, by the sandbox's request log."""
    seen: set[str] = set()
    twice: list[str] = []
    for row in items:
        operation = row["operation"]
        if not row["applied"]:
            continue
        if any(operation.startswith(d) or operation.startswith(d.lower()) for d in _DELETES):
            seen = {s for s in seen if not s.startswith(f"{row['service']} ")}
        if operation.startswith(("Create", "create ")):
            params = {k: v for k, v in row["params"].items() if k not in _NOISE}
            thing = f"{row['service']} {operation} {json.dumps(params, sort_keys=True)}"
            if thing in seen:
                twice.append(thing)
            seen.add(thing)
    return twice


def one_round(number: int, dice: random.Random, speed: float) -> str | None:
    """One create under fire; returns what went wrong, or None."""
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        running = Up(Path(folder), speed)
        try:
            return _under_fire(running, number, dice)
        finally:
            running.stop()


def _under_fire(running: Up, number: int, dice: random.Random) -> str | None:
    running.start()
    operation = running.api("POST", "/clusters", json=CREATE)
    kills = 0
    began = time.monotonic()
    for _ in range(dice.randint(1, 4)):
        time.sleep(dice.uniform(0.0, 4.0))
        if running.api("GET", f"/operations/{operation['id']}")["terminal"]:
            break
        parts = dice.choice([("service",), ("sandbox",), ("service", "sandbox")])
        running.kill(*parts)
        kills += 1
        running.start()
    while True:
        waited = running.api("GET", f"/operations/{operation['id']}/wait?timeout_seconds=20")
        if waited["operation"]["state"] in TERMINAL:
            break
        if time.monotonic() - began > 240:
            stuck = [f"{s['name']}: {s['message']}" for s in waited["operation"]["stages"] if s["state"] == "waiting"]
            return f"round {number}: not ended after 240 s; waiting: {stuck}"
    state = waited["operation"]["state"]
    twice = duplicates(running.requests())
    seconds = time.monotonic() - began
    print(f"round {number}: {state} after {kills} kills in {seconds:.1f} s, {len(twice)} duplicates", flush=True)
    if state != "succeeded":
        return f"round {number}: {state}: {json.dumps(waited['operation']['problem'])}"
    return f"round {number}: created twice: {twice[:3]}" if twice else None


def main() -> None:
    """Run the rounds and say how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=600.0)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    wrong = [w for n in range(1, options.rounds + 1) if (w := one_round(n, dice, options.speed))]
    for line in wrong:
        print(line)
    print(f"crash: {options.rounds - len(wrong)}/{options.rounds} creates finished with nothing made twice")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
