// What a deletion would remove and what it leaves, then the tag typed by hand.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { Read } from "../parts/Loading";
import { Objects } from "../parts/Objects";
import { PlanSummary } from "../parts/PlanView";
import { ProblemAlert } from "../parts/ProblemAlert";
import { TerminalForms } from "../parts/TerminalForms";
import { paths } from "../paths";
import { useFlash } from "../ui/flash";
import { deletePlan, useDelete } from "./queries";

export function DeleteDialog({ cluster, onClose }: { cluster: string; onClose: () => void }) {
  const navigate = useNavigate();
  const flash = useFlash();
  const [typed, setTyped] = useState("");
  const plan = useQuery(deletePlan(cluster));
  const remove = useDelete(cluster);
  const go = () =>
    remove.mutate(typed, {
      onSuccess: (operation) => {
        flash({
          type: "info",
          header: operation ? `The deletion of ${cluster} has begun` : `Nothing of ${cluster} is left`,
        });
        void navigate(operation ? paths.operation(operation.id) : paths.clusters());
      },
    });
  return (
    <Modal
      visible
      size="large"
      onDismiss={onClose}
      header={`Delete ${cluster}?`}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>
              Keep it
            </Button>
            <Button
              variant="primary"
              loading={remove.isPending}
              disabled={typed !== cluster || plan.data?.can_start === false}
              disabledReason={
                typed !== cluster ? `Type ${cluster} first.` : "The plan cannot start: see what blocks it."
              }
              onClick={go}
            >
              Delete {cluster}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Read from={plan} what="the plan">
          {(data) => (
            <SpaceBetween size="m">
              <PlanSummary plan={data} />
              <ExpandableSection headerText={`Objects (${(data.objects ?? []).length})`}>
                <Objects objects={data.objects ?? []} />
              </ExpandableSection>
              {data.commands && (
                <ExpandableSection headerText="The same change from a terminal or an agent">
                  <TerminalForms forms={data.commands} />
                </ExpandableSection>
              )}
            </SpaceBetween>
          )}
        </Read>
        {remove.error && <ProblemAlert error={remove.error} />}
        <FormField label={`Type ${cluster} to confirm`}>
          <Input
            value={typed}
            onChange={({ detail }) => setTyped(detail.value)}
            autoComplete={false}
            spellcheck={false}
          />
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}
