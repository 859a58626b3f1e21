"""Problems of clusters."""

from __future__ import annotations

from instantstart.core.problem import define

CLUSTER_NOT_FOUND = define("cluster_not_found", 404, "There is no such cluster", "List the clusters to find its tag.")
TAG_IN_USE = define(
    "tag_in_use",
    409,
    "The tag is taken",
    "Choose another tag, or ask for exactly what stands under this one.",
)
CLUSTER_NOT_MANAGED = define(
    "cluster_not_managed",
    409,
    "InstantStart did not make this cluster",
    "Change it with the tools that it was made with.",
)
CLUSTER_INCOMPLETE = define(
    "cluster_incomplete",
    409,
    "The cluster lacks what this needs",
    "Finish its creation first: retry its operation, or send cluster_create again.",
)
EKS_FOREIGN = define(
    "eks_foreign",
    409,
    "An EKS cluster of that name belongs to somebody else",
    "Choose another tag, or delete that EKS cluster yourself if nobody needs it.",
)
EKS_FAILED = define(
    "eks_failed",
    502,
    "EKS could not make the cluster",
    "Remove the cause named in the detail; then retry the stage and accept that the dead EKS cluster goes first.",
)
EKS_GONE = define("eks_gone", 409, "The EKS cluster is gone", "Retry from the stage that makes it, or begin anew.")
HYPERPOD_FOREIGN = define(
    "hyperpod_foreign",
    409,
    "A HyperPod cluster of that name belongs to somebody else",
    "Choose another tag, or delete that HyperPod cluster yourself if nobody needs it.",
)
HYPERPOD_FAILED = define(
    "hyperpod_failed",
    502,
    "HyperPod could not make the cluster",
    "Remove the cause named in the detail; then retry the stage and accept that the dead HyperPod cluster goes first.",
)
HYPERPOD_GONE = define(
    "hyperpod_gone", 409, "The HyperPod cluster is gone", "Begin the creation anew: what stands is kept."
)
HYPERPOD_DIFFERS = define(
    "hyperpod_differs",
    409,
    "The HyperPod cluster of this tag was made with other settings",
    "Ask for the same as before, or delete the cluster first.",
)
