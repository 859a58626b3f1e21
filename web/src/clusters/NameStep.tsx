// The first step: the tag, and, folded away, what nobody is asked for.
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Draft } from "./draft";

interface Props {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
  errors: Record<string, string>;
  region: string;
}

export function NameStep({ draft, set, errors, region }: Props) {
  const derived = draft.tag || "…";
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2">Cluster</Header>}>
        <FormField
          label="Tag"
          description={`A short name in ${region}; all other names come from it.`}
          constraintText={`Becomes eks-cluster-${derived} and hp-cluster-${derived}. Lower-case letters, digits, single hyphens; 2 to 20 characters.`}
          errorText={errors["/tag"]}
        >
          <Input
            value={draft.tag}
            placeholder="research"
            autoComplete={false}
            spellcheck={false}
            onChange={({ detail }) => set({ tag: detail.value })}
          />
        </FormField>
      </Container>
      <ExpandableSection
        variant="container"
        headerText="Network, bucket, version"
        headerDescription="The service chooses these. Open only to say otherwise."
        defaultExpanded={Boolean(draft.cidr || draft.vpc_id || draft.bucket || draft.kubernetes_version)}
      >
        <SpaceBetween size="l">
          <Network {...{ draft, set, errors }} />
          <FormField
            label="Bucket"
            description="An S3 bucket of yours to mount; a new one when empty."
            errorText={errors["/bucket"]}
          >
            <Input value={draft.bucket} onChange={({ detail }) => set({ bucket: detail.value })} />
          </FormField>
          <FormField
            label="Kubernetes version"
            description="The newest that HyperPod supports when empty."
            errorText={errors["/kubernetes_version"]}
          >
            <Input
              value={draft.kubernetes_version}
              onChange={({ detail }) => set({ kubernetes_version: detail.value })}
            />
          </FormField>
        </SpaceBetween>
      </ExpandableSection>
    </SpaceBetween>
  );
}

function Network({ draft, set, errors }: Omit<Props, "region">) {
  return (
    <SpaceBetween size="s">
      <FormField label="Network" errorText={errors["/network"]}>
        <RadioGroup
          value={draft.network}
          items={[
            { value: "new", label: "A new VPC" },
            { value: "existing", label: "A VPC that exists", description: "Its subnets stay; ours are added." },
          ]}
          onChange={({ detail }) => set({ network: detail.value as Draft["network"] })}
        />
      </FormField>
      {draft.network === "new" ? (
        <FormField label="Address range" description="Chosen when empty." errorText={errors["/network/cidr"]}>
          <Input value={draft.cidr} placeholder="10.0.0.0/16" onChange={({ detail }) => set({ cidr: detail.value })} />
        </FormField>
      ) : (
        <FormField label="VPC" errorText={errors["/network/vpc_id"]}>
          <Input value={draft.vpc_id} placeholder="vpc-…" onChange={({ detail }) => set({ vpc_id: detail.value })} />
        </FormField>
      )}
    </SpaceBetween>
  );
}
