// The wizard. Its choices are what the service found; the plan beside it is the service's, made anew at each change.
import Grid from "@cloudscape-design/components/grid";
import Wizard from "@cloudscape-design/components/wizard";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { newKey } from "../api/client";
import { ApiError } from "../api/problem";
import type { CapacityReport } from "../api/types";
import { Read } from "../parts/Loading";
import { PageHeader } from "../parts/PageHeader";
import { PlanView } from "../parts/PlanView";
import { sortErrors } from "../parts/pointers";
import { ProblemAlert } from "../parts/ProblemAlert";
import { paths } from "../paths";
import { useFlash } from "../ui/flash";
import { useSession } from "../ui/session-context";
import { canCreate } from "./can";
import { CapacityStep } from "./CapacityStep";
import { type Draft, FIELDS, body, filled, keepDraft, keptDraft, misfits, stillNeeded } from "./draft";
import { NameStep } from "./NameStep";
import { PlanPanel } from "./PlanPanel";
import { capacity, createPlan, useCreate } from "./queries";

const STEPS = ["cluster", "capacity", "review"] as const;

export function Component() {
  const found = useQuery(capacity());
  return (
    <Grid gridDefinition={[{ colspan: 12 }, { colspan: 12 }]} disableGutters>
      <PageHeader title="Create a cluster" />
      <Read from={found} what="what this account and region can satisfy">
        {(report) => <CreateWizard report={report} />}
      </Read>
    </Grid>
  );
}

/** The draft, what the service says of it, and which of its words belong to which field. */
function useDraft() {
  const [draft, setDraft] = useState<Draft>(keptDraft);
  const [asked, setAsked] = useState(draft);
  useEffect(() => {
    keepDraft(draft);
    const timer = setTimeout(() => setAsked(draft), 350);
    return () => clearTimeout(timer);
  }, [draft]);
  const wish = useMemo(() => body(asked), [asked]);
  const shapeless = Object.keys(misfits(asked)).length > 0;
  const complete = stillNeeded(asked).length === 0 && !shapeless;
  const plan = useQuery(createPlan(complete ? wish : null));
  const problem = plan.error instanceof ApiError ? plan.error.problem : null;
  const { byField, rest } = useMemo(() => {
    const findings = (plan.data?.findings ?? [])
      .filter((f) => f.severity === "blocking" && f.field)
      .map((f) => ({ field: f.field!, code: f.code, message: f.detail }));
    const sorted = sortErrors(problem ? (problem.errors ?? []) : findings, FIELDS);
    const touched = Object.entries(sorted.byField).filter(([field]) => filled(asked, field));
    return { byField: { ...Object.fromEntries(touched), ...misfits(asked) }, rest: sorted.rest };
  }, [plan.data, problem, asked]);
  const current = complete && asked === draft && plan.isSuccess && !plan.isPlaceholderData;
  const set = (change: Partial<Draft>) => setDraft((d) => ({ ...d, ...change }));
  const shown = { data: plan.data, error: complete ? plan.error : null, isFetching: plan.isFetching, shapeless };
  return { draft, set, ready: current ? plan.data : undefined, plan: shown, byField, rest };
}

function CreateWizard({ report }: { report: CapacityReport }) {
  const navigate = useNavigate();
  const session = useSession();
  const flash = useFlash();
  const [query, setQuery] = useSearchParams();
  const index = Math.max(0, STEPS.indexOf((query.get("step") ?? "cluster") as (typeof STEPS)[number]));
  const { draft, set, ready, plan, byField, rest } = useDraft();
  const create = useCreate();
  const [refusal, setRefusal] = useState<string | null>(null);
  const key = useMemo(() => ({ draft, text: newKey() }), [draft]).text;
  const missing = stillNeeded(draft);
  const allowed = canCreate(session);

  const submit = () => {
    if (!allowed.allowed) return setRefusal(allowed.reason);
    if (missing.length) return setRefusal(`Still needed: ${missing.join(", ")}.`);
    if (!ready) return setRefusal("There is no plan for this yet.");
    if (!ready.can_start) return setRefusal("The plan cannot start: see what blocks it.");
    setRefusal(null);
    create.mutate(
      { body: body(draft), key },
      {
        onSuccess: (operation) => {
          keepDraft(null);
          if (operation) {
            flash({
              type: "success",
              header: `The creation of ${draft.tag} has begun`,
              content: "It goes on by itself, also when you close this page.",
            });
            void navigate(paths.operation(operation.id));
          } else {
            flash({ type: "info", header: `${draft.tag} is already so`, content: "Nothing had to be changed." });
            void navigate(paths.overview(draft.tag));
          }
        },
      },
    );
  };

  const beside = (content: ReactNode) => (
    <Grid gridDefinition={[{ colspan: { default: 12, s: 8 } }, { colspan: { default: 12, s: 4 } }]}>
      {content}
      <PlanPanel {...{ plan, rest, missing }} />
    </Grid>
  );

  return (
    <Wizard
      activeStepIndex={index}
      allowSkipTo
      submitButtonText="Create the cluster"
      isLoadingNextStep={create.isPending}
      i18nStrings={{
        stepNumberLabel: (n) => `Step ${n}`,
        collapsedStepsLabel: (n, of) => `Step ${n} of ${of}`,
        skipToButtonLabel: (step) => `Go to ${step.title.toLowerCase()}`,
        navigationAriaLabel: "Steps",
        cancelButton: "Cancel",
        previousButton: "Back",
        nextButton: "Next",
        optional: "optional",
      }}
      onNavigate={({ detail }) => {
        setRefusal(null);
        setQuery({ step: STEPS[detail.requestedStepIndex]! });
      }}
      onCancel={() => {
        keepDraft(null);
        void navigate(paths.clusters());
      }}
      onSubmit={submit}
      steps={[
        { title: "Cluster", content: beside(<NameStep {...{ draft, set, errors: byField, region: report.region }} />) },
        { title: "Capacity", content: beside(<CapacityStep {...{ report, draft, set, errors: byField }} />) },
        {
          title: "Review and create",
          errorText: refusal ?? undefined,
          content: (
            <>
              {create.error && <ProblemAlert error={create.error} />}
              {ready ? <PlanView plan={ready} /> : <PlanPanel {...{ plan, rest, missing }} />}
            </>
          ),
        },
      ]}
    />
  );
}
