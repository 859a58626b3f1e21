// The plan as it grows beside the form.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { ApiError } from "../api/problem";
import type { FieldError, Plan } from "../api/types";
import { PlanSummary } from "../parts/PlanView";
import { ProblemAlert } from "../parts/ProblemAlert";
import { TerminalForms } from "../parts/TerminalForms";

interface Props {
  /** `shapeless`: a field cannot be right, so the service was not asked. */
  plan: { data: Plan | undefined; error: unknown; isFetching: boolean; shapeless: boolean };
  /** Errors that belong to no field of the form. */
  rest: FieldError[];
  missing: string[];
}

export function PlanPanel({ plan, rest, missing }: Props) {
  return (
    <div className="plan-panel">
      <Container
        header={
          <Header
            variant="h2"
            info={plan.isFetching ? <Spinner /> : undefined}
            description="Nothing is sent until you create."
          >
            Plan
          </Header>
        }
      >
        <div aria-live="polite">
          <Inside {...{ plan, rest, missing }} />
        </div>
      </Container>
    </div>
  );
}

const WRONG = "Some fields are not right yet; each says why.";

function Inside({ plan, rest, missing }: Props) {
  if (missing.length) {
    return (
      <Box color="text-body-secondary">
        Still needed: {missing.join(", ")}. Then the plan shows here: steps, objects, time, and what stands in the way.
      </Box>
    );
  }
  if (plan.shapeless) return <Box color="text-status-error">{WRONG}</Box>;
  if (plan.error) {
    const ofFields = plan.error instanceof ApiError && plan.error.status === 422 && rest.length === 0;
    if (ofFields) return <Box color="text-status-error">{WRONG}</Box>;
    return <ProblemAlert error={plan.error} errors={rest} />;
  }
  if (!plan.data) return <Box color="text-body-secondary">Making the plan</Box>;
  return (
    <SpaceBetween size="m">
      <PlanSummary plan={plan.data} />
      {plan.data.commands && (
        <ExpandableSection headerText="The same from a terminal or an agent">
          <TerminalForms forms={plan.data.commands} />
        </ExpandableSection>
      )}
    </SpaceBetween>
  );
}
