// Times as people read them, by the product's clock.
import { absolute, duration, lasted, relative } from "./time";
import { useNow } from "./useNow";

/** Relative, with the absolute time beside it. */
export function Time({ at, plain = false }: { at: string | null | undefined; plain?: boolean }) {
  const now = useNow();
  if (!at) return <>–</>;
  const then = Date.parse(at);
  const exact = absolute(then, now);
  return (
    <time dateTime={at} title={new Date(then).toISOString()}>
      {plain ? exact : `${relative(then, now)} (${exact})`}
    </time>
  );
}

/** How long something took, or has taken so far. */
export function Lasted({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const seconds = lasted(from, to, useNow());
  return <span className="numbers">{seconds === null ? "–" : duration(seconds)}</span>;
}
