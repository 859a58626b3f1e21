// Where the clock can be moved, it is looked at now and then, so that what the page shows keeps its pace.
import { useEffect } from "react";
import { productClock } from "../parts/clock";

const EVERY = 10_000;

async function look(): Promise<void> {
  try {
    productClock.heard((await fetch("/healthz", { cache: "no-store" })).headers.get("X-Now"));
  } catch {
    // The stream says when the service is gone.
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Measure the pace: three readings, far enough apart. */
export async function measure(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await look();
    await pause(550);
  }
}

export function useHeartbeat(): void {
  useEffect(() => {
    void measure();
    const timer = setInterval(() => document.visibilityState === "visible" && void look(), EVERY);
    return () => clearInterval(timer);
  }, []);
}
