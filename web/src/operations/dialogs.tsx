// Questions before an operation is cancelled, or a retry removes what stands in its way.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useEffect, useState } from "react";
import type { Stage } from "../api/types";
import { Objects } from "../parts/Objects";
import { ProblemAlert } from "../parts/ProblemAlert";

interface ConsentProps {
  stage: Stage | null;
  busy: boolean;
  error: unknown;
  onClose: () => void;
  onAccept: (stage: Stage) => void;
}

export function ConsentDialog({ stage, busy, error, onClose, onAccept }: ConsentProps) {
  const [agreed, setAgreed] = useState(false);
  useEffect(() => setAgreed(false), [stage]);
  const objects = stage?.retry_needs_consent ?? [];
  return (
    <Modal
      visible={stage !== null}
      onDismiss={onClose}
      header="A retry removes something first"
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>
              Keep it
            </Button>
            <Button
              variant="primary"
              loading={busy}
              disabled={!agreed}
              disabledReason="Agree to the removal first."
              onClick={() => stage && onAccept(stage)}
            >
              Remove and retry
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Box>
          “{stage?.title}” found a dead object of ours in its way. It was never used and cannot be repaired, only
          removed and made again:
        </Box>
        <Objects objects={objects} />
        {error ? <ProblemAlert error={error} /> : null}
        <Checkbox checked={agreed} onChange={({ detail }) => setAgreed(detail.checked)}>
          {objects.length === 1 ? "This may be removed" : "These may be removed"}
        </Checkbox>
      </SpaceBetween>
    </Modal>
  );
}

interface CancelProps {
  open: boolean;
  busy: boolean;
  error: unknown;
  onClose: () => void;
  onCancel: () => void;
}

export function CancelDialog({ open, busy, error, onClose, onCancel }: CancelProps) {
  return (
    <Modal
      visible={open}
      onDismiss={onClose}
      header="Cancel this operation?"
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>
              Let it go on
            </Button>
            <Button variant="primary" loading={busy} onClick={onCancel}>
              Cancel the operation
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Box>
          Nothing more is sent. What stands stays, nothing is removed. What AWS goes on doing by itself is listed with
          the command that undoes it. A cancelled operation can be retried.
        </Box>
        {error ? <ProblemAlert error={error} /> : null}
      </SpaceBetween>
    </Modal>
  );
}
