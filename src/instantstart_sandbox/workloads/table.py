"""The standard behaviours, by program and image."""

from __future__ import annotations

from instantstart_sandbox.workloads.behaviours import Behaviours, Exit, Greeting, Matcher, Sleep, program
from instantstart_sandbox.workloads.shell import Shell, is_script


def standard() -> Behaviours:
    """A new table; others may be added to it."""
    table = Behaviours()
    for word, lines in _GREETINGS.items():
        table.add(_image_with(word), Greeting(*lines))
    table.add(lambda call: program(call) in ("true", "false"), Exit())
    table.add(lambda call: program(call) == "sleep", Sleep())
    table.add(is_script, Shell())
    return table


def _image_with(word: str) -> Matcher:
    return lambda call: word in call.image


_GREETINGS = {
    "amazon-k8s-cni": (
        "Installed /host/opt/cni/bin/aws-cni",
        'time="now" level=info msg="Starting IPAM daemon... "',
        'time="now" level=info msg="Copying config file... "',
        'time="now" level=info msg="Successfully copied CNI plugin binary and config file."',
    ),
    "eks/kube-proxy": (
        'I server_linux.go:132] "Using iptables Proxier"',
        'I proxier.go:259] "Setting route_localnet=1"',
    ),
    "eks/coredns": (".:53", "[INFO] plugin/reload: Running configuration", "CoreDNS-1.12.3"),
    "k8s-device-plugin": (
        "Starting FS watcher for /var/lib/kubelet/device-plugins",
        "Starting OS watcher.",
        "Registered device plugin for 'nvidia.com/gpu' with Kubelet",
    ),
    "aws-efa-k8s-device-plugin": (
        "Fetching EFA devices.",
        "EFA Device list: []",
        "Registered device plugin with Kubelet: vpc.amazonaws.com/efa",
    ),
    "hyperpod-health-monitoring-agent": (
        "Starting HyperPod health monitoring agent",
        "Watching system log and kernel messages",
    ),
}
