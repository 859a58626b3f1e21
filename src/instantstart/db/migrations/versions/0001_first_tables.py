"""Tables of operations, events, clusters and access"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _operations() -> None:
    op.create_table(
        "operation",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=80), nullable=False),
        sa.Column("cluster", sa.String(length=63), nullable=True),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("intent", sa.JSON(), nullable=False),
        sa.Column("intent_hash", sa.String(length=64), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("face", sa.String(length=10), nullable=False),
        sa.Column("verify_with", sa.String(length=80), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("left_behind", sa.JSON(), nullable=False),
        sa.Column("superseded_by", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operation")),
    )
    with op.batch_alter_table("operation", schema=None) as batch_op:
        batch_op.create_index("ix_operation_cluster", ["cluster", "state"], unique=False)
        batch_op.create_index("ix_operation_state", ["state"], unique=False)
    op.create_table(
        "stage",
        sa.Column("operation_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(length=1000), nullable=True),
        sa.Column("attention", sa.String(length=1000), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("consent", sa.JSON(), nullable=True),
        sa.Column("in_flight", sa.JSON(), nullable=True),
        sa.Column("outputs", sa.JSON(), nullable=False),
        sa.Column("kept", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("waiting_since", sa.Float(), nullable=True),
        sa.Column("uncounted_seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["operation_id"], ["operation.id"], name=op.f("fk_stage_operation_id")),
        sa.PrimaryKeyConstraint("operation_id", "name", name=op.f("pk_stage")),
    )


def _sending() -> None:
    op.create_table(
        "attempt",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("operation_id", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=80), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("effect", sa.String(length=120), nullable=True),
        sa.Column("effect_class", sa.String(length=10), nullable=True),
        sa.Column("subject", sa.String(length=400), nullable=True),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("timeout", sa.Float(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("request_ids", sa.JSON(), nullable=False),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["operation_id"], ["operation.id"], name=op.f("fk_attempt_operation_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
    )
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.create_index("ix_attempt_operation", ["operation_id", "stage"], unique=False)
    op.create_table(
        "lease",
        sa.Column("operation_id", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.String(length=80), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("expires_wall", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["operation_id"], ["operation.id"], name=op.f("fk_lease_operation_id")),
        sa.PrimaryKeyConstraint("operation_id", name=op.f("pk_lease")),
    )
    op.create_table(
        "lock",
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("operation_id", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=80), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_lock")),
    )


def _records() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("topic", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("type", sa.String(length=60), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_table(
        "journal",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("face", sa.String(length=10), nullable=False),
        sa.Column("kind", sa.String(length=80), nullable=False),
        sa.Column("cluster", sa.String(length=63), nullable=True),
        sa.Column("operation_id", sa.String(length=40), nullable=True),
        sa.Column("entry", sa.String(length=20), nullable=False),
        sa.Column("diff", sa.JSON(), nullable=False),
        sa.Column("request_ids", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
    )
    op.create_table(
        "idempotency",
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("route", sa.String(length=80), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("operation_id", sa.String(length=40), nullable=True),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("expires_wall", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "route", "key", name=op.f("pk_idempotency")),
    )


def _clusters_and_access() -> None:
    op.create_table(
        "cluster",
        sa.Column("tag", sa.String(length=63), nullable=False),
        sa.Column("eks_name", sa.String(length=100), nullable=False),
        sa.Column("hyperpod_name", sa.String(length=63), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("deleted_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_cluster")),
    )
    op.create_table(
        "selection",
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("cluster", sa.String(length=63), nullable=False),
        sa.PrimaryKeyConstraint("principal", name=op.f("pk_selection")),
    )
    op.create_table(
        "principal",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_principal")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("principal", sa.String(length=80), nullable=False),
        sa.Column("use", sa.String(length=10), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_wall", sa.Float(), nullable=False),
        sa.Column("expires_wall", sa.Float(), nullable=True),
        sa.Column("revoked_wall", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["principal"], ["principal.id"], name=op.f("fk_token_principal")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )


def upgrade() -> None:
    _operations()
    _sending()
    _records()
    _clusters_and_access()


def downgrade() -> None:
    for name in (
        "token",
        "principal",
        "selection",
        "cluster",
        "idempotency",
        "journal",
        "event",
        "lock",
        "lease",
        "attempt",
        "stage",
        "operation",
    ):
        op.drop_table(name)
