// The top bar: cluster switcher, search, operations, theme, and who is logged in.
import TopNavigation, { type TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "react-router";
import { api, ok } from "../api/client";
import { clusterList, useSelect } from "../clusters/queries";
import { switcher } from "../clusters/switcher";
import { bell } from "../operations/bell";
import { operationList } from "../operations/queries";
import { useFollow } from "../parts/follow";
import { paths } from "../paths";
import { useSession } from "./session-context";
import { type Theme, setTheme, useTheme } from "./theme";

interface Props {
  cluster: string | null;
  onHelp: () => void;
  onPalette: () => void;
}

export function TopBar({ cluster, onHelp, onPalette }: Props) {
  const follow = useFollow();
  const utilities: TopNavigationProps.Utility[] = [
    useSwitcher(cluster),
    {
      type: "button",
      iconName: "search",
      text: "Search",
      title: "Search (Ctrl K)",
      ariaLabel: "Search",
      onClick: onPalette,
    },
    useBell(),
    useThemeMenu(),
    useUserMenu(onHelp),
  ];
  return (
    <TopNavigation
      identity={{
        href: paths.clusters(),
        title: "InstantStart",
        logo: { src: "/icon.svg", alt: "Logo" },
        onFollow: (e) => follow({ ...e, detail: { href: paths.clusters() }, preventDefault: () => e.preventDefault() }),
      }}
      utilities={utilities}
      i18nStrings={{ overflowMenuTriggerText: "More", overflowMenuTitleText: "All" }}
    />
  );
}

function useSwitcher(cluster: string | null): TopNavigationProps.MenuDropdownUtility {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const follow = useFollow();
  const list = useQuery(clusterList()).data;
  const select = useSelect();
  const { text, items, goal } = switcher(list, cluster, pathname);
  return {
    type: "menu-dropdown",
    iconName: "multiscreen",
    text,
    ariaLabel: `Cluster: ${text}`,
    items,
    onItemFollow: follow,
    onItemClick: ({ detail }) => {
      const to = goal(detail.id);
      if (!to) return;
      select.mutate(detail.id);
      void navigate(to);
    },
  };
}

function useBell(): TopNavigationProps.MenuDropdownUtility {
  const follow = useFollow();
  const { label, items, running, attention } = bell(useQuery(operationList({ limit: 50 })).data?.items ?? []);
  return {
    type: "menu-dropdown",
    iconName: "notification",
    badge: running + attention > 0,
    ariaLabel: label,
    title: label,
    disableUtilityCollapse: true,
    items,
    onItemFollow: follow,
  };
}

const THEMES: [Theme, string][] = [
  ["light", "Light"],
  ["dark", "Dark"],
  ["system", "As the system"],
];

function useThemeMenu(): TopNavigationProps.MenuDropdownUtility {
  const theme = useTheme();
  return {
    type: "menu-dropdown",
    iconName: "settings",
    ariaLabel: "Theme",
    title: "Theme",
    items: THEMES.map(([id, text]) => ({ id, text, itemType: "checkbox", checked: theme === id })),
    onItemClick: ({ detail }) => setTheme(detail.id as Theme),
  };
}

function useUserMenu(onHelp: () => void): TopNavigationProps.MenuDropdownUtility {
  const session = useSession();
  const client = useQueryClient();
  const leave = async () => {
    await ok(api.DELETE("/api/v1/session")).catch(() => undefined);
    client.clear();
    location.assign(paths.clusters());
  };
  return {
    type: "menu-dropdown",
    iconName: "user-profile",
    text: session.name,
    description: `${session.role} · ${session.account ?? "account unknown"} · ${session.region}`,
    items: [
      { id: "keys", text: "Keyboard" },
      { id: "leave", text: "Log out" },
    ],
    onItemClick: ({ detail }) => {
      if (detail.id === "keys") onHelp();
      if (detail.id === "leave") void leave();
    },
  };
}
