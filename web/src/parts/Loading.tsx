// Empty, loading and error states, the same on every page.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { type ReactNode, useEffect, useState } from "react";
import { ProblemAlert } from "./ProblemAlert";

/** Shown only after 300 ms, so that quick answers do not flicker. */
export function Loading({ what }: { what: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-live="polite" className="loading">
      {late && (
        <>
          <Spinner size="large" /> <span>Loading {what}</span>
        </>
      )}
    </div>
  );
}

export function EmptyState({ title, text, action }: { title: string; text: ReactNode; action?: ReactNode }) {
  return (
    <Box textAlign="center" padding={{ vertical: "xl" }}>
      <SpaceBetween size="s">
        <Box variant="h2">{title}</Box>
        <Box color="text-body-secondary">{text}</Box>
        {action}
      </SpaceBetween>
    </Box>
  );
}

interface Reading<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** The data of a query, or what stands in its way. Data that is there stays when a later reading fails. */
export function Read<T>({
  from,
  what,
  children,
}: {
  from: Reading<T>;
  what: string;
  children: (data: T) => ReactNode;
}) {
  if (from.data !== undefined) {
    return (
      <>
        {from.error ? <Stale error={from.error} again={from.refetch} /> : null}
        {children(from.data)}
      </>
    );
  }
  if (from.error) return <Stale error={from.error} again={from.refetch} />;
  return <Loading what={what} />;
}

function Stale({ error, again }: { error: unknown; again: () => unknown }) {
  return (
    <Box margin={{ bottom: "m" }}>
      <ProblemAlert error={error} action={<Button onClick={() => void again()}>Read again</Button>} />
    </Box>
  );
}
