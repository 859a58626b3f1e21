"""Routes of logging in, and of tokens. Tokens are a person's business: REST and browser only, no tools."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from instantstart import __version__
from instantstart.core.access import Caller, PrincipalKind, Role
from instantstart.core.problem import FORBIDDEN, UNAUTHENTICATED, Problem, ProblemError
from instantstart.faces.accounts import LOGIN_CODE_SECONDS, SESSION_SECONDS, TOKEN_NOT_FOUND, Accounts
from instantstart.faces.auth import cookie_name
from instantstart.operations.routing import SliceRouter, caller_of
from instantstart.operations.services import Services

router = SliceRouter(tags=["session"])


class LoginRequest(BaseModel):
    """Body of a login."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=200, description="The one-time code from the login address.")


class SessionView(BaseModel):
    """Who is asking, and what they should know about this service."""

    principal: str
    name: str
    kind: PrincipalKind
    role: Role
    notice: str | None = Field(description="Text of the banner, if there is one.")
    control: bool = Field(description="Whether /api/v1/control/ leads anywhere.")
    version: str
    region: str
    account: str | None = Field(description="AWS account id; None while AWS cannot be reached.")


class TokenCreate(BaseModel):
    """Body of making a token."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100, description="Whose it is, as people will read it.")
    kind: PrincipalKind = "agent"
    role: Role = "operator"
    days: int | None = Field(default=None, ge=1, le=3650, description="Days until it expires; never when absent.")

    @model_validator(mode="after")
    def agents_are_not_admins(self) -> TokenCreate:
        """An agent's token is read-only or operator."""
        if self.kind == "agent" and self.role == "admin":
            raise ValueError("an agent's token is viewer or operator")
        return self


class TokenView(BaseModel):
    """One bearer token, without its text."""

    id: str
    name: str
    kind: PrincipalKind
    role: Role
    created_at: datetime
    expires_at: datetime | None


class TokenMade(TokenView):
    """A token that was just made."""

    token: str = Field(description="Shown this once.")


class LoginCode(BaseModel):
    """A one-time code for `/#login=`."""

    code: str
    expires_at: datetime


def _accounts(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


def _time(wall: float | None) -> datetime | None:
    return None if wall is None else datetime.fromtimestamp(wall, UTC)


async def _account_id(services: Services) -> str | None:
    try:
        account = await services.aws.account()
    except ProblemError:
        return None
    return str(account.account_id)


async def _view(request: Request, caller: Caller) -> SessionView:
    settings, services = request.app.state.shown, request.app.state.services
    return SessionView(
        principal=caller.principal,
        name=caller.name,
        kind=caller.kind,
        role=caller.role,
        notice=settings.notice or None,
        control=settings.control,
        version=__version__,
        region=services.options.region,
        account=await _account_id(services),
    )


@router.post(
    "/session",
    operation_id="session_create",
    response_model=SessionView,
    responses={401: {"model": Problem, "description": "unauthenticated"}},
    openapi_extra={"x-access": "anonymous", "x-kind": "M"},
)
async def session_create(request: Request, response: Response, body: LoginRequest) -> SessionView:
    """Exchange a one-time login code for a session cookie."""
    accounts = _accounts(request)
    account = await accounts.redeem(body.code)
    if account is None:
        raise UNAUTHENTICATED(
            "The login code is unknown, used or older than 10 minutes.",
            remedy="Get a new one with: instantstart token login-code",
        )
    session = await accounts.make_secret(account.principal, "session", SESSION_SECONDS)
    response.set_cookie(
        cookie_name(request.app.state.shown.port),
        session.text,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return await _view(request, Caller(account.principal, account.name, account.kind, account.role, "web"))


@router.tool("GET", "/session", name="session_get", access="viewer", kind="R", tool=False, answer=SessionView)
async def session_get(request: Request) -> SessionView:
    """Who is asking, and what this service is."""
    return await _view(request, caller_of(request))


@router.tool("DELETE", "/session", name="session_delete", access="viewer", kind="M", tool=False, status_code=204)
async def session_delete(request: Request, response: Response) -> None:
    """Log out: end this browser session."""
    if caller_of(request).face == "web":
        await _accounts(request).revoke(request.state.token_id)
    response.delete_cookie(cookie_name(request.app.state.shown.port), httponly=True, samesite="strict")


def _person(request: Request) -> Caller:
    caller = caller_of(request)
    if caller.kind != "person":
        raise FORBIDDEN("Tokens are a person's business.")
    return caller


@router.tool("GET", "/tokens", name="token_list", access="admin", kind="R", tool=False, answer=list[TokenView])
async def token_list(request: Request) -> list[TokenView]:
    """Every bearer token that is not revoked."""
    _person(request)
    return [
        TokenView(
            id=row["id"],
            name=row["name"],
            kind=row["kind"],
            role=row["role"],
            created_at=datetime.fromtimestamp(row["created_wall"], UTC),
            expires_at=_time(row["expires_wall"]),
        )
        for row in await _accounts(request).bearer_tokens()
    ]


@router.tool(
    "POST", "/tokens", name="token_create", access="admin", kind="M", tool=False, answer=TokenMade, status_code=201
)
async def token_create(request: Request, body: TokenCreate) -> TokenMade:
    """Make a bearer token for a person or an agent. Its text is in this answer only."""
    _person(request)
    accounts = _accounts(request)
    owner = await accounts.make_principal(body.name, body.kind, body.role)
    secret = await accounts.make_secret(owner, "bearer", None if body.days is None else body.days * 86_400)
    return TokenMade(
        id=secret.id,
        name=body.name,
        kind=body.kind,
        role=body.role,
        created_at=datetime.now(UTC),
        expires_at=_time(secret.expires_wall),
        token=secret.text,
    )


@router.tool(
    "DELETE",
    "/tokens/{token_id}",
    name="token_revoke",
    access="admin",
    kind="M",
    tool=False,
    status_code=204,
    problems=[TOKEN_NOT_FOUND],
)
async def token_revoke(request: Request, token_id: str) -> None:
    """Revoke a bearer token, at once."""
    _person(request)
    await _accounts(request).revoke(token_id)


@router.tool(
    "POST",
    "/login-codes",
    name="login_code_create",
    access="viewer",
    kind="M",
    tool=False,
    answer=LoginCode,
    status_code=201,
)
async def login_code_create(request: Request) -> LoginCode:
    """A one-time code with which the same person can log in in a browser, within 10 minutes."""
    caller: Caller = _person(request)
    secret = await _accounts(request).make_secret(caller.principal, "login", LOGIN_CODE_SECONDS)
    return LoginCode(code=secret.text, expires_at=datetime.fromtimestamp(secret.expires_wall or 0, UTC))
