"""Recordings of a real API server, replayed: what is missing stands in one list that may only shrink."""

from __future__ import annotations

from pathlib import Path

import pytest

from instantstart_sandbox.kube.replay import load
from instantstart_sandbox.replay import replay

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT.parent / "shared" / "kube-recordings"
MISSING = Path(__file__).parent / "kube" / "replay_missing.txt"
KNOWN = 169


@pytest.mark.slow
def test_recordings_are_answered() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip(f"{KNOWN} recordings are not here")
    assert len(load(RECORDINGS)) >= KNOWN, "the recordings are incomplete"
    score = replay(RECORDINGS)
    listed = set(MISSING.read_text().splitlines())
    now = set(score.missing)
    assert not now - listed, "answers that were right are wrong now"
    assert not listed - now, "take these off the list: they are right now"
    assert score.good_statuses >= 0.9 * score.statuses
