"""InstantStart: a control plane for foundation-model work on AWS (Amazon EKS with SageMaker HyperPod)."""

__version__ = "0.1.0"
