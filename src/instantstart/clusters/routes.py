"""Routes of clusters and of what a cluster consists of: dependencies, nodes, storage."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import BaseModel, WrapValidator

from instantstart.addons.observe import observe as observe_dependencies
from instantstart.addons.schema import DependencyReport
from instantstart.aws.errors import AWS_CREDENTIALS, AWS_DENIED, AWS_THROTTLED, AWS_UNAVAILABLE
from instantstart.clusters import registry, stages
from instantstart.clusters.body import tolerant
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.identify import locate, locate_managed, standing
from instantstart.clusters.observe import list_clusters, observe_cluster
from instantstart.clusters.planning.creation import plan_creation, plan_eks
from instantstart.clusters.planning.hyperpod import plan_hyperpod
from instantstart.clusters.planning.inside import bucket_choice, plan_dependencies, plan_storage
from instantstart.clusters.planning.removal import plan_removal
from instantstart.clusters.preflight import place_of
from instantstart.clusters.problems import CLUSTER_INCOMPLETE, CLUSTER_NOT_FOUND, CLUSTER_NOT_MANAGED, TAG_IN_USE
from instantstart.clusters.refusal import refuse_bad_fields
from instantstart.clusters.schema import (
    ClusterCreate,
    ClusterDelete,
    ClusterList,
    ClusterStatus,
    EksCreate,
    HyperPodCreate,
    Select,
    Selection,
)
from instantstart.core import names
from instantstart.core.problem import INVALID_REQUEST, PRECONDITION_FAILED, FieldError
from instantstart.operations.change import EtagReader, change
from instantstart.operations.engine import Engine
from instantstart.operations.problems import IDEMPOTENCY_KEY_REUSED, OPERATION_IN_PROGRESS, PREFLIGHT_FAILED
from instantstart.operations.routing import SliceRouter, caller_of
from instantstart.operations.services import Services
from instantstart.operations.submit import Wish
from instantstart.storage.observe import observe as observe_claims
from instantstart.storage.schema import StorageCreate, StorageList

router = SliceRouter(tags=["clusters"])
STAGES = stages
"""Imported so that every stage which a plan names is registered."""
_AWS = (AWS_UNAVAILABLE, AWS_THROTTLED, AWS_DENIED, AWS_CREDENTIALS)
_CHANGE = (INVALID_REQUEST, PREFLIGHT_FAILED, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, *_AWS)
_INSIDE = (CLUSTER_NOT_FOUND, CLUSTER_NOT_MANAGED, PRECONDITION_FAILED, *_CHANGE)
DryRun = Annotated[bool, Query(description="Answer the plan; begin nothing.")]
_SETTLED = "operation_get_status"


def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _sent(request: Request, tool: str, body: BaseModel | None, cluster: str | None = None) -> Sent:
    given = body.model_dump(mode="json", exclude_unset=True) if body else {}
    path = request.url.path.removeprefix("/api/v1")
    return Sent(tool, request.method, path, given, str(request.base_url).rstrip("/"), cluster)


@router.tool("GET", "/clusters", name="cluster_list_all", access="viewer", kind="R", answer=ClusterList, problems=_AWS)
async def cluster_list_all(request: Request) -> ClusterList:
    """Managed and discovered clusters, and which one is selected for this caller."""
    return await list_clusters(_services(request), caller_of(request).principal)


@router.tool(
    "GET",
    "/clusters/{cluster}",
    name="cluster_get_status",
    access="viewer",
    kind="R",
    answer=ClusterStatus,
    problems=[CLUSTER_NOT_FOUND, *_AWS],
)
async def cluster_get_status(request: Request, response: Response, cluster: str) -> ClusterStatus:
    """State of both halves, nodes by health, GPUs and why some wait, running operations, what needs attention."""
    found = await locate(_services(request), cluster)
    response.headers["ETag"] = f'"{found.revision}"'
    return await observe_cluster(_services(request), _engine(request), found)


@router.tool(
    "POST",
    "/clusters",
    name="cluster_create",
    access="operator",
    kind="M",
    settled_by=_SETTLED,
    verify_with="cluster_get_status",
    problems=[TAG_IN_USE, *_CHANGE],
)
async def cluster_create(
    request: Request,
    body: Annotated[ClusterCreate, WrapValidator(tolerant(ClusterCreate))],
    dry_run: DryRun = False,
) -> Response:
    """Create a whole working cluster: network, EKS, dependencies, HyperPod nodes, proved storage."""
    services = _services(request)
    await refuse_bad_fields(services, body)
    wish = _creation("cluster_create", body, f"Create cluster {body.tag}", "cluster_get_status")
    sent = _sent(request, "cluster_create", body)
    return await change(request, wish, lambda: plan_creation(services, body, sent), dry_run=dry_run)


@router.tool(
    "POST",
    "/eks-clusters",
    name="cluster_create_eks",
    access="operator",
    kind="M",
    settled_by=_SETTLED,
    verify_with="cluster_list_all",
    problems=[TAG_IN_USE, *_CHANGE],
)
async def cluster_create_eks(
    request: Request, body: Annotated[EksCreate, WrapValidator(tolerant(EksCreate))], dry_run: DryRun = False
) -> Response:
    """Create network, roles and the EKS control plane only."""
    services = _services(request)
    await refuse_bad_fields(services, body)
    wish = _creation("cluster_create_eks", body, f"Create EKS cluster of {body.tag}", "cluster_list_all")
    sent = _sent(request, "cluster_create_eks", body)
    return await change(request, wish, lambda: plan_eks(services, body, sent), dry_run=dry_run)


@router.tool(
    "POST",
    "/clusters/{cluster}/hyperpod",
    name="hyperpod_create",
    access="operator",
    kind="M",
    settled_by=_SETTLED,
    verify_with="cluster_get_status",
    problems=_INSIDE,
)
async def hyperpod_create(
    request: Request,
    cluster: str,
    body: Annotated[HyperPodCreate, WrapValidator(tolerant(HyperPodCreate))],
    dry_run: DryRun = False,
) -> Response:
    """Create the HyperPod cluster on an EKS cluster that stands."""
    services = _services(request)
    await locate_managed(services, cluster)
    await refuse_bad_fields(services, body, cluster)
    wish = _inside("hyperpod_create", cluster, body, f"Create HyperPod cluster of {cluster}", "cluster_get_status")
    sent = _sent(request, "hyperpod_create", body, cluster)
    return await change(
        request,
        wish,
        lambda: plan_hyperpod(services, cluster, body, sent),
        dry_run=dry_run,
        etag=_etag(request, cluster),
    )


@router.tool(
    "POST",
    "/clusters/{cluster}/delete",
    name="cluster_delete",
    access="operator",
    kind="D",
    settled_by=_SETTLED,
    verify_with="cluster_list_all",
    problems=_INSIDE,
)
async def cluster_delete(request: Request, cluster: str, body: ClusterDelete, dry_run: DryRun = False) -> Response:
    """Delete the HyperPod cluster, the EKS cluster and whatever was made for them; bucket and data stay."""
    services = _services(request)
    if not names.is_tag(cluster):
        await locate_managed(services, cluster)
    if body.confirm != cluster:
        error = FieldError(field="/confirm", code="mismatch", message=f"Type the cluster's tag: {cluster}")
        raise INVALID_REQUEST("The confirmation is not the cluster's tag.", errors=[error])
    wish = _inside("cluster_delete", cluster, body, f"Delete cluster {cluster}", "cluster_list_all")
    sent = _sent(request, "cluster_delete", body, cluster)
    planner = lambda: plan_removal(services, cluster, sent)  # noqa: E731 - one line, one use
    return await change(request, wish, planner, dry_run=dry_run, etag=_etag(request, cluster))


@router.tool(
    "PUT",
    "/selection",
    name="cluster_switch",
    access="viewer",
    kind="M",
    answer=Selection,
    settled_by="cluster_list_all",
    verify_with="cluster_list_all",
    problems=[CLUSTER_NOT_FOUND, *_AWS],
)
async def cluster_switch(request: Request, body: Select) -> Selection:
    """Select a cluster for this caller; nobody else's selection changes."""
    services = _services(request)
    found = await locate(services, body.cluster)
    if await registry.choose(services.db, caller_of(request).principal, found.tag, services.clock.time()):
        _engine(request).events.wake()
    return Selection(cluster=found.tag)


