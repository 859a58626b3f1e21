// What the bell in the top bar shows: what is at work, and what needs somebody. Pure.
import type { TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import type { OperationSummary } from "../api/types";
import { OPERATION } from "../parts/states";
import { paths } from "../paths";
import { progressWords } from "./words";

export const needsSomebody = (o: OperationSummary): boolean =>
  o.state === "failed" || o.state === "awaiting_approval" || (!o.terminal && (o.attention ?? []).length > 0);

export interface Bell {
  running: number;
  attention: number;
  label: string;
  items: TopNavigationProps.MenuDropdownUtility["items"];
}

const item = (o: OperationSummary) => ({
  id: o.id,
  text: `${o.title}: ${OPERATION[o.state].word}`,
  secondaryText: o.attention?.[0] ?? (o.terminal ? o.problem?.title : undefined) ?? progressWords(o),
  href: paths.operation(o.id),
});

export function bell(operations: readonly OperationSummary[]): Bell {
  const latest = new Map<string, OperationSummary>();
  for (const o of operations) if (!latest.has(o.cluster ?? o.id)) latest.set(o.cluster ?? o.id, o);
  const attention = [...latest.values()].filter(needsSomebody);
  const running = operations.filter((o) => !o.terminal && !attention.includes(o));
  const groups = [
    { id: "attention", text: "Needs you", items: attention.slice(0, 5).map(item) },
    { id: "running", text: "At work", items: running.slice(0, 8).map(item) },
  ].filter((group) => group.items.length > 0);
  const all = {
    id: "all",
    text: running.length + attention.length ? "All operations" : "Nothing runs. All operations",
    href: paths.operations(),
  };
  const label = `Operations: ${running.length} at work, ${attention.length} ${attention.length === 1 ? "needs" : "need"} you`;
  return { running: running.length, attention: attention.length, label, items: [...groups, all] };
}
