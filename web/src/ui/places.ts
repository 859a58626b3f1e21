// Everything that the palette can go to. Pure.
import type { ClusterSummary, OperationSummary } from "../api/types";
import { paths } from "../paths";

export interface Place {
  text: string;
  kind: string;
  href: string;
}

export function places(
  clusters: readonly ClusterSummary[],
  operations: readonly OperationSummary[],
  cluster: string | null,
): Place[] {
  const inside = cluster
    ? [{ text: `Operations of ${cluster}`, kind: "page", href: paths.clusterOperations(cluster) }]
    : [];
  return [
    { text: "All clusters", kind: "page", href: paths.clusters() },
    { text: "Create a cluster", kind: "page", href: paths.create() },
    { text: "Operations", kind: "page", href: paths.operations() },
    ...inside,
    ...clusters.map((c) => ({ text: c.tag, kind: "cluster", href: paths.overview(c.tag) })),
    ...operations.map((o) => ({ text: `${o.title} (${o.id})`, kind: "operation", href: paths.operation(o.id) })),
  ];
}

/** Places that hold every word of the text, those that begin with it first. */
export function matching(all: readonly Place[], text: string): Place[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = all.filter((p) => words.every((w) => `${p.text} ${p.kind}`.toLowerCase().includes(w)));
  const rank = (p: Place) => (words[0] && p.text.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return hits.sort((a, b) => rank(a) - rank(b));
}
