// A plan before anything happens: what stands in its way, its steps, objects, time, and the same in a terminal.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Plan, PlanStage } from "../api/types";
import { stepTitle } from "../operations/words";
import { Findings } from "./Findings";
import { Objects } from "./Objects";
import { TerminalForms } from "./TerminalForms";
import { roughly } from "./time";

export function verdict(plan: Plan): { type: "success" | "error" | "info"; text: string } {
  const blocking = (plan.findings ?? []).filter((f) => f.severity === "blocking").length;
  if (blocking)
    return { type: "error", text: `${blocking} ${blocking === 1 ? "finding blocks" : "findings block"} it` };
  if ((plan.stages ?? []).length === 0) return { type: "info", text: "Already so: nothing would change" };
  return { type: "success", text: "Can start" };
}

const counted = (objects: Plan["objects"]): string => {
  const by = new Map<string, number>();
  for (const o of objects ?? []) by.set(o.action, (by.get(o.action) ?? 0) + 1);
  return [...by].map(([action, n]) => `${n} to ${action}`).join(", ") || "none";
};

export function PlanSummary({ plan }: { plan: Plan }) {
  const { type, text } = verdict(plan);
  return (
    <SpaceBetween size="s">
      <StatusIndicator type={type}>{text}</StatusIndicator>
      <Box>{plan.summary}</Box>
      <dl className="facts">
        <Fact name="Typical time" value={roughly(plan.typical_seconds ?? 0)} />
        <Fact name="Stages" value={String((plan.stages ?? []).length)} />
        <Fact name="Objects" value={counted(plan.objects)} />
      </dl>
      {(plan.findings ?? []).length > 0 && <Findings findings={plan.findings!} />}
      <Warnings plan={plan} />
    </SpaceBetween>
  );
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function Warnings({ plan }: { plan: Plan }) {
  return (
    <>
      {(plan.warnings ?? []).map((text) => (
        <StatusIndicator key={text} type="warning">
          {text}
        </StatusIndicator>
      ))}
      {(plan.irreversible ?? []).length > 0 && (
        <div>
          <strong>Cannot be undone</strong>
          <ul>
            {plan.irreversible!.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function Changes({ plan }: { plan: Plan }) {
  return (
    <div className="diff">
      {plan.changes!.map((change) => (
        <div key={change.field}>
          {change.live !== null && change.live !== undefined && (
            <del>
              - {change.field}: {text(change.live)}
            </del>
          )}
          {change.desired !== null && change.desired !== undefined && (
            <ins>
              + {change.field}: {text(change.desired)}
            </ins>
          )}
        </div>
      ))}
    </div>
  );
}

function StepList({ stages }: { stages: readonly PlanStage[] }) {
  const steps = [...new Set(stages.map((s) => s.step))];
  return (
    <ol className="plan-steps">
      {steps.map((step) => (
        <li key={step}>
          <strong>{stepTitle(step)}</strong>
          <ul>
            {stages
              .filter((s) => s.step === step)
              .map((s) => (
                <li key={s.name}>
                  {s.title} <span className="small">{roughly(s.typical_seconds ?? 0)}</span>
                </li>
              ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

/** Everything about a plan. */
export function PlanView({ plan }: { plan: Plan }) {
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2">What will happen</Header>}>
        <PlanSummary plan={plan} />
      </Container>
      {(plan.changes ?? []).length > 0 && (
        <ExpandableSection
          variant="container"
          headerText="Changes"
          headerCounter={`(${plan.changes!.length})`}
          defaultExpanded
        >
          <Changes plan={plan} />
        </ExpandableSection>
      )}
      <ExpandableSection
        variant="container"
        headerText="Steps"
        headerCounter={`(${(plan.stages ?? []).length} stages)`}
      >
        <StepList stages={plan.stages ?? []} />
      </ExpandableSection>
      <ExpandableSection variant="container" headerText="Objects" headerCounter={`(${(plan.objects ?? []).length})`}>
        <Objects objects={plan.objects ?? []} />
      </ExpandableSection>
      {plan.commands && (
        <ExpandableSection variant="container" headerText="The same change from a terminal or an agent">
          <TerminalForms forms={plan.commands} />
        </ExpandableSection>
      )}
    </SpaceBetween>
  );
}
