// Faults worth a button: what people see when it happens. The full list is the sandbox's.
import type { Fault } from "./queries";

export interface Kind {
  kind: string;
  label: string;
  text: string;
  /** Which further fields make sense. */
  fields: ("service" | "operation" | "match" | "delay_seconds")[];
}

export const KINDS: Kind[] = [
  {
    kind: "insufficient_capacity",
    label: "No capacity",
    text: "HyperPod finds no capacity. Match: type, zone or group.",
    fields: ["match"],
  },
  {
    kind: "quota",
    label: "Quota reached",
    text: "A call is refused with ResourceLimitExceeded.",
    fields: ["service", "operation"],
  },
  {
    kind: "throttling",
    label: "Throttling",
    text: "A service asks to be called less often.",
    fields: ["service", "operation"],
  },
  {
    kind: "server_error",
    label: "Server error",
    text: "A 500 or 503 before the call has any effect.",
    fields: ["service", "operation"],
  },
  {
    kind: "slow",
    label: "Slow answers",
    text: "An answer takes longer, in world time.",
    fields: ["service", "operation", "delay_seconds"],
  },
  {
    kind: "lost_answer",
    label: "Lost answer",
    text: "The call takes effect, its answer never comes.",
    fields: ["service", "operation"],
  },
  {
    kind: "late_request",
    label: "Late request",
    text: "The connection drops, the call takes effect later.",
    fields: ["service", "operation", "delay_seconds"],
  },
  {
    kind: "stack_failure",
    label: "Stack failure",
    text: "A resource of a CloudFormation stack fails. Match: logical id or type.",
    fields: ["match"],
  },
  {
    kind: "mount_failure",
    label: "Mount failure",
    text: "The S3 mount of a pod fails. Match: claim or pod.",
    fields: ["match"],
  },
];

export const blank = { kind: KINDS[0]!.kind, service: "", operation: "", match: "", delay_seconds: "", count: "1" };
export type Draft = typeof blank;

/** The request body of a draft: only the fields that its kind knows and that were filled in. */
export function faultBody(draft: Draft): Partial<Fault> {
  const fields = KINDS.find((k) => k.kind === draft.kind)?.fields ?? [];
  const body: Partial<Fault> = { kind: draft.kind };
  if (fields.includes("service") && draft.service) body.service = draft.service;
  if (fields.includes("operation") && draft.operation) body.operation = draft.operation;
  if (fields.includes("match") && draft.match) body.match = draft.match;
  if (fields.includes("delay_seconds") && draft.delay_seconds) body.delay_seconds = Number(draft.delay_seconds);
  if (draft.count) body.count = Number(draft.count);
  return body;
}
