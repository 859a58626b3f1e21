"""Networks: the stack with VPC parts and roles, and the one function that gives compute subnets."""
