"""Address arithmetic."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instantstart.network import blocks


def test_free_blocks_skip_what_is_taken() -> None:
    found = blocks.free_blocks(["10.0.0.0/16"], ["10.0.0.0/24", "10.0.32.0/20"], 20)
    assert [next(found) for _ in range(3)] == ["10.0.16.0/20", "10.0.48.0/20", "10.0.64.0/20"]


def test_free_blocks_from_the_end() -> None:
    found = blocks.free_blocks(["10.0.0.0/24"], ["10.0.0.240/28"], 28, last=True)
    assert next(found) == "10.0.0.224/28"


def test_a_cidr_smaller_than_the_block_has_none() -> None:
    assert list(blocks.free_blocks(["10.0.0.0/24"], [], 20)) == []


@given(st.lists(st.integers(0, 255), max_size=40), st.integers(18, 28))
def test_free_blocks_never_overlap(taken: list[int], prefix: int) -> None:
    used = [f"10.7.{t}.0/24" for t in taken]
    for block in islice(blocks.free_blocks(["10.7.0.0/16"], used, prefix), 20):
        assert blocks.overlapping(block, used) == []
        assert IPv4Network(block).subnet_of(IPv4Network("10.7.0.0/16"))


def test_a_new_vpc_avoids_those_that_are_there() -> None:
    assert blocks.new_vpc_cidr([]) == "10.192.0.0/16"
    assert blocks.new_vpc_cidr(["10.192.8.0/24", "10.193.0.0/16"]) == "10.194.0.0/16"


def test_small_blocks_leave_a_compute_block_in_the_smallest_vpc() -> None:
    public, control = blocks.small_blocks("10.9.0.0/19", 2)
    assert next(blocks.free_blocks(["10.9.0.0/19"], [public, *control], blocks.COMPUTE_PREFIX)) == "10.9.16.0/20"


@pytest.mark.parametrize("bad", ["10.0.0.1/16", "10.0.0.0/33", "nonsense", "10.0.0.0.0/8"])
def test_what_is_no_network(bad: str) -> None:
    with pytest.raises(ValueError):
        blocks.parse(bad)


def test_a_secondary_cidr_avoids_routes_too() -> None:
    assert blocks.secondary_cidr(["10.0.0.0/16", "100.64.0.0/16"]) == "100.65.0.0/16"
