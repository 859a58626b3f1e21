"""Nodes: one machine each, HyperPod's and Kubernetes' views joined."""
