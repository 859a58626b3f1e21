"""The sandbox: simulated AWS and Kubernetes endpoints on loopback that real clients accept.

It imports nothing of `instantstart`, and the product never asks whether it is talking to it.
"""
