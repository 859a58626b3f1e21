"""Problems of add-ons and charts."""

from __future__ import annotations

from instantstart.core.problem import define

ADDON_FAILED = define(
    "addon_failed",
    502,
    "EKS could not install an add-on",
    "Remove the cause named in the detail; then retry the stage and accept that the failed add-on is removed first.",
)
ADDON_FOREIGN_FAILED = define(
    "addon_foreign_failed",
    409,
    "An add-on that somebody else installed has failed",
    "Repair or delete that add-on yourself, then retry.",
)
ADDON_UNSUPPORTED = define(
    "addon_unsupported",
    409,
    "EKS has no version of an add-on for this Kubernetes version",
    "Choose another Kubernetes version.",
)
CHART_FOREIGN_FAILED = define(
    "chart_foreign_failed",
    409,
    "A release of the HyperPod chart that somebody else installed has failed",
    "Repair or uninstall that release yourself, then retry.",
)
