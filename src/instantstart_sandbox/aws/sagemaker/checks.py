"""What CreateCluster and UpdateCluster refuse at once: combinations, roles, networks, training plans, quotas."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox import defaults
from instantstart_sandbox.aws.instance_facts import facts_of
from instantstart_sandbox.aws.outside import trusts
from instantstart_sandbox.aws.sagemaker import plans
from instantstart_sandbox.aws.sagemaker.parts import CLUSTER, Doc, Parts, invalid, is_continuous, refuse

_LIMIT = (
    "The account-level service limit '{name}' is {limit} Instances, with current utilization of {used} Instances and "
    "a request delta of {delta} Instances. Please use AWS Service Quotas to request an increase for this quota. If "
    "AWS Service Quotas is not available, contact AWS support to request an increase for this quota."
)


def new_cluster(parts: Parts, params: Doc) -> Doc:
    """The EKS cluster that a new HyperPod cluster goes onto, when all of the request is possible."""
    if parts.find(params["ClusterName"]):
        refuse("ResourceInUse", f"Cluster with name {params['ClusterName']} already exists.")
    if params.get("RestrictedInstanceGroups"):
        text = "Found RestrictedInstanceGroups in the cluster input. Please remove RestrictedInstanceGroups from the request and try again."
        invalid(text)
    orchestrator = params.get("Orchestrator") or {}
    if "Eks" not in orchestrator:
        invalid("The sandbox simulates clusters with Orchestrator.Eks only.")
    if not params.get("VpcConfig"):
        invalid("VpcConfig is required when the orchestrator is EKS.")
    eks = _eks(parts, orchestrator["Eks"]["ClusterArn"])
    network(parts, params["VpcConfig"], eks)
    names = [g["InstanceGroupName"] for g in params.get("InstanceGroups") or []]
    if not names:
        invalid("At least one instance group must be specified.")
    if len(set(names)) != len(names):
        invalid("Instance group names must be unique within the cluster.")
    autoscaling(parts, params)
    return eks


def _eks(parts: Parts, arn: str) -> Doc:
    found = next((c for c in parts.world.store.list("eks.cluster") if c["arn"] == arn), None)
    if found is None:
        invalid(f"EKS cluster {arn} could not be found or is not accessible.")
    for other in parts.world.store.list(CLUSTER):
        if other["Orchestrator"]["Eks"]["ClusterArn"] == arn:
            invalid(f"Specified cluster external resource id {arn} already in use")
    if found["status"] != "ACTIVE":
        invalid(f"EKS cluster {arn} is not in ACTIVE state; its state is {found['status']}.")
    if found["accessConfig"]["authenticationMode"] == "CONFIG_MAP":
        text = "EKS cluster authentication mode must be API or API_AND_CONFIG_MAP."
        invalid(text)
    if found["version"] not in defaults.HYPERPOD_KUBERNETES:
        invalid(f"Kubernetes version {found['version']} of EKS cluster {arn} is not supported by HyperPod.")
    return found


def network(parts: Parts, config: Doc, eks: Doc) -> None:
    """Subnets and security groups exist, in the VPC of the EKS cluster."""
    vpc = eks["resourcesVpcConfig"]["vpcId"]
    for subnet_id in config["Subnets"]:
        subnet = parts.outside.subnet(subnet_id)
        if subnet is None:
            invalid(f"The subnet ID '{subnet_id}' does not exist")
        if subnet["vpc_id"] != vpc:
            invalid(f"Subnet {subnet_id} is not in VPC {vpc} of the EKS cluster.")
    for group_id in config["SecurityGroupIds"]:
        group = parts.outside.security_group(group_id)
        if group is None:
            invalid(f"The security group '{group_id}' does not exist")
        if group.get("vpc_id", vpc) != vpc:
            invalid(f"Security group {group_id} is not in VPC {vpc} of the EKS cluster.")


def autoscaling(parts: Parts, params: Doc) -> None:
    """Karpenter needs Continuous and a ClusterRole that HyperPod may assume."""
    if (params.get("AutoScaling") or {}).get("Mode") != "Enable":
        return
    if params.get("NodeProvisioningMode") != "Continuous":
        invalid("AutoScaling requires NodeProvisioningMode Continuous.")
    role = params.get("ClusterRole")
    if not role:
        invalid("ClusterRole is required when AutoScaling is enabled.")
    held = parts.outside.role(role)
    if held is None or not held["visible"] or not trusts(held, "hyperpod.sagemaker.amazonaws.com"):
        invalid(f"SageMaker HyperPod cannot assume the cluster role {role}.")


def group(parts: Parts, spec: Doc, cluster: Doc, eks: Doc) -> None:
    """One group of a request, for a new cluster or an existing one."""
    name = spec["InstanceGroupName"]
    types = (spec.get("InstanceRequirements") or {}).get("InstanceTypes")
    if bool(spec.get("InstanceType")) == bool(types):
        invalid(f"Exactly one of InstanceType and InstanceRequirements must be given for instance group {name}.")
    if not is_continuous(cluster):
        for member in ("InstanceRequirements", "CapacityRequirements", "MinInstanceCount"):
            if spec.get(member):
                invalid(f"{member} of instance group {name} requires NodeProvisioningMode Continuous.")
    minimum = spec.get("MinInstanceCount")
    if minimum is not None and minimum > spec["InstanceCount"]:
        invalid(f"MinInstanceCount of instance group {name} must not exceed InstanceCount.")
    _capacity_choice(name, spec)
    _lifecycle(name, spec)
    _deep_checks(name, spec)
    if spec.get("NetworkInterface", {}).get("InterfaceType") and not _has_efa(types or [spec["InstanceType"]]):
        invalid(f"NetworkInterface of instance group {name} requires instance types that support EFA.")
    if spec.get("OverrideVpcConfig"):
        network(parts, spec["OverrideVpcConfig"], eks)
    execution_role(parts, spec["ExecutionRole"])
    if spec.get("TrainingPlanArn"):
        _plan(parts, spec, cluster)


def _capacity_choice(name: str, spec: Doc) -> None:
    choice = spec.get("CapacityRequirements") or {}
    if len(choice) > 1:
        invalid(f"CapacityRequirements of instance group {name} must have exactly one of Spot and OnDemand.")
    if spec.get("TrainingPlanArn") and "Spot" in choice:
        invalid(f"Instance group {name} cannot use both Spot capacity and a training plan.")


def _lifecycle(name: str, spec: Doc) -> None:
    script = spec.get("LifeCycleConfig") or {}
    if not script.get("SourceS3Uri") or not script.get("OnCreate"):
        invalid(f"LifeCycleConfig with SourceS3Uri and OnCreate is required for instance group {name}.")
    if script.get("OnInitComplete"):
        invalid(f"OnInitComplete of instance group {name} is not supported with EKS orchestration.")
    if not script["SourceS3Uri"].startswith("s3://"):
        invalid(f"SourceS3Uri of instance group {name} must be an S3 URI.")


def _deep_checks(name: str, spec: Doc) -> None:
    if not spec.get("OnStartDeepHealthChecks"):
        return
    types = (spec.get("InstanceRequirements") or {}).get("InstanceTypes") or [spec["InstanceType"]]
    if not all(is_accelerated(t) for t in types):
        invalid(f"Deep health checks of instance group {name} are not supported for instance type {types[0]}.")
    if (spec.get("KubernetesConfig") or {}).get("Taints"):
        invalid(f"Instance group {name} with deep health checks cannot have custom taints.")


def execution_role(parts: Parts, arn: str) -> None:
    """The role exists, can be seen, and trusts SageMaker."""
    role = parts.outside.role(arn)
    if role is None or not role["visible"] or not trusts(role, "sagemaker.amazonaws.com"):
        text = f"SageMaker cannot assume the execution role {arn}. Ensure that the role exists and trusts sagemaker.amazonaws.com."
        invalid(text)


def _plan(parts: Parts, spec: Doc, cluster: Doc) -> None:
    arn = spec["TrainingPlanArn"]
    plan = plans.by_arn(parts, arn)
    if plan is None:
        invalid(f"Training plan {arn} could not be found.")
    status = plans.status(parts, plan)
    if status not in ("Active", "Scheduled"):
        invalid(f"Training plan {arn} is in status {status}; it must be Scheduled or Active.")
    if plan["instance_type"] != spec.get("InstanceType"):
        invalid(f"Training plan {arn} is for {plan['instance_type']}, not for {spec.get('InstanceType')}.")
    if "hyperpod-cluster" not in plan["targets"]:
        invalid(f"Training plan {arn} does not target hyperpod-cluster.")
    config = spec.get("OverrideVpcConfig") or cluster["VpcConfig"]
    zones = {(parts.outside.subnet(s) or {}).get("zone") for s in config["Subnets"]}
    if plan["zone"] not in zones:
        invalid(f"No subnets in the capacity AZ {plan['zone']} of training plan {arn}.")
    if spec["InstanceCount"] > plan["count"]:
        invalid(f"Training plan {arn} has {plan['count']} instances; {spec['InstanceCount']} were requested.")


def is_accelerated(instance_type: str) -> bool:
    """Whether a type carries GPUs or Trainium chips."""
    return instance_type.startswith(("ml.p", "ml.g", "ml.trn"))


def _has_efa(types: list[str]) -> bool:
    return all(facts_of(t).efas > 0 for t in types)


def quotas(parts: Parts, wanted: list[tuple[Doc, int]], cluster: str) -> None:
    """Whether the account may have this many more: `wanted` is (group spec, additional instances)."""
    delta: dict[str, int] = {}
    for spec, more in wanted:
        if spec.get("TrainingPlanArn") or more <= 0:
            continue
        for kind in (spec.get("InstanceRequirements") or {}).get("InstanceTypes") or [spec["InstanceType"]]:
            name = quota_name(spec, kind)
            delta[name] = delta.get(name, 0) + more
    used = usage(parts)
    for name, more in delta.items():
        _within(parts, name, used.get(name, 0), more)
    more = sum(m for _, m in wanted)
    total = sum(g["target"] for c in parts.world.store.list(CLUSTER) for g in c["groups"].values())
    own = parts.find(cluster)
    here = sum(g["target"] for g in own["groups"].values()) if own else 0
    if more > 0:
        _within(parts, defaults.TOTAL_INSTANCES, total, more)
        _within(parts, defaults.MAX_PER_CLUSTER, here, more)


def quota_name(spec: Doc, kind: str) -> str:
    """The quota an instance of this group counts against."""
    spot = "Spot" in (spec.get("CapacityRequirements") or {})
    return f"{kind} for cluster {'spot instance ' if spot else ''}usage"


def usage(parts: Parts) -> dict[str, int]:
    """Instances asked for in all clusters, by quota name."""
    found: dict[str, int] = {}
    for cluster in parts.world.store.list(CLUSTER):
        for held in cluster["groups"].values():
            spec: dict[str, Any] = held["spec"]
            if spec.get("TrainingPlanArn"):
                continue
            for kind in (spec.get("InstanceRequirements") or {}).get("InstanceTypes") or [spec["InstanceType"]]:
                name = quota_name(spec, kind)
                found[name] = found.get(name, 0) + held["target"]
    return found


def _within(parts: Parts, name: str, used: int, delta: int) -> None:
    limit = int(defaults.quota(parts.world, "sagemaker", name))
    if used + delta > limit:
        refuse("ResourceLimitExceeded", _LIMIT.format(name=name, limit=limit, used=used, delta=delta))
