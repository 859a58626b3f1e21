"""Stages of clusters: the EKS control plane, selection, the HyperPod cluster, its nodes, and the mirrors."""

from instantstart.clusters.stages import eks, hyperpod, nodes, objects, record

__all__ = ["eks", "hyperpod", "nodes", "objects", "record"]
