// All clusters: both halves of each, what needs attention, and which one is selected.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards, { type CardsProps } from "@cloudscape-design/components/cards";
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
import { useSession } from "../ui/session";
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
      <SpaceBetween direction="horizontal" size="xs" alignItems="center">
        <PageLink href={paths.overview(c.tag)} fontSize="heading-m">
          {c.tag}
        </PageLink>
        {c.tag === selected && <StatusIndicator type="info">Selected</StatusIndicator>}
      </SpaceBetween>
    ),
    sections: [
      { id: "eks", header: "EKS control plane", width: 50, content: (c) => <ForeignBadge word={c.eks?.status} /> },
      { id: "hyperpod", header: "HyperPod cluster", width: 50, content: (c) => <ForeignBadge word={c.hyperpod?.status} /> },
      { id: "attention", content: (c) => <Attention cluster={c} operation={operations.find((o) => o.cluster === c.tag)} /> },
      {
        id: "select",
        content: (c) => (
          <Button
            variant="inline-link"
            onClick={() => onSelect(c.tag)}
            disabled={c.tag === selected}
            disabledReason="It is selected."
            ariaLabel={`Select ${c.tag}`}
          >
            Select
          </Button>
        ),
      },
    ],
  };
}

function Attention({ cluster, operation }: { cluster: ClusterSummary; operation: OperationSummary | undefined }) {
  const first = cluster.attention?.[0];
  return (
    <SpaceBetween size="xxs">
      {operation && !operation.terminal && (
        <SpaceBetween direction="horizontal" size="xs">
          <OperationBadge state={operation.state} />
          <PageLink href={paths.operation(operation.id)}>
            {operation.title}, {operation.progress.percent} %
          </PageLink>
        </SpaceBetween>
      )}
      {operation?.state === "failed" && (
        <SpaceBetween direction="horizontal" size="xs">
          <OperationBadge state="failed" />
          <PageLink href={paths.operation(operation.id)}>{operation.title}</PageLink>
        </SpaceBetween>
      )}
      {first && (
        <StatusIndicator type="warning">
          <span className="untrusted">{first.title}</span>
        </StatusIndicator>
      )}
      {!first && !operation && <Box color="text-body-secondary">Nothing needs you.</Box>}
    </SpaceBetween>
  );
}
