"""What is known of instance types: accelerators, EFA, memory, and how many addresses a node of a type takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from instantstart.core.instance_table import TABLE

Accelerator = Literal["gpu", "neuron"]
InterfaceMode = Literal["efa", "efa-only"]
PREFIX = "ml."
_SOLD = (
    "p4d.24xlarge",
    "p4de.24xlarge",
    "p5.48xlarge",
    "p5.4xlarge",
    "p5e.48xlarge",
    "p5en.48xlarge",
    "p6-b200.48xlarge",
    "p6e-gb200.36xlarge",
    "trn1.32xlarge",
    "trn2.48xlarge",
)
PLAN_TYPES = frozenset(PREFIX + name for name in _SOLD)
"""Types that training plans are sold for."""


@dataclass(frozen=True)
class InstanceFacts:
    """One instance type. Memory in GiB."""

    instance_type: str
    """With `ml.`, as SageMaker and the node label have it."""
    vcpus: int
    memory_gib: float
    accelerator: Accelerator | None
    accelerator_name: str | None
    accelerator_count: int
    accelerator_memory_gib: int
    efa_interfaces: int
    network_cards: int
    addresses_per_interface: int
    architecture: str
    threads_per_core: int

    @property
    def ec2_name(self) -> str:
        """The type as EC2 has it: an `ml.` name gets an empty answer there, not an error."""
        return self.instance_type.removeprefix(PREFIX)

    @property
    def efa_only(self) -> bool:
        """Whether the interface mode efa-only saves addresses: more than one EFA card."""
        return self.efa_interfaces > 1 and self.accelerator != "neuron"

    @property
    def max_pods(self) -> int:
        """Pods with an address of their own: one interface serves them."""
        return self.addresses_per_interface - 1

    def addresses(self, mode: InterfaceMode | None = None) -> int:
        """VPC addresses that one node takes: its pods' and, except with efa-only, one per further EFA card."""
        cards = 0 if mode == "efa-only" else max(self.efa_interfaces - 1, 0)
        return self.addresses_per_interface + cards


def _read(line: str) -> InstanceFacts:
    name, vcpus, memory, kind, chip, count, each, efa, cards, addresses, architecture, threads = line.split()
    return InstanceFacts(
        instance_type=PREFIX + name,
        vcpus=int(vcpus),
        memory_gib=float(memory),
        accelerator="gpu" if kind == "gpu" else "neuron" if kind == "neuron" else None,
        accelerator_name=None if chip == "-" else chip.replace("_", " "),
        accelerator_count=int(count),
        accelerator_memory_gib=int(each),
        efa_interfaces=int(efa),
        network_cards=int(cards),
        addresses_per_interface=int(addresses),
        architecture=architecture,
        threads_per_core=int(threads),
    )


INSTANCES: dict[str, InstanceFacts] = {f.instance_type: f for f in map(_read, TABLE.strip().splitlines())}
"""Every type that HyperPod takes, by its name with `ml.`."""


def facts_of(instance_type: str) -> InstanceFacts | None:
    """Facts of a type with its `ml.`; None when HyperPod does not take it."""
    return INSTANCES.get(instance_type)


def close_names(instance_type: str) -> list[str]:
    """Up to five known types that were perhaps meant: with `ml.` added, or of the same family."""
    wanted = instance_type.strip().lower()
    if PREFIX + wanted in INSTANCES:
        return [PREFIX + wanted]
    family = wanted.removeprefix(PREFIX).partition(".")[0]
    return [t for t in INSTANCES if t.removeprefix(PREFIX).partition(".")[0] == family][:5]


def threads_per_core(instance_type: str) -> int:
    """ThreadsPerCore for a group: both threads on the large training types, one elsewhere."""
    facts = INSTANCES.get(instance_type)
    if facts is None or facts.threads_per_core < 2:
        return 1
    large = facts.ec2_name.startswith(("p4", "p5", "p6", "trn"))
    return 2 if large or facts.accelerator is None else 1
