// All clusters: both halves of each, what needs attention, and which one is selected.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards, { type CardsProps } from "@cloudscape-design/components/cards";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { ClusterSummary, OperationSummary } from "../api/types";
import { operationList } from "../operations/queries";
import { button } from "../parts/can";
import { PageButton, PageLink } from "../parts/follow";
import { EmptyState, Read } from "../parts/Loading";
import { PageHeader } from "../parts/PageHeader";
import { ForeignBadge, OperationBadge } from "../parts/StateBadge";
import { paths } from "../paths";
import { useSession } from "../ui/session-context";
import { canCreate } from "./can";
import { clusterList, useSelect } from "./queries";

export function Component() {
  const session = useSession();
  const list = useQuery(clusterList());
  const running = useQuery(operationList({ limit: 50 })).data?.items ?? [];
  const select = useSelect();
  return (
    <SpaceBetween size="l">
      <PageHeader
        title="Clusters"
        counter={list.data && `(${list.data.items.length})`}
        description={`One EKS cluster and the HyperPod cluster attached to it, each. Region ${session.region}.`}
        actions={<CreateButton />}
      />
      <Read from={list} what="clusters">
        {({ items, selected }) => (
          <Cards
            items={items}
            trackBy="tag"
            ariaLabels={{ itemSelectionLabel: () => "", selectionGroupLabel: "Clusters" }}
            cardsPerRow={[{ cards: 1 }, { minWidth: 640, cards: 2 }, { minWidth: 1200, cards: 3 }]}
            cardDefinition={card(selected ?? null, running, (tag) => select.mutate(tag))}
            empty={<EmptyState title="No cluster yet" text={EMPTY} action={<CreateButton />} />}
          />
        )}
      </Read>
    </SpaceBetween>
  );
}

const EMPTY =
  "One form makes a working one: network, EKS control plane, dependencies, HyperPod nodes and a proved mount of an S3 bucket.";

function CreateButton() {
  return (
    <PageButton href={paths.create()} variant="primary" {...button(canCreate(useSession()))}>
      Create a cluster
    </PageButton>
  );
}

function card(
  selected: string | null,
  operations: readonly OperationSummary[],
  onSelect: (tag: string) => void,
): CardsProps.CardDefinition<ClusterSummary> {
  return {
    header: (c) => (
      <div className="card-head">
        <PageLink href={paths.overview(c.tag)} fontSize="heading-m">
          {c.tag}
        </PageLink>
        {c.tag === selected ? (
          <StatusIndicator type="success">Selected</StatusIndicator>
        ) : (
          <Button variant="inline-link" onClick={() => onSelect(c.tag)} ariaLabel={`Select ${c.tag}`}>
            Select
          </Button>
        )}
      </div>
    ),
    sections: [
      {
        id: "halves",
        content: (c) => (
          <KeyValuePairs
            columns={2}
            items={[
              { label: "EKS control plane", value: <ForeignBadge word={c.eks?.status} /> },
              { label: "HyperPod cluster", value: <ForeignBadge word={c.hyperpod?.status} /> },
            ]}
          />
        ),
      },
      {
        id: "attention",
        content: (c) => <Attention cluster={c} operation={operations.find((o) => o.cluster === c.tag)} />,
      },
    ],
  };
}

function Attention({ cluster, operation }: { cluster: ClusterSummary; operation: OperationSummary | undefined }) {
  const findings = cluster.attention ?? [];
  const shown = operation && (!operation.terminal || operation.state === "failed") ? operation : null;
  if (!shown && findings.length === 0) return <Box color="text-body-secondary">Nothing needs you.</Box>;
  return (
    <SpaceBetween size="xxs">
      {shown && (
        <SpaceBetween direction="horizontal" size="xs">
          <OperationBadge state={shown.state} />
          <PageLink href={paths.operation(shown.id)}>
            {shown.title}, {shown.progress.percent} %
          </PageLink>
        </SpaceBetween>
      )}
      {findings.slice(0, 3).map((finding, index) => (
        <StatusIndicator key={index} type="warning">
          <span className="untrusted">{finding.title}</span>
        </StatusIndicator>
      ))}
    </SpaceBetween>
  );
}
