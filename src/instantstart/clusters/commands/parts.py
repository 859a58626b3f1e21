"""aws and kubectl commands for the parts of a cluster: EKS, access, add-ons, chart, bucket, HyperPod, mount. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart.addons import rules as addons
from instantstart.addons.rules import Addon
from instantstart.aws.eks import CLUSTER_ADMIN_POLICY
from instantstart.clusters import requests
from instantstart.clusters.choices import ControlPlane, Mount, Nodes, Place
from instantstart.clusters.commands.shell import assign, aws, here, quote, until, var
from instantstart.core import names
from instantstart.identity import rules as identity
from instantstart.instance_groups.rules import new_group
from instantstart.kube.charts import ChartSource
from instantstart.storage import manifests, template
from instantstart.storage.rules import BucketChoice, driver_identity

Doc = dict[str, Any]


def eks_cluster(plane: ControlPlane) -> list[str]:
    """The control plane, and the wait for it."""
    wish = requests.eks_cluster(
        plane.tag,
        version=plane.version,
        role_arn=var("EKS_ROLE"),
        subnet_ids=["@SUBNETS@"],
        security_group_id=var("NODE_SG"),
    )
    network = wish.pop("resourcesVpcConfig")
    text = (
        f"subnetIds={var('SUBNETS')},securityGroupIds={var('NODE_SG')},"
        f"endpointPublicAccess={str(network['endpointPublicAccess']).lower()},"
        f"endpointPrivateAccess={str(network['endpointPrivateAccess']).lower()}"
    )
    version = wish.pop("version")
    return [
        aws("eks", "create-cluster", **wish, resourcesVpcConfig=text, kubernetesVersion=version),
        aws("eks", "wait cluster-active", name=plane.eks_cluster),
    ]


def access(tag: str, place: Place) -> list[str]:
    """The access entry of the service's role, with its policy."""
    where = {"clusterName": names.eks_cluster(tag), "principalArn": place.service_role or place.caller}
    return [
        aws("eks", "create-access-entry", **where, tags=names.owner_tags(tag)),
        aws("eks", "associate-access-policy", **where, policyArn=CLUSTER_ADMIN_POLICY, accessScope="type=cluster"),
    ]


def oidc_provider(tag: str) -> list[str]:
    """The OIDC provider of the cluster's issuer."""
    issuer = aws(
        "eks", "describe-cluster", name=names.eks_cluster(tag), query="cluster.identity.oidc.issuer", output="text"
    )
    return [
        assign("ISSUER", issuer),
        aws(
            "iam",
            "create-open-id-connect-provider",
            Url=var("ISSUER"),
            ClientIDList=[identity.AUDIENCE],
            Tags=[f"Key={k},Value={v}" for k, v in names.owner_tags(tag).items()],
        ),
    ]


def addon_commands(tag: str, wanted: Sequence[Addon]) -> list[str]:
    """The add-ons, each in its default version."""
    where = {"clusterName": names.eks_cluster(tag)}
    tags = names.owner_tags(tag)
    return [
        aws("eks", "create-addon", **where, addonName=a.name, resolveConflicts="OVERWRITE", tags=tags) for a in wanted
    ]


def bucket(tag: str, choice: BucketChoice) -> list[str]:
    """The bucket's stack where one is made, and the lifecycle script."""
    found = []
    if choice.made:
        stack = names.bucket_stack(tag)
        found = [
            aws(
                "cloudformation",
                "create-stack",
                StackName=stack,
                TemplateBody=template.bucket_template(tag, compact=True),
                Parameters=f"ParameterKey=BucketName,ParameterValue={choice.name}",
                Tags=[f"Key={k},Value={v}" for k, v in names.owner_tags(tag).items()],
            ),
            aws("cloudformation", "wait stack-create-complete", StackName=stack),
        ]
    target = f"{template.script_source(tag, choice.name)}/{template.SCRIPT}"
    return [*found, f"printf %s {quote(template.script().decode())} | aws s3 cp - {quote(target)}"]


