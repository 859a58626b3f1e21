"""Real clients against the TLS endpoint: kubectl, helm and lightkube."""

from __future__ import annotations

import json
from pathlib import Path

import lightkube
import pytest
from lightkube.core.exceptions import ApiError
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Node

from tests.sandbox.kube.endpoint import CLUSTER, Endpoint

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1", env: [{name: A, value: "1"}]}]}
"""


class Shell:
    """kubectl in one namespace."""

    def __init__(self, endpoint: Endpoint, program: str, namespace: str) -> None:
        self.endpoint, self.program, self.namespace = endpoint, program, namespace
        self("create", "namespace", namespace, cluster=True)

    def __call__(self, *args: str, stdin: str = "", fails: bool = False, cluster: bool = False) -> str:
        scope = () if cluster else ("-n", self.namespace)
        done = self.endpoint.command(self.program, *scope, *args, stdin=stdin)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout


@pytest.fixture
def kubectl(endpoint: Endpoint, programs: dict[str, str], request: pytest.FixtureRequest) -> Shell:
    name = request.node.name.partition("[")[0].replace("_", "-")[-50:].strip("-")
    return Shell(endpoint, programs["kubectl"], name)


def test_get_shows_real_columns(kubectl: Shell) -> None:
    assert kubectl("get", "namespaces", cluster=True).split()[:3] == ["NAME", "STATUS", "AGE"]
    assert "service/kubernetes" in kubectl("get", "all", "-A", cluster=True)
    assert "v1.34" in kubectl("version", cluster=True)


def test_create_describe_and_delete(kubectl: Shell) -> None:
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    assert "a:\n----\nb" in kubectl("describe", "configmap", "c")
    assert json.loads(kubectl("get", "configmap", "c", "-o", "json"))["data"] == {"a": "b"}
    assert "already exists" in kubectl("create", "configmap", "c", fails=True)
    kubectl("delete", "configmap", "c")
    assert "NotFound" in kubectl("get", "configmap", "c", fails=True)


def test_typed_bodies_arrive(kubectl: Shell) -> None:
    kubectl("create", "deployment", "d", "--image=nginx:1", "--replicas=2", "--port=80")
    kubectl("create", "job", "j", "--image=busybox", "--", "ls", "/")
    kubectl("create", "secret", "generic", "s", "--from-literal=p=w")
    kubectl("create", "role", "r", "--verb=get", "--resource=pods")
    kubectl("create", "rolebinding", "b", "--role=r", "--user=dev")
    found = json.loads(kubectl("get", "deployment", "d", "-o", "json"))["spec"]
    assert (found["replicas"], found["template"]["spec"]["containers"][0]["ports"][0]["containerPort"]) == (2, 80)
    assert kubectl("auth", "can-i", "list", "pods", "--as=dev", fails=True) == ""
    assert kubectl("auth", "can-i", "get", "pods", "--as=dev").strip() == "yes"
    assert kubectl("create", "token", "default").count(".") == 2


def test_apply_both_ways(kubectl: Shell) -> None:
    assert kubectl("apply", "-f", "-", stdin=MANIFEST).strip() == "deployment.apps/web created"
    assert kubectl("apply", "-f", "-", stdin=MANIFEST).strip() == "deployment.apps/web unchanged"
    changed = MANIFEST.replace("nginx:1", "nginx:2")
    assert kubectl("apply", "-f", "-", stdin=changed).strip() == "deployment.apps/web configured"
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=changed)
    kubectl("scale", "deployment", "web", "--replicas=5")
    refused = kubectl("apply", "--server-side", "-f", "-", stdin=changed, fails=True)
    assert ".spec.replicas" in refused
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=changed)
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "2"


def test_invalid_objects_are_named(kubectl: Shell) -> None:
    wrong = MANIFEST.replace("app: web}}\n  template", "app: other}}\n  template")
    assert "`selector` does not match template `labels`" in kubectl("apply", "-f", "-", stdin=wrong, fails=True)
    unknown = MANIFEST.replace("replicas:", "replicaz:")
    assert 'unknown field "spec.replicaz"' in kubectl("apply", "-f", "-", stdin=unknown, fails=True)


def test_logs_wait_and_explain(endpoint: Endpoint, kubectl: Shell) -> None:
    kubectl("run", "p", "--image=busybox")
    space = kubectl.namespace
    endpoint.run(endpoint.api.create, CLUSTER, "nodes", {"metadata": {"name": f"n-{space}"}})
    pod = endpoint.api.get(CLUSTER, "pods", space, "p")
    assert pod is not None
    ready = {"type": "Ready", "status": "True"}
    running = {
        "name": "p",
        "image": "busybox",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {}},
    }
    status = {**pod["status"], "phase": "Running", "conditions": [ready], "containerStatuses": [running]}
    placed = {**pod, "spec": {**pod["spec"], "nodeName": f"n-{space}"}, "status": status}
    endpoint.run(endpoint.api.write, CLUSTER, "pods", placed)
    endpoint.run(endpoint.api.logs.append, CLUSTER, space, "p", "p", "one\ntwo")
    assert kubectl("logs", "p", "--tail=1") == "two\n"
    assert "condition met" in kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=10s")
    assert "1/1" in kubectl("get", "pods")
    assert "containers\t<[]Container>" in kubectl("explain", "pod.spec")


def test_custom_definition_is_served_at_once(kubectl: Shell) -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9, "default": 4}}}
        },
    }
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [column],
    }
    names = {"plural": "gizmos", "singular": "gizmo", "kind": "Gizmo", "shortNames": ["gz"]}
    spec = {"group": "test.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.test.example.com"},
        "spec": spec,
    }
    kubectl("apply", "-f", "-", stdin=json.dumps(crd), cluster=True)
    kubectl("wait", "--for=condition=Established", "crd/gizmos.test.example.com", "--timeout=5s", cluster=True)
    gizmo = {"apiVersion": "test.example.com/v1", "kind": "Gizmo", "metadata": {"name": "one"}, "spec": {}}
    kubectl("apply", "-f", "-", stdin=json.dumps(gizmo))
    assert kubectl("get", "gz").split()[:4] == ["NAME", "SIZE", "one", "4"]
    refused = kubectl("apply", "-f", "-", stdin=json.dumps({**gizmo, "spec": {"size": 99}}), fails=True)
    assert "should be less than or equal to 9" in refused


def test_helm_keeps_releases(endpoint: Endpoint, programs: dict[str, str], kubectl: Shell, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: tiny\nversion: 0.1.0\n")
    (tmp_path / "values.yaml").write_text("color: red\n")
    (tmp_path / "templates" / "cm.yaml").write_text(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\n'
        'data: {color: "{{ .Values.color }}"}\n'
    )

    def helm(*args: str) -> str:
        done = endpoint.command(programs["helm"], "-n", kubectl.namespace, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    helm("install", "r", str(tmp_path))
    helm("upgrade", "r", str(tmp_path), "--set", "color=blue")
    assert kubectl("get", "configmap", "r", "-o", "jsonpath={.data.color}") == "blue"
    release = json.loads(helm("list", "-o", "json"))[0]
    assert (release["name"], release["revision"], release["status"]) == ("r", "2", "deployed")
    helm("rollback", "r", "1")
    assert kubectl("get", "configmap", "r", "-o", "jsonpath={.data.color}") == "red"
    helm("uninstall", "r")
    assert "NotFound" in kubectl("get", "configmap", "r", fails=True)


def lightkube_client(endpoint: Endpoint) -> lightkube.Client:
    config = lightkube.KubeConfig.from_file(endpoint.kubeconfig)
    return lightkube.Client(config=config, field_manager="test")


def test_lightkube_applies_and_watches(endpoint: Endpoint) -> None:
    client = lightkube_client(endpoint)
    first = client.apply(ConfigMap(metadata=ObjectMeta(name="lk", namespace="default"), data={"a": "1"}))
    assert first.metadata is not None
    version = first.metadata.resourceVersion
    client.apply(ConfigMap(metadata=ObjectMeta(name="lk", namespace="default"), data={"a": "2"}))
    client.delete(ConfigMap, "lk", namespace="default")
    seen = []
    for event, item in client.watch(
        ConfigMap, namespace="default", fields={"metadata.name": "lk"}, resource_version=version
    ):
        seen.append((event, (item.data or {})["a"]))
        if event == "DELETED":
            break
    assert seen == [("MODIFIED", "2"), ("DELETED", "2")]


def test_lightkube_conflict(endpoint: Endpoint) -> None:
    client = lightkube_client(endpoint)
    meta = ObjectMeta(labels={"a": "b"})
    pod = PodTemplateSpec(metadata=meta, spec=PodSpec(containers=[Container(name="c", image="i")]))
    spec = DeploymentSpec(replicas=1, selector=LabelSelector(matchLabels={"a": "b"}), template=pod)
    mine = Deployment(metadata=ObjectMeta(name="c", namespace="default"), spec=spec)
    client.apply(mine, field_manager="one")
    spec.replicas = 3
    with pytest.raises(ApiError) as refused:
        client.apply(mine, field_manager="two")
    assert refused.value.status.code == 409
    client.apply(mine, field_manager="two", force=True)


def test_many_nodes_list_in_pages(endpoint: Endpoint) -> None:
    client = lightkube_client(endpoint)
    labels = {"fleet": "pages"}
    for i in range(60):
        endpoint.run(endpoint.api.create, CLUSTER, "nodes", {"metadata": {"name": f"page-{i:03d}", "labels": labels}})
    found = list(client.list(Node, labels={"fleet": "pages"}, chunk_size=25))
    assert [n.metadata.name for n in found if n.metadata] == [f"page-{i:03d}" for i in range(60)]
