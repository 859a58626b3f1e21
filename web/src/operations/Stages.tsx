// The stages by step. What failed says why, right there, with its own retry.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import type { Operation, Stage } from "../api/types";
import { button } from "../parts/can";
import { ProblemAlert } from "../parts/ProblemAlert";
import { StageBadge } from "../parts/StateBadge";
import { Lasted } from "../parts/Time";
import { roughly } from "../parts/time";
import { useSession } from "../ui/session-context";
import { canRetryStage } from "./can";
import { StageDetail } from "./StageDetail";
import { type Step, bySteps, dependants, stepTitle } from "./words";

interface Props {
  operation: Operation;
  onRetry: (stage: Stage) => void;
  retrying: string | null;
}

export function Stages(props: Props) {
  return (
    <SpaceBetween size="s">
      {bySteps(props.operation.stages).map((step) => (
        <StepSection key={step.name} step={step} {...props} />
      ))}
    </SpaceBetween>
  );
}

function StepSection({ step, ...props }: Props & { step: Step }) {
  const quiet = step.state === "pending" || step.state === "succeeded";
  const [choice, setChoice] = useState<boolean | null>(null);
  const { hash } = useLocation();
  const meant = step.stages.some((s) => hash === `#stage-${s.name}`);
  useEffect(() => setChoice(meant ? true : null), [quiet, meant]);
  useEffect(() => {
    if (meant && choice) document.getElementById(hash.slice(1))?.scrollIntoView({ block: "center" });
  }, [hash, meant, choice]);
  return (
    <ExpandableSection
      variant="container"
      headingTagOverride="h3"
      headerText={stepTitle(step.name)}
      headerCounter={`(${step.done}/${step.stages.length})`}
      headerActions={<StageBadge state={step.state} />}
      expanded={choice ?? !quiet}
      onChange={({ detail }) => setChoice(detail.expanded)}
    >
      <ol className="stages">
        {step.stages.map((stage) => (
          <StageRow key={stage.name} stage={stage} {...props} />
        ))}
      </ol>
    </ExpandableSection>
  );
}

function StageRow({ stage, operation, onRetry, retrying }: Props & { stage: Stage }) {
  const waitingFor = operation.stages.filter(
    (s) => stage.needs.includes(s.name) && !["succeeded", "unchanged", "unproven"].includes(s.state),
  );
  return (
    <li id={`stage-${stage.name}`} tabIndex={-1}>
      <div className="stage-line">
        <StageBadge state={stage.state} />
        <span className="stage-title">{stage.title}</span>
        <span className="small numbers">
          <Lasted from={stage.started_at} to={stage.ended_at} />
          {!stage.ended_at && stage.state !== "pending" && <> of {roughly(stage.typical_seconds)}</>}
          {stage.attempts > 1 && ` · attempt ${stage.attempts}`}
        </span>
      </div>
      {stage.message && <p className="small untrusted">{stage.message}</p>}
      {stage.state === "pending" && waitingFor.length > 0 && (
        <p className="small">Waits for: {waitingFor.map((s) => s.title).join(", ")}</p>
      )}
      {stage.attention && (
        <Alert type="warning" statusIconAriaLabel="Attention">
          <span className="untrusted">{stage.attention}</span>
        </Alert>
      )}
      {stage.problem && <StageProblem {...{ stage, operation, onRetry, retrying }} />}
      <StageDetail stage={stage} />
    </li>
  );
}

function StageProblem({ stage, operation, onRetry, retrying }: Props & { stage: Stage }) {
  const verdict = canRetryStage(useSession(), operation, stage);
  const held = dependants(operation.stages, stage.name).length;
  const type = stage.state === "failed" ? "error" : "warning";
  return (
    <SpaceBetween size="xs">
      <ProblemAlert
        error={stage.problem}
        type={type}
        action={
          stage.state === "failed" || stage.state === "unproven" ? (
            <Button
              onClick={() => onRetry(stage)}
              loading={retrying === stage.name}
              loadingText="Retrying"
              ariaLabel={`Retry this stage: ${stage.title}`}
              {...button(verdict)}
            >
              Retry this stage
            </Button>
          ) : undefined
        }
      />
      {stage.state === "failed" && held > 0 && (
        <p className="small">
          {held} later {held === 1 ? "stage waits" : "stages wait"} for it. What succeeded stays as it is.
        </p>
      )}
    </SpaceBetween>
  );
}
