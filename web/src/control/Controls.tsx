// The sandbox's clock and faults, for admins. Nothing here exists when the service works on a real account.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { measure } from "../api/heartbeat";
import { keys } from "../api/keys";
import { productClock } from "../parts/clock";
import { Read } from "../parts/Loading";
import { ProblemAlert } from "../parts/ProblemAlert";
import { type Draft, KINDS, blank, faultBody } from "./faults";
import { type ClockReading, type Fault, addFault, clock, faults, removeFaults, setClock } from "./queries";

const SPEEDS = ["1", "10", "60", "300", "1200"];

export default function Controls({ onClose }: { onClose: () => void }) {
  return (
    <Modal visible size="large" onDismiss={onClose} header="Clock and faults of the sandbox">
      <SpaceBetween size="l">
        <Speed />
        <Faults />
      </SpaceBetween>
    </Modal>
  );
}

function Speed() {
  const client = useQueryClient();
  const reading = useQuery(clock());
  const change = useMutation({
    mutationFn: setClock,
    onSuccess: () => {
      productClock.restart();
      void measure();
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.control("clock") }),
  });
  return (
    <SpaceBetween size="s">
      <Header variant="h3" description="How fast the simulated world runs: at 60, a minute takes a second.">
        Clock
      </Header>
      {change.error && <ProblemAlert error={change.error} />}
      <Read from={reading} what="the clock">
        {(at: ClockReading) => (
          <SpaceBetween direction="horizontal" size="s" alignItems="center">
            <SegmentedControl
              label="Speed"
              selectedId={at.mode === "explicit" ? "stop" : String(at.speed)}
              options={[
                { id: "stop", text: "Stop" },
                ...[...new Set([...SPEEDS, String(at.speed)])]
                  .sort((a, b) => Number(a) - Number(b))
                  .map((speed) => ({ id: speed, text: `× ${speed}` })),
              ]}
              onChange={({ detail }) =>
                change.mutate(
                  detail.selectedId === "stop"
                    ? { mode: "explicit" }
                    : { mode: "auto", speed: Number(detail.selectedId) },
                )
              }
            />
            <Button onClick={() => change.mutate({ advance_seconds: 600 })} loading={change.isPending}>
              10 min forward
            </Button>
          </SpaceBetween>
        )}
      </Read>
    </SpaceBetween>
  );
}

function Faults() {
  const client = useQueryClient();
  const list = useQuery(faults());
  const again = () => client.invalidateQueries({ queryKey: keys.control("faults") });
  const add = useMutation({ mutationFn: addFault, onSettled: again });
  const remove = useMutation({ mutationFn: removeFaults, onSettled: again });
  return (
    <SpaceBetween size="s">
      <Header variant="h3" description="What goes wrong next, so that you can watch it being handled.">
        Faults
      </Header>
      <NewFault busy={add.isPending} onAdd={(draft) => add.mutate(faultBody(draft))} />
      {(add.error ?? remove.error) && <ProblemAlert error={add.error ?? remove.error} />}
      <Read from={list} what="the faults">
        {(active) =>
          active.length === 0 ? (
            <p className="small">No fault is set.</p>
          ) : (
            <Active {...{ active }} onRemove={(id) => remove.mutate(id)} />
          )
        }
      </Read>
    </SpaceBetween>
  );
}

function NewFault({ busy, onAdd }: { busy: boolean; onAdd: (draft: Draft) => void }) {
  const [draft, setDraft] = useState(blank);
  const kind = KINDS.find((k) => k.kind === draft.kind)!;
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const LABELS = { service: "Service", operation: "Call", match: "Match", delay_seconds: "Seconds" };
  return (
    <SpaceBetween size="s">
      <FormField label="What goes wrong" description={kind.text}>
        <Select
          selectedOption={{ value: kind.kind, label: kind.label }}
          options={KINDS.map((k) => ({ value: k.kind, label: k.label, description: k.text }))}
          onChange={({ detail }) => set({ kind: detail.selectedOption.value! })}
        />
      </FormField>
      <Grid gridDefinition={[...kind.fields, "count", "add"].map(() => ({ colspan: { default: 12, xs: 3 } }))}>
        {kind.fields.map((field) => (
          <FormField key={field} label={LABELS[field]} stretch>
            <Input
              value={draft[field]}
              placeholder={field === "delay_seconds" ? "30" : "any"}
              type={field === "delay_seconds" ? "number" : "text"}
              onChange={({ detail }) => set({ [field]: detail.value })}
            />
          </FormField>
        ))}
        <FormField label="How often" stretch>
          <Input value={draft.count} type="number" onChange={({ detail }) => set({ count: detail.value })} />
        </FormField>
        <div className="beside-fields">
          <Button onClick={() => onAdd(draft)} loading={busy} iconName="add-plus">
            Add the fault
          </Button>
        </div>
      </Grid>
    </SpaceBetween>
  );
}

const where = (f: Fault): string =>
  [f.service, f.operation, f.match && `match ${f.match}`, f.delay_seconds && `${f.delay_seconds} s`]
    .filter(Boolean)
    .join(" · ") || "anywhere";

function Active({ active, onRemove }: { active: readonly Fault[]; onRemove: (id: string) => void }) {
  return (
    <ul className="plain rows">
      {active.map((fault) => (
        <li key={fault.id}>
          <span>
            <strong>{KINDS.find((k) => k.kind === fault.kind)?.label ?? fault.kind}</strong>{" "}
            <span className="small">
              {where(fault)} · used {fault.used}
              {fault.count ? ` of ${fault.count}` : ""}
            </span>
          </span>
          <Button
            variant="icon"
            iconName="remove"
            ariaLabel={`Remove the fault ${fault.kind}`}
            onClick={() => onRemove(fault.id)}
          />
        </li>
      ))}
    </ul>
  );
}