@router.tool("GET", "/selection", name="selection_get", access="viewer", kind="R", answer=Selection, tool=False)
async def selection_get(request: Request) -> Selection:
    """The cluster that this caller has selected."""
    return Selection(cluster=await registry.selected(_services(request).db, caller_of(request).principal))


@router.tool(
    "GET",
    "/clusters/{cluster}/dependencies",
    name="cluster_get_dependency_status",
    access="viewer",
    kind="R",
    answer=DependencyReport,
    problems=[CLUSTER_NOT_FOUND, CLUSTER_INCOMPLETE, *_AWS],
)
async def cluster_get_dependency_status(request: Request, cluster: str) -> DependencyReport:
    """Each dependency: owner, version, health."""
    return await observe_dependencies(_services(request), await _eks_name(request, cluster))


@router.tool(
    "POST",
    "/clusters/{cluster}/dependencies",
    name="cluster_configure_dependencies",
    access="operator",
    kind="M",
    settled_by=_SETTLED,
    verify_with="cluster_get_dependency_status",
    problems=_INSIDE,
)
async def cluster_configure_dependencies(request: Request, cluster: str, dry_run: DryRun = False) -> Response:
    """Make the dependencies whole: install what is missing, mend what is ill, leave what is in order."""
    services = _services(request)
    await locate_managed(services, cluster)
    kind = "cluster_configure_dependencies"
    wish = _inside(kind, cluster, None, f"Dependencies of {cluster}", "cluster_get_dependency_status")
    sent = _sent(request, kind, None, cluster)
    planner = lambda: plan_dependencies(services, cluster, sent)  # noqa: E731 - one line, one use
    return await change(request, wish, planner, dry_run=dry_run, etag=_etag(request, cluster))


