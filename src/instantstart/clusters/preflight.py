"""What must be right before the first call that costs money: read side by side, told all at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from instantstart.addons.observe import observe as observe_dependencies
from instantstart.capacity import rules as capacity
from instantstart.capacity.facts import CapacityFacts
from instantstart.capacity.observe import observe as observe_capacity
from instantstart.capacity.schema import CapacityQuestion
from instantstart.clusters import rules
from instantstart.clusters.choices import Place
from instantstart.clusters.choices import addresses as choices_addresses
from instantstart.clusters.identify import begun, standing
from instantstart.clusters.rules import Standing
from instantstart.clusters.schema import Body, NodesBody
from instantstart.core.names import CLAIM
from instantstart.core.plan import Finding
from instantstart.instance_groups.rules import GroupWish, group_name
from instantstart.kube.errors import KubeProblem
from instantstart.network import findings as network
from instantstart.network.facts import NetworkFacts
from instantstart.network.preflight import observe as observe_network
from instantstart.network.preflight import zone_of
from instantstart.operations.services import Services
from instantstart.operations.store import ACTIVE
from instantstart.storage import rules as storage
from instantstart.storage.observe import look_at_bucket
from instantstart.storage.observe import observe as observe_claims
from instantstart.storage.rules import BucketChoice, BucketLook
from instantstart.storage.schema import ClaimView

Doc = dict[str, Any]
_NO_TAG = "unnamed"
"""Stands for a tag that could not be read; what is found about it is left out."""


@dataclass(frozen=True)
class Outlook:
    """What was read for a creation."""

    place: Place
    capacity: CapacityFacts
    network: NetworkFacts
    standing: Standing
    bucket: BucketChoice
    look: BucketLook
    claims: list[ClaimView] = field(default_factory=list)
    dependencies_ready: bool = False

    @property
    def claimed(self) -> str | None:
        """The bucket behind the cluster's claim."""
        return next((c.bucket for c in self.claims if c.claim == CLAIM), None)


async def place_of(services: Services) -> Place:
    """Account and region. Raises AwsProblem."""
    account = await services.aws.account()
    role = services.options.service_role_arn
    return Place(account.account_id, account.partition, services.aws.region, account.principal_arn, role)


async def look(services: Services, body: Body, tag: str | None = None) -> Outlook:
    """Read everything the findings and the decisions need; `tag` where the body has none. Raises AwsProblem."""
    tag = tag or body.given("tag") or _NO_TAG
    wish = body.given("network")
    cidr, vpc_id = (wish.cidr, wish.vpc_id) if wish else (None, None)
    place, facts, stands, promised = await asyncio.gather(
        place_of(services),
        observe_network(services, tag=tag, cidr=cidr, vpc_id=vpc_id),
        standing(services, tag),
        _promised(services, tag),
    )
    facts = replace(facts, vpcs=facts.vpcs | promised)
    named = body.given("bucket") or stands.bucket or services.options.bucket
    bucket = storage.choose(tag, named, account=place.account, region=place.region)
    found, seen, inside = await asyncio.gather(
        _capacity(services, body, facts), look_at_bucket(services, bucket.name), _inside(services, stands)
    )
    return Outlook(place, found, facts, stands, bucket, seen, *inside)


def findings(outlook: Outlook, body: Body) -> list[Finding]:
    """Everything that forbids the creation or is worth knowing; what forbids comes first."""
    tag = outlook.standing.tag
    group = group_of(body, tag, outlook.capacity) if isinstance(body, NodesBody) else None
    zone = zone_of(outlook.network.zones, body.given("availability_zone") or "")
    stands = outlook.standing
    found = [
        *rules.relevant(capacity.findings(outlook.capacity, question(body)), stands),
        *rules.relevant(network.findings(outlook.network, addresses_needed=_addresses(body)), stands),
        *rules.version_findings(body.given("kubernetes_version")),
        *rules.eks_findings(stands, version=body.given("kubernetes_version")),
        *rules.hyperpod_findings(stands, group=group, zone=zone["ZoneName"] if zone else None),
        *rules.bucket_conflict(stands, body.given("bucket"), outlook.claimed),
        *storage.findings(outlook.bucket, outlook.look, tag=stands.tag, region=outlook.place.region),
    ]
    return ordered([f for f in found if not _about_a_fault(f, body)])


def ordered(found: list[Finding]) -> list[Finding]:
    """Blocking ones first, otherwise as they came."""
    return sorted(found, key=lambda f: ("blocking", "warning", "info").index(f.severity))


def question(body: Body) -> CapacityQuestion:
    """The capacity question in a body; only what could be read of it."""
    names = CapacityQuestion.model_fields
    given = {n: body.given(n) for n in names if body.given(n) is not None}
    return CapacityQuestion.model_validate(given)


def group_of(body: NodesBody, tag: str, facts: CapacityFacts | None = None) -> GroupWish | None:
    """The group that is wished for; None when a part of it could not be read."""
    parts = [body.given(n) for n in ("instance_type", "instance_count", "capacity_type")]
    if any(p is None for p in parts):
        return None
    plan = body.given("training_plan")
    known = facts.plan.arn if facts and facts.plan and plan else plan
    return GroupWish(
        name=group_name(tag),
        instance_type=parts[0],
        count=parts[1],
        capacity_type=parts[2],
        training_plan=known,
        interface_mode=body.given("interface_mode"),
        deep_health_checks=tuple(body.given("deep_health_checks") or ()),
    )


def _addresses(body: Body) -> int:
    from_group = group_of(body, _NO_TAG) if isinstance(body, NodesBody) else None
    return choices_addresses(from_group) if from_group else 0


def _about_a_fault(found: Finding, body: Body) -> bool:
    """Whether a finding is about a field that could not be read, which is told already."""
    bad = {f.field.split("/")[1] for f in body.faults if f.field.startswith("/")}
    return bool(found.field) and str(found.field).split("/")[1] in bad


async def _capacity(services: Services, body: Body, facts: NetworkFacts) -> CapacityFacts:
    """Capacity of the wished type; without one, only the zones are known."""
    asked = question(body)
    if asked.instance_type:
        return await observe_capacity(services, asked)
    return CapacityFacts(services.aws.region, services.clock.time(), facts.zones, {}, {}, Counter())


async def _promised(services: Services, tag: str) -> dict[str, list[str]]:
    """CIDRs of VPCs that operations at work are about to make."""
    found: dict[str, list[str]] = {}
    for row in await begun(services):
        if row["state"] not in ACTIVE or row["cluster"] == tag:
            continue
        for stage in row["plan"].get("stages") or []:
            cidr = stage["params"].get("cidr") if stage["definition"] == "request_network_stack" else None
            if cidr:
                found[f"of operation {row['id']}"] = [cidr]
    return found


async def _inside(services: Services, stands: Standing) -> tuple[list[ClaimView], bool]:
    """Mounts of the EKS cluster that stands, and whether its dependencies are in order."""
    if not stands.owns_eks or stands.eks is None or stands.eks["status"] != "ACTIVE":
        return [], False
    name = stands.eks["name"]
    try:
        claims, report = await asyncio.gather(observe_claims(services, name), observe_dependencies(services, name))
    except KubeProblem:
        return [], False  # not let in yet, or not to be reached: the stages find out
    return claims, report.ready
