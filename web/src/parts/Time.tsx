// Times as people read them, by the product's clock.
import { absolute, duration, lasted, relative } from "./time";
import { useNow } from "./useNow";

/** Relative, with the absolute time beside it. */
export function Time({
  at,
  form = "both",
}: {
  at: string | null | undefined;
  form?: "both" | "relative" | "absolute";
}) {
  const now = useNow();
  if (!at) return <>–</>;
  const then = Date.parse(at);
  const exact = absolute(then, now);
  const ago = relative(then, now);
  return (
    <time dateTime={at} title={`${ago}, ${new Date(then).toISOString()}`}>
      {form === "both" ? `${ago} (${exact})` : form === "relative" ? ago : exact}
    </time>
  );
}

/** How long something took, or has taken so far. */
export function Lasted({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const seconds = lasted(from, to, useNow());
  return <span className="numbers">{seconds === null ? "–" : duration(seconds)}</span>;
}
