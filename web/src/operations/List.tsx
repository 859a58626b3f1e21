// All operations, newest first, of one cluster or of all. The filter is in the URL.
import Button from "@cloudscape-design/components/button";
import Pagination from "@cloudscape-design/components/pagination";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { OperationState, OperationSummary } from "../api/types";
import { PageButton, PageLink } from "../parts/follow";
import { EmptyState, Read } from "../parts/Loading";
import { PageHeader } from "../parts/PageHeader";
import { OperationBadge } from "../parts/StateBadge";
import { OPERATION } from "../parts/states";
import { Lasted, Time } from "../parts/Time";
import { paths } from "../paths";
import { operationList } from "./queries";
import { asker, progressWords } from "./words";

const COLUMNS: TableProps.ColumnDefinition<OperationSummary>[] = [
  {
    id: "title",
    header: "Operation",
    isRowHeader: true,
    minWidth: 220,
    cell: (o) => <PageLink href={paths.operation(o.id)}>{o.title}</PageLink>,
  },
  { id: "state", header: "State", minWidth: 150, cell: (o) => <OperationBadge state={o.state} /> },
  {
    id: "progress",
    header: "Progress",
    minWidth: 200,
    cell: (o) => <span className="untrusted">{o.attention?.[0] ?? o.problem?.detail ?? progressWords(o)}</span>,
  },
  { id: "started", header: "Asked for", minWidth: 140, cell: (o) => <Time at={o.created_at} form="relative" /> },
  { id: "took", header: "Took", minWidth: 120, cell: (o) => <Lasted from={o.created_at} to={o.ended_at} /> },
  { id: "by", header: "By", minWidth: 160, cell: (o) => asker(o) },
];

const CLUSTER: TableProps.ColumnDefinition<OperationSummary> = {
  id: "cluster",
  header: "Cluster",
  minWidth: 110,
  cell: (o) => (o.cluster ? <PageLink href={paths.overview(o.cluster)}>{o.cluster}</PageLink> : "–"),
};

const STATES = [
  { value: "", label: "Any state" },
  ...Object.entries(OPERATION).map(([value, shown]) => ({ value, label: shown.word })),
];

export function Component() {
  const { cluster } = useParams();
  const [query, setQuery] = useSearchParams();
  const state = (query.get("state") ?? "") as OperationState | "";
  const [cursors, setCursors] = useState<string[]>([]);
  const filter = { cluster, state: state || undefined, limit: 25, cursor: cursors.at(-1) };
  const list = useQuery({ ...operationList(filter), placeholderData: keepPreviousData });

  const choose = (value: string) => {
    setCursors([]);
    setQuery(value ? { state: value } : {}, { replace: true });
  };

  return (
    <SpaceBetween size="l">
      <PageHeader
        title={cluster ? `Operations of ${cluster}` : "Operations"}
        description="Each change is one operation: saved before it begins, watched to its end, and here ever after."
      />
      <Read from={list} what="operations">
        {(page) => (
          <Table
            variant="container"
            items={page.items}
            trackBy="id"
            columnDefinitions={cluster ? COLUMNS : [COLUMNS[0]!, CLUSTER, ...COLUMNS.slice(1)]}
            wrapLines
            ariaLabels={{ tableLabel: "Operations" }}
            filter={
              <div className="filter" data-filter>
                <Select
                  selectedOption={STATES.find((s) => s.value === state) ?? STATES[0]!}
                  options={STATES}
                  ariaLabel="State"
                  onChange={({ detail }) => choose(detail.selectedOption.value ?? "")}
                />
              </div>
            }
            pagination={
              <Pages
                index={cursors.length}
                next={page.next_cursor ?? null}
                onGo={(index) => {
                  if (index > cursors.length) setCursors([...cursors, page.next_cursor!]);
                  else setCursors(cursors.slice(0, index));
                }}
              />
            }
            empty={<Empty filtered={state !== ""} onClear={() => choose("")} />}
          />
        )}
      </Read>
    </SpaceBetween>
  );
}

function Pages({ index, next, onGo }: { index: number; next: string | null; onGo: (index: number) => void }) {
  return (
    <Pagination
      currentPageIndex={index + 1}
      pagesCount={index + (next ? 2 : 1)}
      openEnd={next !== null}
      ariaLabels={{
        previousPageLabel: "Previous page",
        nextPageLabel: "Next page",
        pageLabel: (number) => `Page ${number}`,
      }}
      onChange={({ detail }) => {
        const wanted = detail.currentPageIndex - 1;
        if (wanted <= index || next) onGo(wanted);
      }}
    />
  );
}

function Empty({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return <EmptyState title="None in this state" text="" action={<Button onClick={onClear}>Show all</Button>} />;
  }
  return (
    <EmptyState
      title="Nothing ran yet"
      text="Each change, whoever asks for it and through whichever face, appears here."
      action={<PageButton href={paths.create()}>Create a cluster</PageButton>}
    />
  );
}
