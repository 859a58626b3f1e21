// Who is logged in. Everything below it has a session.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, ok } from "../api/client";
import { keys } from "../api/keys";
import { ApiError } from "../api/problem";
import type { Session } from "../api/types";
import { Loading } from "../parts/Loading";
import { ProblemAlert } from "../parts/ProblemAlert";
import { Login } from "./Login";
import { SessionContext } from "./session-context";

export const login = (code: string): Promise<Session> => ok(api.POST("/api/v1/session", { body: { code } }));

export function SessionGate({ code, children }: { code: string | null; children: ReactNode }) {
  const client = useQueryClient();
  const [first] = useState(() => (code ? login(code) : null));
  const session = useQuery({
    queryKey: keys.session(),
    queryFn: async ({ signal }) => {
      const exchanged = client.getQueryData(keys.session()) ? null : await first?.catch(() => null);
      return exchanged ?? ok(api.GET("/api/v1/session", { signal }));
    },
    staleTime: 60_000,
    retry: (count, error) => !(error instanceof ApiError && error.status === 401) && count < 3,
  });
  if (session.error instanceof ApiError && session.error.status === 401) return <Login exchange={first} />;
  if (session.data) return <SessionContext.Provider value={session.data}>{children}</SessionContext.Provider>;
  if (session.error) {
    return (
      <main className="alone">
        <ProblemAlert error={session.error} />
      </main>
    );
  }
  return <Loading what="InstantStart" />;
}
