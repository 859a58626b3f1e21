// A component's view of the product clock, redrawn once a wall second by one shared timer.
import { useSyncExternalStore } from "react";
import { productClock } from "./clock";

const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let shown = 0;

function tick(): void {
  shown = productClock.now();
  readers.forEach((read) => read());
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  if (!timer) timer = setInterval(tick, 1000);
  return () => {
    readers.delete(read);
    if (readers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

const snapshot = (): number => {
  if (!timer || shown === 0) shown = Math.floor(productClock.now() / 1000) * 1000;
  return shown;
};

/** Milliseconds of the product clock, at most a wall second old. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, snapshot);
}
