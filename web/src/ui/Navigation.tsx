// The pages there are: of the cluster at hand first, then of the whole.
import Badge from "@cloudscape-design/components/badge";
import SideNavigation, { type SideNavigationProps } from "@cloudscape-design/components/side-navigation";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "react-router";
import { bell } from "../operations/bell";
import { operationList } from "../operations/queries";
import { useFollow } from "../parts/follow";
import { paths } from "../paths";

export function Navigation({ cluster }: { cluster: string | null }) {
  const follow = useFollow();
  const { pathname } = useLocation();
  const { running, attention } = bell(useQuery(operationList({ limit: 50 })).data?.items ?? []);
  const counts = attention ? (
    <Badge color="red">{attention}</Badge>
  ) : running ? (
    <Badge color="blue">{running}</Badge>
  ) : undefined;
  const common: SideNavigationProps.Item[] = [
    { type: "link", text: "All clusters", href: paths.clusters() },
    { type: "link", text: "Create a cluster", href: paths.create() },
    { type: "link", text: "Operations", href: paths.operations(), info: counts },
    { type: "divider" },
    { type: "link", text: "REST reference", href: paths.openapi(), external: true },
  ];
  const inside: SideNavigationProps.Item[] = cluster
    ? [
        { type: "link", text: "Overview", href: paths.overview(cluster) },
        { type: "link", text: "Its operations", href: paths.clusterOperations(cluster) },
        { type: "divider" },
      ]
    : [];
  const active = pathname.startsWith("/operations/") ? paths.operations() : pathname;
  return (
    <SideNavigation
      header={
        cluster ? { text: cluster, href: paths.overview(cluster) } : { text: "InstantStart", href: paths.clusters() }
      }
      activeHref={active}
      items={[...inside, ...common]}
      onFollow={follow}
    />
  );
}
