// The cluster switcher's text and entries. Pure.
import type { TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import type { ClusterList } from "../api/types";
import { paths } from "../paths";
import { halves } from "./words";

interface Switcher {
  text: string;
  items: TopNavigationProps.MenuDropdownUtility["items"];
  /** Where choosing a cluster leads: the page at hand, for the other cluster. Null for entries that are links. */
  goal: (id: string) => string | null;
}

export function switcher(list: ClusterList | undefined, inUrl: string | null, pathname: string): Switcher {
  const clusters = list?.items ?? [];
  const current = inUrl ?? list?.selected ?? null;
  const tags = new Set(clusters.map((c) => c.tag));
  const entries = clusters.map((c) => ({
    id: c.tag,
    text: c.tag,
    secondaryText: halves(c),
    labelTag: c.tag === list?.selected ? "selected" : undefined,
  }));
  return {
    text: current ?? (list && clusters.length === 0 ? "No cluster yet" : "Choose a cluster"),
    items: [
      ...(entries.length ? [{ id: "clusters", text: "Switch to", items: entries }] : []),
      { id: "all", text: "All clusters", href: paths.clusters() },
      { id: "create", text: "Create a cluster", href: paths.create() },
    ],
    goal: (id) => {
      if (!tags.has(id)) return null;
      const stay = inUrl !== null && pathname.endsWith("/operations");
      return stay ? paths.clusterOperations(id) : paths.overview(id);
    },
  };
}
