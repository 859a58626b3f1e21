// One cluster: what needs somebody first, then both halves, nodes, GPUs, dependencies, storage, what runs.
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { ApiError } from "../api/problem";
import type { ClusterStatus } from "../api/types";
import { button } from "../parts/can";
import { Read } from "../parts/Loading";
import { PageHeader } from "../parts/PageHeader";
import { NotFound } from "../ui/NotFound";
import { useSession } from "../ui/session-context";
import { canDelete } from "./can";
import { DeleteDialog } from "./DeleteDialog";
import { Dependencies, Gpus, Halves, NeedsYou, Nodes, Running, Storage } from "./cards";
import { clusterStatus } from "./queries";

export function Component() {
  const { cluster = "" } = useParams();
  const status = useQuery(clusterStatus(cluster));
  if (status.error instanceof ApiError && status.error.status === 404) {
    return <NotFound what={`There is no cluster ${cluster}.`} />;
  }
  return (
    <Read from={status} what={`the state of ${cluster}`}>
      {(data) => <Page status={data} />}
    </Read>
  );
}

function Page({ status }: { status: ClusterStatus }) {
  const session = useSession();
  const [deleting, setDeleting] = useState(false);
  return (
    <SpaceBetween size="l">
      <PageHeader
        title={status.tag}
        description={[status.region, status.eks?.version && `Kubernetes ${status.eks.version}`]
          .filter(Boolean)
          .join(" · ")}
        actions={
          <Button onClick={() => setDeleting(true)} {...button(canDelete(session, status))}>
            Delete
          </Button>
        }
      />
      <NeedsYou status={status} />
      <ColumnLayout columns={2}>
        <Halves status={status} />
        <Gpus status={status} />
      </ColumnLayout>
      <Nodes status={status} />
      <Dependencies status={status} />
      <Storage status={status} />
      <Running status={status} />
      {deleting && <DeleteDialog cluster={status.tag} onClose={() => setDeleting(false)} />}
    </SpaceBetween>
  );
}
