// Keeps the stream open while somebody is logged in, and says so when it is not.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { type Connection, start } from "./reducer";
import { Stream } from "./socket";

const Context = createContext<Stream | null>(null);

export function StreamProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [stream] = useState(() => new Stream(client));
  useEffect(() => stream.open(), [stream]);
  return <Context.Provider value={stream}>{children}</Context.Provider>;
}

const never = () => () => undefined;
const idle = () => start;

export function useConnection(): Connection {
  const stream = useContext(Context);
  return useSyncExternalStore(stream?.subscribe ?? never, stream?.state ?? idle);
}
