"""Tables (SQLAlchemy Core). Times are epoch seconds of the product's clock unless a column says `wall`."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_Serial = BigInteger().with_variant(Integer, "sqlite")

operation = Table(
    "operation",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("kind", String(80), nullable=False),
    Column("cluster", String(63)),
    Column("title", String(200), nullable=False),
    Column("state", String(20), nullable=False),
    Column("revision", Integer, nullable=False, default=1),
    Column("intent", JSON, nullable=False),
    Column("intent_hash", String(64), nullable=False),
    Column("plan", JSON, nullable=False),
    Column("problem", JSON),
    Column("keys", JSON, nullable=False),
    Column("principal", String(80), nullable=False),
    Column("requested_by", String(200), nullable=False),
    Column("face", String(10), nullable=False),
    Column("verify_with", String(80), nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    Column("left_behind", JSON, nullable=False, default=list),
    Column("superseded_by", String(40)),
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("ended_at", Float),
    Index("ix_operation_cluster", "cluster", "state"),
    Index("ix_operation_state", "state"),
)
stage = Table(
    "stage",
    metadata,
    Column("operation_id", String(40), ForeignKey("operation.id"), primary_key=True),
    Column("name", String(80), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("message", String(1000)),
    Column("attention", String(1000)),
    Column("problem", JSON),
    Column("consent", JSON),
    Column("in_flight", JSON),
    Column("outputs", JSON, nullable=False, default=dict),
    Column("kept", JSON, nullable=False, default=dict),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("waiting_since", Float),
    Column("uncounted_seconds", Float, nullable=False, default=0.0),
)
attempt = Table(
    "attempt",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("operation_id", String(40), ForeignKey("operation.id"), nullable=False),
    Column("stage", String(80), nullable=False),
    Column("number", Integer, nullable=False),
    Column("effect", String(120)),
    Column("effect_class", String(10)),
    Column("subject", String(400)),
    Column("state", String(12), nullable=False),
    Column("timeout", Float),
    Column("fence", Integer, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("request_ids", JSON, nullable=False, default=list),
    Column("problem", JSON),
    Index("ix_attempt_operation", "operation_id", "stage"),
)
event = Table(
    "event",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("topic", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("type", String(60), nullable=False),
    Column("revision", Integer),
    Column("data", JSON, nullable=False, default=dict),
)
lease = Table(
    "lease",
    metadata,
    Column("operation_id", String(40), ForeignKey("operation.id"), primary_key=True),
    Column("owner", String(80)),
    Column("fence", Integer, nullable=False, default=0),
    Column("expires_wall", Float, nullable=False, default=0.0),
)
lock = Table(
    "lock",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("operation_id", String(40), nullable=False),
    Column("stage", String(80), nullable=False),
)
journal = Table(
    "journal",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("principal", String(80), nullable=False),
    Column("requested_by", String(200), nullable=False),
    Column("face", String(10), nullable=False),
    Column("kind", String(80), nullable=False),
    Column("cluster", String(63)),
    Column("operation_id", String(40)),
    Column("entry", String(20), nullable=False),
    Column("diff", JSON, nullable=False, default=list),
    Column("request_ids", JSON, nullable=False, default=list),
    Column("outcome", String(40)),
)
idempotency = Table(
    "idempotency",
    metadata,
    Column("principal", String(80), primary_key=True),
    Column("route", String(80), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("body_hash", String(64), nullable=False),
    Column("operation_id", String(40)),
    Column("status", Integer, nullable=False),
    Column("answer", JSON),
    Column("expires_wall", Float, nullable=False),
)
cluster = Table(
    "cluster",
    metadata,
    Column("tag", String(63), primary_key=True),
    Column("eks_name", String(100), nullable=False),
    Column("hyperpod_name", String(63)),
    Column("facts", JSON, nullable=False, default=dict),
    Column("created_at", Float, nullable=False),
    Column("deleted_at", Float),
)
selection = Table(
    "selection",
    metadata,
    Column("principal", String(80), primary_key=True),
    Column("cluster", String(63), nullable=False),
)
principal = Table(
    "principal",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("role", String(10), nullable=False),
)
token = Table(
    "token",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("principal", String(80), ForeignKey("principal.id"), nullable=False),
    Column("use", String(10), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("created_wall", Float, nullable=False),
    Column("expires_wall", Float),
    Column("revoked_wall", Float),
    UniqueConstraint("hash"),
)
