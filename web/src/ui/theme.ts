// Light, dark, or what the system says. Kept in this browser only.
import { Mode, applyMode } from "@cloudscape-design/global-styles";
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";
const KEY = "instantstart.theme";
const THEMES: readonly Theme[] = ["light", "dark", "system"];

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const readers = new Set<() => void>();

function kept(): Theme {
  try {
    const value = localStorage.getItem(KEY) as Theme | null;
    return value && THEMES.includes(value) ? value : "system";
  } catch {
    return "system";
  }
}

let theme = kept();

export const isDark = (): boolean => theme === "dark" || (theme === "system" && dark.matches);

function apply(): void {
  applyMode(isDark() ? Mode.Dark : Mode.Light);
  readers.forEach((read) => read());
}

export function startTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that keeps nothing still gets the theme for this visit.
  }
  apply();
}

const subscribe = (read: () => void): (() => void) => {
  readers.add(read);
  return () => readers.delete(read);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);
