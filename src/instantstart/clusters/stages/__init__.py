"""Stages of clusters: the EKS control plane, selection, the HyperPod cluster, its nodes, and the mirrors.

Importing this package registers every stage that a journey names, those of the lower slices among them.
"""

from instantstart.addons import stages as addons
from instantstart.clusters.stages import eks, hyperpod, nodes, objects, record
from instantstart.identity import stages as identity
from instantstart.network import stages as network
from instantstart.storage import stages as storage

__all__ = ["addons", "eks", "hyperpod", "identity", "network", "nodes", "objects", "record", "storage"]
