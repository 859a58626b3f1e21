"""Cluster addresses and node ports of Services: given out from the cluster's ranges, kept on update."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from instantstart_sandbox.kube.status import Cause, invalid
from instantstart_sandbox.kube.store import ClusterState

if TYPE_CHECKING:
    from instantstart_sandbox.kube.engine import Engine

Obj = dict[str, Any]
_PORTS = (30000, 32767)


def _used(state: ClusterState) -> tuple[set[str], set[int]]:
    addresses: set[str] = set()
    ports: set[int] = set()
    for entry in state.table("services").entries.values():
        spec = entry.obj["spec"]
        addresses.update(spec.get("clusterIPs") or [])
        ports.update(p["nodePort"] for p in spec.get("ports") or [] if p.get("nodePort"))
    return addresses, ports


def assign(engine: Engine, state: ClusterState, obj: Obj, old: Obj | None) -> None:
    """Give a Service what its type needs, in place; ApiError 422 for an address or port that is not to be had."""
    spec = obj["spec"]
    kind = spec.get("type")
    former = old["spec"] if old else {}
    if kind == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            spec.pop(name, None)
        return
    _address(engine, state, obj, former)
    spec.setdefault("ipFamilies", former.get("ipFamilies", ["IPv4"]))
    spec.setdefault("ipFamilyPolicy", former.get("ipFamilyPolicy", "SingleStack"))
    if kind in ("NodePort", "LoadBalancer") and spec.get("allocateLoadBalancerNodePorts", True):
        _node_ports(engine, state, obj, former)
    elif old is not None:
        for port in spec.get("ports") or []:
            if former.get("type") in ("NodePort", "LoadBalancer"):
                port.pop("nodePort", None)


def _address(engine: Engine, state: ClusterState, obj: Obj, former: Obj) -> None:
    spec = obj["spec"]
    if not spec.get("clusterIP") and former.get("clusterIP"):
        spec["clusterIP"] = former["clusterIP"]
    address = spec.get("clusterIP")
    if address and address != "None" and address != former.get("clusterIP"):
        _check(state, obj, address)
    if not address:
        used, _ = _used(state)
        network = ipaddress.ip_network(state.doc.get("service_cidr", "10.100.0.0/16"))
        size = network.num_addresses
        at = int(engine.world.ids.random() * (size - 20)) + 10
        while str(network[at]) in used:
            at = at % (size - 2) + 1
        spec["clusterIP"] = str(network[at])
    spec["clusterIPs"] = [spec["clusterIP"]]


def _check(state: ClusterState, obj: Obj, address: str) -> None:
    name = obj["metadata"]["name"]
    network = ipaddress.ip_network(state.doc.get("service_cidr", "10.100.0.0/16"))
    used, _ = _used(state)
    try:
        inside = ipaddress.ip_address(address) in network
    except ValueError:
        return
    why = "provided IP is already allocated" if address in used else ""
    if not inside:
        why = f"the provided network does not match the current range ({network})"
    if why:
        text = f'Invalid value: ["{address}"]: failed to allocate IP {address}: {why}'
        raise invalid("Service", "", name, [Cause("spec.clusterIPs", "FieldValueInvalid", text)])


def _node_ports(engine: Engine, state: ClusterState, obj: Obj, former: Obj) -> None:
    _, used = _used(state)
    kept = {(p.get("name"), p.get("port")): p.get("nodePort") for p in former.get("ports") or []}
    mine = {p.get("nodePort") for p in former.get("ports") or []}
    for i, port in enumerate(obj["spec"].get("ports") or []):
        wanted = port.get("nodePort") or kept.get((port.get("name"), port.get("port")))
        if wanted:
            _check_port(obj, i, wanted, used - mine)
            port["nodePort"] = wanted
            continue
        low, high = _PORTS
        number = low + int(engine.world.ids.random() * (high - low))
        while number in used:
            number = low + (number - low + 1) % (high - low)
        used.add(number)
        port["nodePort"] = number


def _check_port(obj: Obj, index: int, port: int, used: set[int]) -> None:
    low, high = _PORTS
    text = ""
    if not low <= port <= high:
        text = (
            f"Invalid value: {port}: provided port is not in the valid range. The range of valid ports is {low}-{high}"
        )
    elif port in used:
        text = f"Invalid value: {port}: provided port is already allocated"
    if text:
        cause = Cause(f"spec.ports[{index}].nodePort", "FieldValueInvalid", text)
        raise invalid("Service", "", obj["metadata"]["name"], [cause])
