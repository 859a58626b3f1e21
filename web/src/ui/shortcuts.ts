// Keys that go somewhere. None changes anything, and all can be turned off.
import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { paths } from "../paths";

const KEY = "instantstart.shortcuts";

export const shortcutsOn = (): boolean => {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
};

export function setShortcuts(on: boolean): void {
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // Nothing is kept; they stay as they are.
  }
}

export const SHORTCUTS: [string, string][] = [
  ["g c", "All clusters"],
  ["g v", "Overview of this cluster"],
  ["g o", "Operations"],
  ["g n", "Create a cluster"],
  ["/", "Filter of this page"],
  ["Ctrl K", "Search pages, clusters and operations"],
  ["?", "This list"],
];

/** Where "g" and then `key` lead. */
export function goal(key: string, cluster: string | null): string | null {
  switch (key) {
    case "c":
      return paths.clusters();
    case "v":
      return cluster ? paths.overview(cluster) : null;
    case "o":
      return cluster ? paths.clusterOperations(cluster) : paths.operations();
    case "n":
      return paths.create();
    default:
      return null;
  }
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=dialog],[role=listbox],[role=menu]") !== null);

interface Options {
  cluster: string | null;
  onHelp: () => void;
  onPalette: () => void;
}

export function useShortcuts(options: Options): void {
  const navigate = useNavigate();
  const latest = useRef(options);
  latest.current = options;
  const gone = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { cluster, onHelp, onPalette } = latest.current;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
        return;
      }
      if (!shortcutsOn() || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const path = performance.now() - gone.current < 1500 ? goal(event.key, cluster) : null;
      gone.current = event.key === "g" ? performance.now() : 0;
      if (path) void navigate(path);
      else if (event.key === "?") onHelp();
      else if (event.key === "/") focusFilter(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate]);
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>("[data-filter] input, [data-filter] button");
  if (!filter) return;
  event.preventDefault();
  filter.focus();
}
