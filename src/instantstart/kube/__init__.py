"""Kubernetes: one client per EKS cluster, errors as problems, Helm. Knows no nouns of the product."""
