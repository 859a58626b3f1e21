// One table of states: the service's word → colour and mark, short word, a sentence. Never colour alone.
import type { StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { OperationState, StageState } from "../api/types";

export interface Shown {
  type: StatusIndicatorProps.Type;
  word: string;
  sentence: string;
}

export const OPERATION: Record<OperationState, Shown> = {
  awaiting_approval: { type: "pending", word: "Needs approval", sentence: "A person has to say yes first." },
  queued: { type: "pending", word: "Queued", sentence: "It starts when what it touches is free." },
  running: { type: "in-progress", word: "Running", sentence: "Stages are at work." },
  waiting: { type: "in-progress", word: "Waiting", sentence: "AWS, a lock or a person is at work." },
  succeeded: { type: "success", word: "Succeeded", sentence: "Every stage is done." },
  failed: {
    type: "error",
    word: "Failed",
    sentence: "A stage failed; what succeeded stays. Retry goes on from there.",
  },
  cancelled: { type: "stopped", word: "Cancelled", sentence: "Nothing more is sent." },
  superseded: { type: "stopped", word: "Superseded", sentence: "A newer operation took its place." },
  rejected: { type: "stopped", word: "Rejected", sentence: "A person said no." },
  expired: { type: "stopped", word: "Expired", sentence: "Nobody approved it in time." },
};

export const STAGE: Record<StageState, Shown> = {
  pending: { type: "pending", word: "Pending", sentence: "It begins when the stages before it are done." },
  running: { type: "in-progress", word: "Running", sentence: "It is at work." },
  waiting: { type: "loading", word: "Waiting", sentence: "Somebody else, mostly AWS, is at work." },
  succeeded: { type: "success", word: "Done", sentence: "It is done." },
  unchanged: { type: "success", word: "Already so", sentence: "Nothing had to be changed." },
  failed: { type: "error", word: "Failed", sentence: "It stopped. It can be retried on its own." },
  unproven: { type: "warning", word: "Unproven", sentence: "It could not be tried out yet." },
  cancelled: { type: "stopped", word: "Cancelled", sentence: "It was cancelled before it was done." },
};

const WORDS: Record<string, Shown["type"]> = {
  active: "success",
  inservice: "success",
  ready: "success",
  healthy: "success",
  installed: "success",
  mounted: "success",
  bound: "success",
  proved: "success",
  running: "success",
  creating: "in-progress",
  updating: "in-progress",
  deleting: "in-progress",
  systemupdating: "in-progress",
  rollingback: "warning",
  pending: "pending",
  waiting_for_nodes: "pending",
  unproven: "warning",
  degraded: "warning",
  attention: "warning",
  unknown: "warning",
  failed: "error",
  create_failed: "error",
  update_failed: "error",
  delete_failed: "error",
  unhealthy: "error",
  missing: "stopped",
  absent: "stopped",
  none: "stopped",
};

/** "waiting_for_nodes" → "Waiting for nodes"; AWS's own CamelCase words stay as they are. */
export function spoken(word: string): string {
  if (/^[A-Z][a-z]+([A-Z][a-z]+)*$/.test(word)) return word;
  const text = word.replaceAll(/[_-]/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** AWS's and Kubernetes' own words. A word we do not know is shown as it is, without a colour. */
export function foreign(word: string | null | undefined): Shown {
  if (!word) return { type: "stopped", word: "Not there", sentence: "It does not exist." };
  const type = WORDS[word.toLowerCase().replaceAll(/[ -]/g, "_")] ?? WORDS[word.toLowerCase()] ?? "info";
  return { type, word: spoken(word), sentence: word };
}
