// One operation: how far it is, its time line, its stages, and what can be done about it.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { ApiError } from "../api/problem";
import type { Operation, Stage } from "../api/types";
import { button } from "../parts/can";
import { CopyText } from "../parts/CopyText";
import { PageButton, PageLink } from "../parts/follow";
import { Gantt } from "../parts/Gantt";
import { Read } from "../parts/Loading";
import { PageHeader } from "../parts/PageHeader";
import { ProblemAlert } from "../parts/ProblemAlert";
import { OperationBadge } from "../parts/StateBadge";
import { Lasted, Time } from "../parts/Time";
import { paths } from "../paths";
import { NotFound } from "../ui/NotFound";
import { useSession } from "../ui/session-context";
import { CancelDialog, ConsentDialog } from "./dialogs";
import { canCancel, canRetry } from "./can";
import { operation as one, useCancel, useRetry } from "./queries";
import { Stages } from "./Stages";
import { asker, progressWords, stepTitle } from "./words";

export function Component() {
  const { id = "" } = useParams();
  const found = useQuery(one(id));
  if (found.error instanceof ApiError && found.error.status === 404) {
    return <NotFound what={`There is no operation ${id}.`} />;
  }
  return (
    <Read from={found} what="the operation">
      {(operation) => <Page operation={operation} />}
    </Read>
  );
}

function Page({ operation }: { operation: Operation }) {
  const [consent, setConsent] = useState<Stage | null>(null);
  const [cancelling, setCancelling] = useState(false);
  const retry = useRetry(operation.id);
  const cancel = useCancel(operation.id);

  const retryStage = (stage: Stage) => {
    if (stage.retry_needs_consent?.length) setConsent(stage);
    else retry.mutate({ stage: stage.name, accept: [] });
  };

  return (
    <SpaceBetween size="l">
      <OperationHeader
        operation={operation}
        retrying={retry.isPending}
        onRetry={() => retry.mutate({ accept: [] })}
        onCancel={() => setCancelling(true)}
      />
      {retry.error && <ProblemAlert error={retry.error} />}
      <Summary operation={operation} />
      <Container header={<Header variant="h2">Time line</Header>}>
        <Gantt stages={operation.stages} ended={operation.ended_at} stepTitle={stepTitle} />
      </Container>
      <section aria-label="Stages">
        <SpaceBetween size="s">
          <Header variant="h2" counter={`(${operation.progress.done}/${operation.progress.total})`}>
            Stages
          </Header>
          <Stages
            operation={operation}
            onRetry={retryStage}
            retrying={retry.isPending ? (retry.variables.stage ?? null) : null}
          />
        </SpaceBetween>
      </section>
      <ConsentDialog
        stage={consent}
        busy={retry.isPending}
        error={consent ? retry.error : null}
        onClose={() => setConsent(null)}
        onAccept={(stage) =>
          retry.mutate({ stage: stage.name, accept: [stage.name] }, { onSuccess: () => setConsent(null) })
        }
      />
      <CancelDialog
        open={cancelling}
        busy={cancel.isPending}
        error={cancel.error}
        onClose={() => setCancelling(false)}
        onCancel={() => cancel.mutate(undefined, { onSuccess: () => setCancelling(false) })}
      />
    </SpaceBetween>
  );
}

interface HeaderProps {
  operation: Operation;
  retrying: boolean;
  onRetry: () => void;
  onCancel: () => void;
}

function OperationHeader({ operation, retrying, onRetry, onCancel }: HeaderProps) {
  const session = useSession();
  const verdict = canRetry(session, operation);
  const needsConsent = operation.stages.some((s) => s.retry_needs_consent?.length);
  return (
    <PageHeader
      title={operation.title}
      description={
        <>
          {operation.id} · asked for by {asker(operation)} · <Time at={operation.created_at} />
        </>
      }
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          {operation.cluster && (
            <PageButton href={paths.overview(operation.cluster)}>Cluster {operation.cluster}</PageButton>
          )}
          <Button onClick={onCancel} {...button(canCancel(session, operation))}>
            Cancel
          </Button>
          {operation.state === "cancelled" || (operation.state === "failed" && !needsConsent) ? (
            <Button variant="primary" onClick={onRetry} loading={retrying} {...button(verdict)}>
              Retry
            </Button>
          ) : null}
        </SpaceBetween>
      }
    />
  );
}

function Summary({ operation }: { operation: Operation }) {
  const failed = operation.stages.filter((s) => s.state === "failed");
  const attention = (operation.attention ?? []).length > 0 && !operation.terminal;
  return (
    <Container>
      <SpaceBetween size="m">
        <ProgressBar
          value={operation.progress.percent}
          label={<OperationBadge state={operation.state} />}
          ariaLabel="Progress"
          description={progressWords(operation)}
          additionalInfo={
            <>
              Took <Lasted from={operation.started_at} to={operation.ended_at} />
              {operation.terminal ? "" : " so far"}
            </>
          }
        />
        {operation.cancel_requested && !operation.terminal && (
          <Alert type="info">Being cancelled: a call in flight is waited for, then nothing more is sent.</Alert>
        )}
        {failed.length > 0 && operation.state === "failed" && (
          <Alert type="error" header={failed.length === 1 ? "One stage failed" : `${failed.length} stages failed`}>
            <ul className="plain">
              {failed.map((stage) => (
                <li key={stage.name}>
                  <a href={`#stage-${stage.name}`}>{stage.title}</a>:{" "}
                  <span className="untrusted">{stage.problem?.detail ?? stage.message}</span>
                </li>
              ))}
            </ul>
          </Alert>
        )}
        {operation.problem && failed.length === 0 && <ProblemAlert error={operation.problem} />}
        {attention && (
          <Alert type="warning" header="Needs your attention">
            <ul className="plain">
              {operation.attention!.map((text, index) => (
                <li key={index} className="untrusted">
                  {text}
                </li>
              ))}
            </ul>
          </Alert>
        )}
        {operation.superseded_by && (
          <Alert type="info">
            A newer operation took its place:{" "}
            <PageLink href={paths.operation(operation.superseded_by)}>{operation.superseded_by}</PageLink>
          </Alert>
        )}
        <LeftBehind operation={operation} />
      </SpaceBetween>
    </Container>
  );
}

function LeftBehind({ operation }: { operation: Operation }) {
  const left = operation.left_behind ?? [];
  if (left.length === 0) return null;
  return (
    <Alert type="warning" header="AWS goes on with this by itself">
      <ul className="plain">
        {left.map((item, index) => (
          <li key={index}>
            {item.what}. To undo it:
            <CopyText text={item.undo} what="the command that undoes it" />
          </li>
        ))}
      </ul>
    </Alert>
  );
}
