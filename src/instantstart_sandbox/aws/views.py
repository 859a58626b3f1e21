"""What the simulated services ask of each other: through the bridge that clients use, so that it is replayed too."""

from __future__ import annotations

import fnmatch
from typing import Any

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.messages import WireRequest
from instantstart_sandbox.aws.moto_bridge import MotoBridge
from instantstart_sandbox.world import World

Doc = dict[str, Any]
PROPAGATION_SECONDS = 10.0
_MANAGED_TAG = "sandbox:requester-managed"


class _Body:
    """The raw body that botocore's response object reads."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Any:
        yield self._content

    def read(self, *_: Any, **__: Any) -> bytes:
        content, self._content = self._content, b""
        return content


class AwsViews:
    """Synchronous access to what the bridged services hold."""

    def __init__(self, world: World, bridge: MotoBridge) -> None:
        self._world, self._bridge = world, bridge
        self._session = boto3.Session("inside", "inside", region_name=world.account.region)
        self._clients: dict[str, Any] = {}

    def call(self, service: str, operation: str, **params: Any) -> Doc:
        """A boto-shaped call (`create_network_interface`); raises AwsError with the service's own code."""
        try:
            answer: Doc = getattr(self._client(service), operation)(**params)
        except ClientError as error:
            said = error.response["Error"]
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            raise AwsError(said["Code"], said["Message"], status) from None
        return answer

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            config = Config(
                retries={"total_max_attempts": 1},
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
            )
            client = self._session.client(service, config=config)
            client.meta.events.register("before-send", lambda request, **_: self._send(service, request))
            self._clients[service] = client
        return self._clients[service]

    def _send(self, service: str, request: AWSPreparedRequest) -> AWSResponse:
        path, _, query = request.url.split("://", 1)[1].partition("/")[2].partition("?")
        body = request.body or b""
        if hasattr(body, "seek"):
            body.seek(0)
        content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else body.read()
        headers = {k.lower(): v.decode() if isinstance(v, bytes) else str(v) for k, v in request.headers.items()}
        wire = WireRequest(
            request.method, f"/{path}", query, headers, content, service, self._world.account.region, "inside"
        )
        answer = self._bridge.handle(wire)
        return AWSResponse(request.url, answer.status, answer.headers, _Body(answer.body))

    def _found(self, service: str, operation: str, **params: Any) -> Doc | None:
        try:
            return self.call(service, operation, **params)
        except AwsError as error:
            if any(word in error.code for word in ("NotFound", "NoSuch", "404", "Malformed", "NotExist")):
                return None
            raise

    # -- iam

    def role(self, arn_or_name: str) -> Doc | None:
        """{arn, name, trust, policies, created_epoch, visible} or None; visible 10 s after it was made."""
        name = arn_or_name.rpartition("/")[2]
        found = self._found("iam", "get_role", RoleName=name)
        if found is None:
            return None
        role = found["Role"]
        created = role["CreateDate"].timestamp()
        attached = self.call("iam", "list_attached_role_policies", RoleName=name)["AttachedPolicies"]
        inline = self.call("iam", "list_role_policies", RoleName=name)["PolicyNames"]
        return {
            "arn": role["Arn"],
            "name": name,
            "trust": role["AssumeRolePolicyDocument"],
            "policies": [p["PolicyArn"] for p in attached],
            "inline": {
                p: self.call("iam", "get_role_policy", RoleName=name, PolicyName=p)["PolicyDocument"] for p in inline
            },
            "created_epoch": created,
            "visible": self._world.clock.time() - created >= PROPAGATION_SECONDS,
        }

    def role_can(self, role_name: str, action: str, resource: str) -> bool:
        """Whether the role's inline or attached policies allow the action on the resource; an explicit deny wins."""
        role = self.role(role_name)
        if role is None:
            return False
        documents = [*role["inline"].values(), *(self._document(arn) for arn in role["policies"])]
        effects = [
            s["Effect"]
            for d in documents
            for s in _many(d.get("Statement", []))
            if _matches(s.get("Action"), action.lower(), lower=True) and _matches(s.get("Resource"), resource)
        ]
        return "Allow" in effects and "Deny" not in effects

    def _document(self, arn: str) -> Doc:
        policy = self._found("iam", "get_policy", PolicyArn=arn)
        if policy is None:
            return {}
        version = policy["Policy"]["DefaultVersionId"]
        found = self.call("iam", "get_policy_version", PolicyArn=arn, VersionId=version)
        document: Doc = found["PolicyVersion"]["Document"]
        return document

    def oidc_provider(self, arn: str) -> Doc | None:
        """{arn, url, clients} of an OpenID Connect provider, or None."""
        found = self._found("iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn)
        return None if found is None else {"arn": arn, "url": found["Url"], "clients": found["ClientIDList"]}

    # -- s3

    def bucket(self, name: str) -> Doc | None:
        """{name, region, owner} or None."""
        found = self._found("s3", "get_bucket_location", Bucket=name)
        if found is None:
            return None
        region = found.get("LocationConstraint") or "us-east-1"
        return {"name": name, "region": region, "owner": self._world.account.account_id}

    def get_object(self, bucket: str, key: str) -> bytes | None:
        """Content of an object, or None."""
        found = self._found("s3", "get_object", Bucket=bucket, Key=key)
        return None if found is None else bytes(found["Body"].read())

    def put_object(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object."""
        self.call("s3", "put_object", Bucket=bucket, Key=key, Body=content)

    def delete_object(self, bucket: str, key: str) -> None:
        """Remove an object."""
        self.call("s3", "delete_object", Bucket=bucket, Key=key)

    def list_objects(self, bucket: str, prefix: str = "") -> list[str]:
        """Keys below a prefix; [] when there is no such bucket."""
        found = self._found("s3", "list_objects_v2", Bucket=bucket, Prefix=prefix)
        return [o["Key"] for o in (found or {}).get("Contents", [])]

    # -- ec2

    def vpc(self, vpc_id: str) -> Doc | None:
        """The VPC as DescribeVpcs shows it, with `vpc_id`; or None."""
        found = self._found("ec2", "describe_vpcs", VpcIds=[vpc_id])
        return {**found["Vpcs"][0], "vpc_id": vpc_id} if found else None

    def subnet(self, subnet_id: str) -> Doc | None:
        """{subnet_id, vpc_id, zone, zone_id, cidr, free_addresses} or None."""
        found = self._found("ec2", "describe_subnets", SubnetIds=[subnet_id])
        if not found:
            return None
        s = found["Subnets"][0]
        return {
            "subnet_id": subnet_id,
            "vpc_id": s["VpcId"],
            "zone": s["AvailabilityZone"],
            "zone_id": s["AvailabilityZoneId"],
            "cidr": s["CidrBlock"],
            "free_addresses": s["AvailableIpAddressCount"],
        }

    def security_group(self, group_id: str) -> Doc | None:
        """The security group as DescribeSecurityGroups shows it, with `group_id` and `vpc_id`; or None."""
        found = self._found("ec2", "describe_security_groups", GroupIds=[group_id])
        if not found:
            return None
        group = found["SecurityGroups"][0]
        return {**group, "group_id": group_id, "vpc_id": group["VpcId"]}

    def create_interface(
        self, subnet_id: str, security_groups: list[str], description: str, requester_managed: bool = True
    ) -> Doc:
        """A new interface {eni_id, private_ip}; raises the error of a subnet without free addresses."""
        tags = [{"Key": _MANAGED_TAG, "Value": str(requester_managed).lower()}]
        made = self.call(
            "ec2",
            "create_network_interface",
            SubnetId=subnet_id,
            Groups=security_groups,
            Description=description,
            TagSpecifications=[{"ResourceType": "network-interface", "Tags": tags}],
        )["NetworkInterface"]
        return {"eni_id": made["NetworkInterfaceId"], "private_ip": made["PrivateIpAddress"]}

    def delete_interface(self, eni_id: str) -> None:
        """Remove an interface; nothing happens when it is gone."""
        self._found("ec2", "delete_network_interface", NetworkInterfaceId=eni_id)

    def counts(self) -> dict[str, int]:
        """How many there are of what people count, by kind."""
        shown = {
            "ec2.vpc": ("ec2", "describe_vpcs", "Vpcs"),
            "ec2.subnet": ("ec2", "describe_subnets", "Subnets"),
            "ec2.security_group": ("ec2", "describe_security_groups", "SecurityGroups"),
            "ec2.network_interface": ("ec2", "describe_network_interfaces", "NetworkInterfaces"),
            "iam.role": ("iam", "list_roles", "Roles"),
            "s3.bucket": ("s3", "list_buckets", "Buckets"),
        }
        return {kind: len(self.call(service, op).get(key, [])) for kind, (service, op, key) in shown.items()}


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _matches(patterns: Any, text: str, *, lower: bool = False) -> bool:
    return any(fnmatch.fnmatchcase(text, p.lower() if lower else p) for p in _many(patterns))
