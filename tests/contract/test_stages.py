"""Every stage has an honest name and effects; every stage of a deletion is registered under the version planned."""

from __future__ import annotations

import re

import pytest

from instantstart.clusters import journey, stages
from instantstart.core.plan import critical_path_seconds
from instantstart.operations.stage import REGISTRY, StageDefinition
from instantstart.storage.rules import choose

VERBS = ("ensure_", "request_", "await_", "verify_", "remove_", "select_")
EFFECT = re.compile(r"^(token|named|absolute|once) [a-z0-9-]+:[A-Za-z]+$")
REAL = [d for d in REGISTRY.values() if d.function.__module__.startswith("instantstart.")]


def test_the_stages_are_there() -> None:
    assert stages.__all__
    assert len(REAL) >= 40


@pytest.mark.parametrize("definition", REAL, ids=lambda d: d.name)
def test_a_stage_says_what_it_may_send(definition: StageDefinition) -> None:
    assert definition.name.startswith(VERBS)
    assert all(EFFECT.match(effect) for effect in definition.effects), definition.effects
    if definition.name.startswith("await_"):
        assert definition.effects == ()
    assert (definition.function.__doc__ or "").strip()


def test_every_stage_of_a_deletion_is_registered() -> None:
    bucket = choose("demo", None, account="123456789012", region="us-west-2")
    specs = journey.removal("demo", bucket, partition="aws")
    assert critical_path_seconds(specs) > 0
    assert [s.name for s in specs if s.definition not in REGISTRY or REGISTRY[s.definition].version != s.version] == []
