"""S3 mounts: what must be there, the kubelet's words when it is not, and a Job that proves it in the bucket."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.controllers.stage import CLUSTER, CORE, POD_TRUST, Stage, condition

Obj = dict[str, Any]
DRIVER = "aws-mountpoint-s3-csi-driver"
ROLE = "arn:aws:iam::123456789012:role/s3-driver"
ACTIONS = {"s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"}
PROOF = """
set -e
f="/s3/.instantstart/verify-$HOSTNAME"
echo "proof $HOSTNAME" > "$f"
test "$(cat "$f")" = "proof $HOSTNAME"
rm "$f"
test ! -e "$f"
echo proved
"""


def volume(**options: Any) -> Obj:
    return {
        "metadata": {"name": "pv-s3-claim"},
        "spec": {
            "capacity": {"storage": "1200Gi"},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "mountOptions": options.get("mount", ["allow-delete", "allow-overwrite", "region us-west-2"]),
            "csi": {
                "driver": "s3.csi.aws.com",
                "volumeHandle": "s3-csi-driver-volume-s3-claim",
                "volumeAttributes": {"bucketName": options.get("bucket", "data"), "authenticationSource": "driver"},
            },
        },
    }


def prepare(addons: tuple[str, ...] = (*CORE, DRIVER), **options: Any) -> Stage:
    stage = Stage(addons=addons)
    stage.aws.buckets["data"] = {"name": "data", "region": options.get("region", "us-west-2"), "owner": "123456789012"}
    stage.aws.roles["s3-driver"] = {
        "arn": ROLE,
        "name": "s3-driver",
        "trust": options.get("trust", POD_TRUST),
        "visible": True,
        "allowed": options.get("allowed", ACTIONS),
    }
    if options.get("associated", True):
        doc = {"namespace": "kube-system", "serviceAccount": "s3-csi-driver-sa", "roleArn": ROLE}
        stage.world.store.put("eks.pod_identity", f"{CLUSTER}/a-1", doc)
    stage.node()
    stage.wait(60)
    stage.create("persistentvolumes", volume(**options))
    claim = {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": "pv-s3-claim",
        "resources": {"requests": {"storage": "1200Gi"}},
    }
    stage.create("persistentvolumeclaims", {"metadata": {"name": "s3-claim", "namespace": "default"}, "spec": claim})
    return stage


def run(stage: Stage, script: str = PROOF) -> Obj:
    spec = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "main",
                "image": "busybox:1.36",
                "command": ["/bin/sh", "-c", script],
                "volumeMounts": [{"name": "s3", "mountPath": "/s3"}],
            }
        ],
        "volumes": [{"name": "s3", "persistentVolumeClaim": {"claimName": "s3-claim"}}],
    }
    body = {
        "metadata": {"name": "verify", "namespace": "default"},
        "spec": {"backoffLimit": 0, "template": {"spec": spec}},
    }
    stage.create("jobs.batch", body)
    stage.wait(20)
    return stage.get("jobs.batch", "verify")


def pod_of(stage: Stage) -> str:
    return str(stage.all("pods", "default")[0]["metadata"]["name"])


def mount_message(stage: Stage) -> str:
    found = stage.messages(pod_of(stage), "FailedMount")
    assert len(found) == 1
    return found[0]


def test_the_claim_binds_and_the_job_touches_the_bucket() -> None:
    stage = prepare()
    assert stage.get("persistentvolumes", "pv-s3-claim", None)["status"]["phase"] == "Bound"
    claim = stage.get("persistentvolumeclaims", "s3-claim")
    assert claim["status"] == {"phase": "Bound", "accessModes": ["ReadWriteMany"], "capacity": {"storage": "1200Gi"}}
    done = run(stage, PROOF.replace("set -e", "set -e; mkdir -p /s3/.instantstart"))
    assert stage.log(pod_of(stage)) == ["proved"]
    assert condition(done, "Complete")["status"] == "True"
    assert stage.aws.written == [f".instantstart/verify-{pod_of(stage)}"]
    assert stage.aws.objects == {}


def test_without_the_driver() -> None:
    stage = prepare(addons=CORE)
    run(stage)
    assert mount_message(stage) == (
        'MountVolume.SetUp failed for volume "pv-s3-claim" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI '
        "client: driver name s3.csi.aws.com not found in the list of registered CSI drivers"
    )


ASSUME_ONLY = {"Statement": [{**POD_TRUST["Statement"][0], "Action": "sts:AssumeRole"}]}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"associated": False}, "2: No signing credentials available"),
        ({"trust": ASSUME_ONLY}, "2: No signing credentials available"),
        ({"allowed": {"s3:GetObject"}}, "2: Forbidden: Access Denied"),
        ({"bucket": "nowhere"}, "2: The bucket does not exist"),
        ({"region": "eu-west-1"}, "2: Wrong region (expecting eu-west-1)"),
        ({"addons": (*CORE[:3], DRIVER)}, "2: No signing credentials available"),
    ],
)
def test_what_is_wrong_is_in_the_event(options: Obj, why: str) -> None:
    stage = prepare(**options)
    run(stage)
    message = mount_message(stage)
    assert message.startswith(
        'MountVolume.SetUp failed for volume "pv-s3-claim" : rpc error: code = Internal desc = Could not mount'
    )
    assert why in message
    assert stage.all("pods", "default")[0]["status"]["phase"] == "Pending"


def test_a_stale_annotation_wins_over_the_association() -> None:
    stage = prepare()
    account = stage.get("serviceaccounts", "s3-csi-driver-sa", "kube-system")
    notes = {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/gone"}
    stage.kube.update(
        CLUSTER, "serviceaccounts", {**account, "metadata": {**account["metadata"], "annotations": notes}}
    )
    run(stage)
    assert "No signing credentials available" in mount_message(stage)


def test_irsa() -> None:
    issuer = "oidc.eks.us-west-2.amazonaws.com/id/ABC"
    provider = f"arn:aws:iam::123456789012:oidc-provider/{issuer}"
    subject = "system:serviceaccount:kube-system:s3-csi-driver-sa"
    trust = {
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Federated": provider},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {"StringEquals": {f"{issuer}:sub": subject, f"{issuer}:aud": "sts.amazonaws.com"}},
            }
        ]
    }
    stage = prepare(addons=CORE, trust=trust, associated=False)
    stage.world.store.put("eks.cluster", CLUSTER, {"identity": {"oidc": {"issuer": f"https://{issuer}"}}})
    stage.addon(DRIVER, serviceAccountRoleArn=ROLE)
    stage.wait(30)
    run(stage, "ls /s3")
    assert "No signing credentials" in mount_message(stage)
    stage.aws.providers.add(provider)
    stage.wait(60)
    assert condition(stage.get("jobs.batch", "verify"), "Complete")["status"] == "True"


def test_the_fault_and_its_end() -> None:
    stage = prepare()
    stage.world.faults.add({"kind": "mount_failure", "match": "s3-claim", "count": 3})
    run(stage, "echo hello > /s3/a; cat /s3/a")
    stage.wait(30)
    assert len(stage.messages(pod_of(stage), "FailedMount")) == 1
    assert condition(stage.get("jobs.batch", "verify"), "Complete")["status"] == "True"
    assert stage.aws.objects == {("data", "a"): b"hello\n"}


def test_a_mount_without_allow_delete_refuses_rm_and_overwriting() -> None:
    stage = prepare(mount=["region us-west-2"])
    script = "echo 1 > /s3/a; echo 2 > /s3/a; rm /s3/a; mv /s3/a /s3/b; cat /s3/a"
    run(stage, script)
    assert stage.log(pod_of(stage)) == [
        "sh: can't create /s3/a: Operation not permitted",
        "rm: can't remove '/s3/a': Operation not permitted",
        "mv: can't rename '/s3/a': Function not implemented",
        "1",
    ]


def test_a_claim_in_use_waits_and_its_volume_is_released() -> None:
    stage = prepare()
    volumes = [{"name": "s3", "persistentVolumeClaim": {"claimName": "s3-claim"}}]
    stage.pod("user", volumes=volumes)
    stage.wait(10)
    stage.kube.delete(CLUSTER, "persistentvolumeclaims", "default", "s3-claim")
    stage.wait(1)
    assert "deletionTimestamp" in stage.get("persistentvolumeclaims", "s3-claim")["metadata"]
    stage.kube.delete(CLUSTER, "pods", "default", "user")
    stage.wait(5)
    assert stage.find("persistentvolumeclaims", "s3-claim") is None
    assert stage.get("persistentvolumes", "pv-s3-claim", None)["status"]["phase"] == "Released"
    stage.kube.delete(CLUSTER, "persistentvolumes", None, "pv-s3-claim")
    stage.wait(1)
    assert stage.find("persistentvolumes", "pv-s3-claim", None) is None


def test_a_claim_with_another_class_does_not_bind() -> None:
    stage = Stage()
    stage.create("persistentvolumes", volume())
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    stage.create("persistentvolumeclaims", {"metadata": {"name": "other", "namespace": "default"}, "spec": spec})
    assert stage.get("persistentvolumeclaims", "other")["status"]["phase"] == "Pending"
    assert stage.messages("other", "FailedBinding") == [
        "no persistent volumes available for this claim and no storage class is set"
    ]
    assert stage.get("persistentvolumes", "pv-s3-claim", None)["status"]["phase"] == "Available"
