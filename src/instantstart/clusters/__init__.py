"""Clusters: create, list, select, look at and delete the pair of one EKS and one HyperPod cluster."""
