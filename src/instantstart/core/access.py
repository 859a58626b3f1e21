"""Who is asking, and what a role may do. The faces make a Caller; nothing below them asks how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from instantstart.core.problem import FORBIDDEN

Role = Literal["viewer", "operator", "admin"]
Face = Literal["web", "rest", "mcp"]
PrincipalKind = Literal["person", "agent"]
_RANK: dict[Role, int] = {"viewer": 0, "operator": 1, "admin": 2}


@dataclass(frozen=True)
class Caller:
    """One authenticated principal on one face."""

    principal: str
    """Stable id of the principal, e.g. `admin` or a token's id."""
    name: str
    kind: PrincipalKind
    role: Role
    face: Face

    def can(self, role: Role) -> bool:
        """Whether this caller's role is at least `role`."""
        return _RANK[self.role] >= _RANK[role]

    def require(self, role: Role) -> None:
        """Raise the 403 problem unless the caller's role is at least `role`."""
        if not self.can(role):
            raise FORBIDDEN(f"This needs the role {role}; you have {self.role}.")