def hyperpod_cluster(nodes: Nodes) -> list[str]:
    """The HyperPod cluster, and the wait until it is in service with its nodes."""
    name = names.hyperpod_cluster(nodes.tag)
    group = new_group(
        nodes.group,
        execution_role=var("NODE_ROLE"),
        subnet_id=var("SUBNET"),
        security_group_id=var("NODE_SG"),
        source=template.script_source(nodes.tag, nodes.bucket.name),
        script=template.SCRIPT,
    )
    arn = aws("eks", "describe-cluster", name=names.eks_cluster(nodes.tag), query="cluster.arn", output="text")
    wish = requests.hyperpod_cluster(
        nodes.tag,
        eks_arn=var("EKS_ARN"),
        subnet_id=var("SUBNET"),
        security_group_id=var("NODE_SG"),
        group=group,
    )
    shown = {"ClusterName": name, "Output": "text"}
    return [
        assign("EKS_ARN", arn),
        aws("sagemaker", "create-cluster", **wish),
        until(aws("sagemaker", "describe-cluster", **shown, Query="ClusterStatus"), "InService"),
        until(
            aws("sagemaker", "describe-cluster", **shown, Query="InstanceGroups[0].CurrentCount"),
            str(nodes.group.count),
        ),
    ]


def driver_rights(tag: str, place: Place, mount: Mount) -> list[str]:
    """The role of the S3 driver, bound to its service account."""
    wanted = driver_identity([mount.bucket.name, *mount.others], partition=place.partition)
    role = identity.role_name(tag, place.region, wanted.key)
    arn = f"arn:{place.partition}:iam::{place.account}:role/{role}"
    return [
        aws(
            "iam",
            "create-role",
            RoleName=role,
            AssumeRolePolicyDocument=identity.pod_identity_trust(),
            Tags=[f"Key={k},Value={v}" for k, v in names.owner_tags(tag).items()],
        ),
        aws(
            "iam",
            "put-role-policy",
            RoleName=role,
            PolicyName=identity.INLINE_POLICY,
            PolicyDocument=identity.policy(wanted),
        ),
        "sleep 15",
        aws(
            "eks",
            "create-pod-identity-association",
            clusterName=names.eks_cluster(tag),
            namespace=wanted.namespace,
            serviceAccount=wanted.service_account,
            roleArn=arn,
            tags=names.owner_tags(tag),
        ),
    ]


def kubeconfig(tag: str) -> list[str]:
    """kubectl and helm talk to this cluster."""
    return [aws("eks", "update-kubeconfig", name=names.eks_cluster(tag))]


def chart(region: str, source: ChartSource) -> list[str]:
    """The HyperPod chart at its pinned content. It is in no chart repository; its remote parts are pinned in it."""
    folder = f"hyperpod-chart/{source.folder}" if source.folder else "hyperpod-chart"
    leave_out = [f"rm -f {quote(f'{folder}/{name}')}" for name in source.leave_out]
    install = f"helm upgrade {addons.CHART} {quote(folder)} --install --namespace {addons.CHART_NAMESPACE} --values -"
    return [
        f"mkdir -p hyperpod-chart && curl -sSL {quote(source.url)} | tar xz -C hyperpod-chart --strip-components=1",
        *leave_out,
        f"helm dependency update {quote(folder)}",
        here(install, [addons.chart_values(region)]),
    ]


def mount_objects(tag: str, place: Place, mount: Mount) -> list[str]:
    """Volume and claim, and the Job that proves them."""
    claim, job = mount.claim, f"verify-{mount.claim}"
    objects = [
        manifests.volume(tag, claim, mount.bucket.name, place.region),
        manifests.claim(tag, claim),
    ]
    return [
        here("kubectl apply --server-side -f -", objects),
        here("kubectl create -f -", [manifests.proof_job(tag, claim, job)]),
        f"kubectl wait --for=condition=Complete job/{job} -n {names.CLAIM_NAMESPACE} --timeout=10m",
        f"kubectl delete job {job} -n {names.CLAIM_NAMESPACE}",
    ]


def nodes_ready(nodes: Nodes) -> list[str]:
    """Wait for the nodes in Kubernetes."""
    label = f"sagemaker.amazonaws.com/instance-group-name={nodes.group.name}"
    return [f"kubectl wait --for=condition=Ready node -l {label} --timeout=90m"]
