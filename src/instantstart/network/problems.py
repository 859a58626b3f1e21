"""Problems of networks and stacks."""

from __future__ import annotations

from instantstart.core.problem import define

STACK_FOREIGN = define(
    "stack_foreign",
    409,
    "A CloudFormation stack of that name belongs to somebody else",
    "Choose another tag, or delete that stack yourself if nobody needs it.",
)
STACK_FAILED = define(
    "stack_failed",
    502,
    "CloudFormation could not make the stack",
    "Remove the cause named in the detail; then retry the stage and accept that what is left of the stack goes first.",
)
STACK_REMOVAL_FAILED = define(
    "stack_removal_failed",
    409,
    "CloudFormation could not remove the stack",
    "Remove what still uses its objects; then retry.",
)
NETWORK_DIFFERS = define(
    "network_differs",
    409,
    "The network of this tag was made with other settings",
    "Ask for the same network as before, or delete the cluster first.",
)
SUBNET_UNFIT = define(
    "subnet_unfit", 422, "The named subnet cannot hold the nodes", "Name another subnet, or none and one is made."
)
NO_ADDRESS_SPACE = define(
    "no_address_space",
    409,
    "There is no room for a compute subnet",
    "Free a block of the VPC, or raise the quota 'IPv4 CIDR blocks per VPC'.",
)
