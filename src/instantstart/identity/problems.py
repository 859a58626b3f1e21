"""Problems of identities."""

from __future__ import annotations

from instantstart.core.problem import define

ROLE_FOREIGN = define(
    "role_foreign",
    409,
    "An IAM role of that name belongs to somebody else",
    "Choose another tag, or delete that role yourself if nobody needs it.",
)
ASSOCIATION_FOREIGN = define(
    "association_foreign",
    409,
    "The service account is bound to another role already",
    "Remove that pod identity association, or give its role the rights the detail names.",
)
OIDC_MISSING = define(
    "oidc_missing", 409, "The EKS cluster has no OIDC issuer", "Wait until the cluster is ACTIVE, then retry."
)
EKS_MISSING = define("eks_missing", 404, "There is no such EKS cluster", "Create it first.")
"""Also used when a cluster is gone in the middle of an operation."""
