// Whose session it is, for everything below the gate.
import { createContext, useContext } from "react";
import type { Session } from "../api/types";

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("no session here");
  return session;
}
