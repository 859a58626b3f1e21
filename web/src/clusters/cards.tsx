// The cards of a cluster's overview.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import type { ClusterStatus } from "../api/types";
import { Findings } from "../parts/Findings";
import { PageLink } from "../parts/follow";
import { ForeignBadge, OperationBadge } from "../parts/StateBadge";
import { paths } from "../paths";
import { progressWords } from "../operations/words";

interface Props {
  status: ClusterStatus;
}

export function NeedsYou({ status }: Props) {
  const findings = status.attention ?? [];
  const failed = (status.operations ?? []).filter((o) => o.state === "failed" || (o.attention ?? []).length > 0);
  return (
    <Container header={<Header variant="h2">Needs you</Header>}>
      {findings.length + failed.length === 0 ? (
        <StatusIndicator type="success">Nothing needs you.</StatusIndicator>
      ) : (
        <SpaceBetween size="s">
          {failed.slice(0, 5).map((o) => (
            <div key={o.id}>
              <OperationBadge state={o.state} /> <PageLink href={paths.operation(o.id)}>{o.title}</PageLink>{" "}
              <span className="untrusted">{o.attention?.[0] ?? o.problem?.detail}</span>
            </div>
          ))}
          <Findings findings={findings.slice(0, 5)} />
        </SpaceBetween>
      )}
    </Container>
  );
}

export function Halves({ status }: Props) {
  const half = (h: ClusterStatus["eks"]) => (
    <>
      <ForeignBadge word={h?.status} />
      <div className="small">{h?.name}</div>
      {h?.message && <div className="small untrusted">{h.message}</div>}
    </>
  );
  return (
    <Container header={<Header variant="h2">State</Header>} fitHeight>
      <KeyValuePairs
        columns={2}
        items={[
          { label: "EKS control plane", value: half(status.eks) },
          { label: "HyperPod cluster", value: half(status.hyperpod) },
        ]}
      />
    </Container>
  );
}

export function Gpus({ status }: Props) {
  const gpus = status.gpus;
  return (
    <Container header={<Header variant="h2">GPU allocation</Header>} fitHeight>
      {!gpus || gpus.total === 0 ? (
        <Box color="text-body-secondary">No GPUs here.</Box>
      ) : (
        <SpaceBetween size="xs">
          <div
            className="stack"
            role="img"
            aria-label={`${gpus.used} of ${gpus.total} GPUs are used, ${gpus.pending} are asked for`}
          >
            <span className="is-used" style={{ inlineSize: `${(gpus.used / gpus.total) * 100}%` }} />
            <span className="is-free" style={{ inlineSize: `${(gpus.free / gpus.total) * 100}%` }} />
          </div>
          <Box>
            {gpus.used} used, {gpus.free} free, {gpus.pending} asked for, of {gpus.total}
          </Box>
          {(gpus.pending_why ?? []).map((why) => (
            <span key={why} className="small untrusted">
              {why}
            </span>
          ))}
        </SpaceBetween>
      )}
    </Container>
  );
}

export function Nodes({ status }: Props) {
  const health = Object.entries(status.nodes?.by_health ?? {});
  return (
    <Table
      variant="container"
      items={status.groups ?? []}
      trackBy="name"
      header={
        <Header
          variant="h2"
          counter={status.nodes ? `(${status.nodes.ready}/${status.nodes.total} ready)` : undefined}
          description={health.map(([word, count]) => `${count} ${word}`).join(", ") || undefined}
        >
          Nodes
        </Header>
      }
      columnDefinitions={[
        { id: "group", header: "Instance group", isRowHeader: true, minWidth: 140, cell: (g) => g.name },
        { id: "type", header: "Type", cell: (g) => g.instance_type },
        { id: "count", header: "Now / target", cell: (g) => `${g.current} / ${g.target}` },
        { id: "capacity", header: "Capacity", cell: (g) => g.capacity_type },
        { id: "zone", header: "Zone", cell: (g) => g.zone ?? "–" },
      ]}
      empty="No instance group yet."
    />
  );
}

export function Dependencies({ status }: Props) {
  return (
    <Table
      variant="container"
      items={status.dependencies ?? []}
      trackBy="name"
      wrapLines
      header={<Header variant="h2">Dependencies</Header>}
      columnDefinitions={[
        { id: "name", header: "Dependency", isRowHeader: true, minWidth: 180, cell: (d) => d.name },
        { id: "health", header: "Health", minWidth: 170, cell: (d) => <ForeignBadge word={d.health} /> },
        { id: "version", header: "Version", minWidth: 100, cell: (d) => d.version ?? "–" },
        { id: "owner", header: "Owner", minWidth: 120, cell: (d) => d.owner },
        {
          id: "message",
          header: "Message",
          minWidth: 240,
          cell: (d) => <span className="untrusted">{d.message ?? ""}</span>,
        },
      ]}
      empty="None yet."
    />
  );
}

export function Storage({ status }: Props) {
  return (
    <Table
      variant="container"
      items={status.storage ?? []}
      trackBy="claim"
      wrapLines
      header={<Header variant="h2">Storage</Header>}
      columnDefinitions={[
        { id: "claim", header: "Claim", isRowHeader: true, minWidth: 120, cell: (s) => s.claim },
        { id: "bucket", header: "Bucket", minWidth: 240, cell: (s) => s.bucket },
        { id: "phase", header: "Phase", minWidth: 130, cell: (s) => <ForeignBadge word={s.phase} /> },
        {
          id: "proved",
          header: "Proved",
          minWidth: 130,
          cell: (s) => <ForeignBadge word={s.proved ? "proved" : "unproven"} />,
        },
      ]}
      empty="No mount yet."
    />
  );
}

export function Running({ status }: Props) {
  const operations = status.operations ?? [];
  if (operations.length === 0) return null;
  return (
    <Container header={<Header variant="h2">Operations at work</Header>}>
      <SpaceBetween size="xs">
        {operations.map((o) => (
          <div key={o.id}>
            <OperationBadge state={o.state} /> <PageLink href={paths.operation(o.id)}>{o.title}</PageLink>{" "}
            <span className="small">{progressWords(o)}</span>
          </div>
        ))}
      </SpaceBetween>
    </Container>
  );
}
