"""The plans of cluster_configure_dependencies and s3_storage_create: what is added inside a cluster that stands."""

from __future__ import annotations

from typing import Any

from instantstart.addons.observe import observe as observe_dependencies
from instantstart.addons.plan import addon_objects, dependency_objects
from instantstart.addons.rules import CHART, CORE
from instantstart.addons.schema import DependencyReport
from instantstart.clusters import journey, rules
from instantstart.clusters.choices import Mount, Place
from instantstart.clusters.commands import creation as commands
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.identify import standing
from instantstart.clusters.preflight import ordered, place_of
from instantstart.clusters.rules import Standing
from instantstart.core import names
from instantstart.core.plan import Finding, Plan, critical_path_seconds
from instantstart.identity.rules import role_name
from instantstart.kube.errors import KubeProblem
from instantstart.operations.services import Services
from instantstart.storage import rules as storage
from instantstart.storage.observe import look_at_bucket
from instantstart.storage.observe import observe as observe_claims
from instantstart.storage.plan import bucket_objects, mount_objects
from instantstart.storage.rules import BucketChoice
from instantstart.storage.schema import ClaimView, StorageCreate

Doc = dict[str, Any]
_DRIVER = "aws-mountpoint-s3-csi-driver"


async def plan_dependencies(services: Services, tag: str, sent: Sent) -> Plan:
    """What is missing or ill is made whole; no stages when everything is in order. Raises AwsProblem."""
    stands, place = await standing(services, tag), await place_of(services)
    found = rules.incomplete(stands, network_stands=True)
    report = None if found else await dependency_report(services, tag)
    kind, eks = "cluster_configure_dependencies", names.eks_cluster(tag)
    parts = [i for i in report.items if i.required and i.name != _DRIVER] if report else []
    if report and all(i.health in {"healthy", "waiting_for_nodes"} for i in parts):
        summary = f"Every dependency of {tag} is in order" + (
            ", or waits for nodes." if report.waiting_for_nodes else "."
        )
        return Plan(kind=kind, cluster=tag, summary=summary)
    missing = missing_parts(report) if report else [*(a.name for a in CORE), "cert-manager", "metrics-server", CHART]
    stages = journey.dependencies(tag, place, verify=bool(report and report.schedulable_nodes))
    objects = [*addon_objects(CORE, eks), *dependency_objects(eks)]
    there = {i.name for i in parts if i.health != "missing"}
    shown = [o.model_copy(update={"action": "keep"}) if o.name.rpartition("/")[2] in there else o for o in objects]
    chart = services.helm.charts.rows[CHART] if CHART in missing else None
    return Plan(
        kind=kind,
        cluster=tag,
        summary=f"Make the dependencies of {tag} whole: {', '.join(missing) or 'what is ill'}.",
        stages=stages,
        objects=shown,
        findings=found,
        typical_seconds=critical_path_seconds(stages),
        commands=sent.forms() if found else commands.dependencies(sent, tag, place, missing, chart),
    )


async def plan_storage(services: Services, tag: str, body: StorageCreate, sent: Sent) -> Plan:
    """One S3 mount, proved; no stages when it is there and proved. Raises AwsProblem."""
    stands, place = await standing(services, tag), await place_of(services)
    choice = bucket_choice(services, stands, place, body.bucket)
    look = await look_at_bucket(services, choice.name)
    found = rules.incomplete(stands, network_stands=True)
    claims = [] if found else await mounts(services, tag)
    same = next((c for c in claims if c.claim == body.claim and c.namespace == names.CLAIM_NAMESPACE), None)
    found += [*_claim_findings(same, choice), *storage.findings(choice, look, tag=tag, region=place.region)]
    blocked = any(f.severity == "blocking" for f in found)
    kind = "s3_storage_create"
    if same and same.proved and same.phase == "Bound" and not blocked:
        summary = f"Claim {body.claim} mounts {choice.name}, and was proved."
        return Plan(kind=kind, cluster=tag, summary=summary, findings=ordered(found))
    others = tuple(c.bucket for c in claims if c.managed and c.claim != body.claim)
    mount = Mount(body.claim, choice, others)
    stages = journey.mounting(tag, place, mount)
    role = role_name(tag, place.region, "s3-csi")
    eks = names.eks_cluster(tag)
    objects = mount_objects(tag, eks_cluster=eks, claim=body.claim, bucket=choice.name, role=role)
    rights, driver = choice.name not in others, not claims
    return Plan(
        kind=kind,
        cluster=tag,
        summary=f"Mount {choice.name} through claim {body.claim}, and prove it.",
        stages=stages,
        objects=[*bucket_objects(tag, choice)[:-1], *objects],
        findings=ordered(found),
        typical_seconds=critical_path_seconds(stages),
        commands=sent.forms() if blocked else commands.mounting(sent, tag, place, mount, rights=rights, driver=driver),
    )


async def mounts(services: Services, tag: str) -> list[ClaimView]:
    """The S3 mounts of a managed cluster. Raises KubeProblem."""
    return await observe_claims(services, names.eks_cluster(tag))


def bucket_choice(services: Services, stands: Standing, place: Place, named: str | None) -> BucketChoice:
    """The named bucket, else the cluster's on record, else the setting's, else one of its own."""
    wanted = named or stands.bucket or services.options.bucket
    return storage.choose(stands.tag, wanted, account=place.account, region=place.region)


async def dependency_report(services: Services, tag: str) -> DependencyReport | None:
    """The dependencies of a managed cluster; None when the API server does not let us in yet."""
    try:
        return await observe_dependencies(services, names.eks_cluster(tag))
    except KubeProblem as error:
        if error.forbidden:
            return None
        raise


def missing_parts(report: DependencyReport) -> list[str]:
    """Names of what a cluster of ours should have and has not; storage's driver comes with storage."""
    return [i.name for i in report.items if i.required and i.name != _DRIVER and i.health == "missing"]


def _claim_findings(same: ClaimView | None, choice: BucketChoice) -> list[Finding]:
    if same is None:
        return []
    where = f"{same.namespace}/{same.claim}"
    if not same.managed:
        detail = f"A claim {where} is there that InstantStart did not make."
        return [_finding("claim_foreign", "/claim", detail, "Choose another name for the claim.")]
    if same.bucket != choice.name:
        detail = (
            f"Claim {where} mounts {same.bucket}; {choice.name} is asked for. A volume cannot be pointed elsewhere."
        )
        return [_finding("claim_differs", "/bucket", detail, "Choose another name for the claim.")]
    return []


def _finding(code: str, pointer: str, detail: str, remedy: str) -> Finding:
    titles = {
        "claim_foreign": "A volume or claim of that name belongs to somebody else",
        "claim_differs": "The claim mounts another bucket",
    }
    return Finding(code=code, severity="blocking", title=titles[code], detail=detail, remedy=remedy, field=pointer)