@router.tool(
    "GET",
    "/clusters/{cluster}/storage",
    name="s3_storage_list",
    access="viewer",
    kind="R",
    answer=StorageList,
    problems=[CLUSTER_NOT_FOUND, CLUSTER_INCOMPLETE, *_AWS],
)
async def s3_storage_list(request: Request, cluster: str) -> StorageList:
    """S3 mounts with phase and region, whether each was proved by a write, and the defaults."""
    services = _services(request)
    claims = await observe_claims(services, await _eks_name(request, cluster))
    stands, place = await standing(services, cluster), await place_of(services)
    return StorageList(items=claims, default_bucket=bucket_choice(services, stands, place, None).name)


@router.tool(
    "POST",
    "/clusters/{cluster}/storage",
    name="s3_storage_create",
    access="operator",
    kind="M",
    settled_by=_SETTLED,
    verify_with="s3_storage_list",
    problems=_INSIDE,
)
async def s3_storage_create(request: Request, cluster: str, body: StorageCreate, dry_run: DryRun = False) -> Response:
    """Mount a bucket through a volume and a claim, and prove it by a write."""
    services = _services(request)
    await locate_managed(services, cluster)
    wish = _inside("s3_storage_create", cluster, body, f"Mount {body.claim} in {cluster}", "s3_storage_list")
    sent = _sent(request, "s3_storage_create", body, cluster)
    planner = lambda: plan_storage(services, cluster, body, sent)  # noqa: E731 - one line, one use
    return await change(request, wish, planner, dry_run=dry_run, etag=_etag(request, cluster))


def _creation(kind: str, body: ClusterCreate | EksCreate, title: str, verify_with: str) -> Wish:
    intent, key = body.model_dump(mode="json"), f"cluster/{body.tag}"
    return Wish(kind, body.tag, title, intent, (key,), verify_with, TAG_IN_USE)


def _inside(kind: str, cluster: str, body: BaseModel | None, title: str, verify_with: str) -> Wish:
    intent = body.model_dump(mode="json") if body else {}
    return Wish(kind, cluster, title, intent, (f"cluster/{cluster}",), verify_with)


def _etag(request: Request, cluster: str) -> EtagReader:
    async def read() -> str:
        return (await locate(_services(request), cluster)).revision

    return read


async def _eks_name(request: Request, cluster: str) -> str:
    found = await locate(_services(request), cluster)
    if found.eks_name is None:
        raise CLUSTER_INCOMPLETE(f"{cluster} has no EKS cluster yet.")
    return found.eks_name
