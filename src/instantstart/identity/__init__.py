"""Identities: access entries, the OIDC provider, and the chain service account, role, trust, annotation."""
