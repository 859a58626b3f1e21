// The second step: how capacity is got, where, which type, how many.
import Checkbox from "@cloudscape-design/components/checkbox";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TextFilter from "@cloudscape-design/components/text-filter";
import Tiles from "@cloudscape-design/components/tiles";
import { useState } from "react";
import type { CapacityReport } from "../api/types";
import { Findings } from "../parts/Findings";
import { Time } from "../parts/Time";
import { rows, tiles } from "./choices";
import type { Draft } from "./draft";
import { PlaceTable } from "./PlaceTable";

interface Props {
  report: CapacityReport;
  draft: Draft;
  set: (change: Partial<Draft>) => void;
  errors: Record<string, string>;
}

export function CapacityStep({ report, draft, set, errors }: Props) {
  const [filter, setFilter] = useState("");
  const shown = rows(report, draft.capacity_type, draft.training_plan, filter);
  const place = errors["/availability_zone"] ?? errors["/instance_type"];
  return (
    <SpaceBetween size="l">
      {report.findings.length > 0 && (
        <Container header={<Header variant="h2">Found before anything is sent</Header>}>
          <Findings findings={report.findings} />
        </Container>
      )}
      <Container header={<Header variant="h2">Where and what</Header>}>
        <SpaceBetween size="l">
          <FormField
            label="Capacity type"
            description="Fixed for the life of the group"
            errorText={errors["/capacity_type"]}
            stretch
          >
            <Tiles
              columns={3}
              value={draft.capacity_type}
              items={tiles(report)}
              onChange={({ detail }) => set({ capacity_type: detail.value })}
            />
          </FormField>
          {draft.capacity_type === "training_plan" && <PlanField {...{ report, draft, set, errors }} />}
          <FormField
            label="Zone and instance type"
            description="What this account can get in this region. A closed place says why."
            errorText={place}
            stretch
          >
            <SpaceBetween size="xs">
              <TextFilter
                filteringText={filter}
                filteringPlaceholder="Find a type"
                filteringAriaLabel="Find an instance type"
                onChange={({ detail }) => setFilter(detail.filteringText)}
              />
              <PlaceTable
                rows={shown}
                zones={report.zones.map((z) => z.name)}
                chosen={{ zone: draft.availability_zone, type: draft.instance_type }}
                onChoose={(zone, type) => set({ availability_zone: zone, instance_type: type })}
              />
            </SpaceBetween>
          </FormField>
          <FormField label="How many instances" errorText={errors["/instance_count"]}>
            <Input
              type="number"
              inputMode="numeric"
              value={draft.instance_count}
              onChange={({ detail }) => set({ instance_count: detail.value })}
            />
          </FormField>
        </SpaceBetween>
      </Container>
      <Options {...{ report, draft, set, errors }} />
    </SpaceBetween>
  );
}

function PlanField({ report, draft, set, errors }: Props) {
  const options = report.training_plans.map((p) => ({
    value: p.arn,
    label: p.name,
    description: `${p.available} of ${p.total} × ${p.instance_type ?? "any type"} in ${p.zones.join(", ")}`,
    disabled: p.available === 0,
    disabledReason: "No instance of it is free.",
  }));
  const chosen = report.training_plans.find((p) => p.arn === draft.training_plan);
  return (
    <FormField
      label="Training plan"
      description="It pins the zone and the type"
      errorText={errors["/training_plan"]}
      constraintText={
        chosen?.ends && (
          <>
            Ends <Time at={chosen.ends} />
          </>
        )
      }
    >
      <Select
        selectedOption={options.find((o) => o.value === draft.training_plan) ?? null}
        placeholder="Choose a plan"
        options={options}
        onChange={({ detail }) => {
          const plan = report.training_plans.find((p) => p.arn === detail.selectedOption.value);
          if (!plan) return;
          const zone = plan.zones.length === 1 ? plan.zones[0]! : "";
          set({ training_plan: plan.arn, instance_type: (zone && plan.instance_type) || "", availability_zone: zone });
        }}
      />
    </FormField>
  );
}

const CHECKS: [string, string, string][] = [
  ["instance_stress", "Instance stress", "GPUs and memory under load before a node accepts work"],
  ["instance_connectivity", "Instance connectivity", "EFA between nodes before they accept work"],
];

function Options({ report, draft, set, errors }: Props) {
  const type = rows(report, draft.capacity_type, "", "").find((r) => r.type === draft.instance_type);
  const efa = type?.efa ?? false;
  return (
    <Container header={<Header variant="h2">Network interfaces and health</Header>}>
      <SpaceBetween size="l">
        <FormField
          label="Interface mode"
          description="Fixed for the life of the group"
          errorText={errors["/interface_mode"]}
        >
          <RadioGroup
            value={draft.interface_mode}
            items={[
              { value: "", label: "As the type has it" },
              { value: "efa", label: "EFA", description: efa ? "EFA with IP" : WITHOUT, disabled: !efa },
              {
                value: "efa-only",
                label: "EFA-only",
                description: efa ? "EFA without IP: saves addresses" : WITHOUT,
                disabled: !efa,
              },
            ]}
            onChange={({ detail }) => set({ interface_mode: detail.value })}
          />
        </FormField>
        <FormField
          label="Deep health checks"
          description="They take longer, up to hours"
          errorText={errors["/deep_health_checks"]}
        >
          {CHECKS.map(([id, label, text]) => (
            <Checkbox
              key={id}
              checked={draft.deep_health_checks.includes(id)}
              description={text}
              onChange={({ detail }) =>
                set({
                  deep_health_checks: detail.checked
                    ? [...draft.deep_health_checks, id]
                    : draft.deep_health_checks.filter((c) => c !== id),
                })
              }
            >
              {label}
            </Checkbox>
          ))}
        </FormField>
      </SpaceBetween>
    </Container>
  );
}

const WITHOUT = "Choose a type with EFA first";
