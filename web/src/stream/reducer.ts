// What the stream's messages and the socket's state mean. Pure; the socket itself is socket.ts.
import { keys } from "../api/keys";

export interface Message {
  topic: string;
  subject: string;
  revision: number | null;
  type: string;
}

export type QueryKey = readonly unknown[];

/** What must be read again after a message; null means everything. */
export function affected(message: Message): QueryKey[] | null {
  switch (message.topic) {
    case "stream":
      return message.type === "open" ? null : [];
    case "operation":
      return [
        keys.operation(message.subject),
        keys.operationLists(),
        ...(message.type === "operation.changed" ? [] : [keys.clusters()]),
      ];
    case "cluster":
      return [keys.clusters(), keys.capacity()];
    case "selection":
      return [keys.clusterList()];
    default:
      return [[message.topic]];
  }
}

export function parse(text: unknown): Message | null {
  if (typeof text !== "string") return null;
  try {
    const value = JSON.parse(text) as Partial<Message> | null;
    if (!value || typeof value.topic !== "string" || typeof value.type !== "string") return null;
    return { topic: value.topic, subject: value.subject ?? "", revision: value.revision ?? null, type: value.type };
  } catch {
    return null;
  }
}

export type Connection =
  | { state: "connecting"; tries: number }
  | { state: "open"; tries: 0 }
  | { state: "offline"; tries: number; since: number };

export type Change = { type: "opened" } | { type: "closed"; at: number } | { type: "trying" };

export const start: Connection = { state: "connecting", tries: 0 };

export function reduce(connection: Connection, change: Change): Connection {
  switch (change.type) {
    case "opened":
      return { state: "open", tries: 0 };
    case "trying":
      return connection.state === "offline" ? connection : { state: "connecting", tries: connection.tries };
    case "closed": {
      const since = connection.state === "offline" ? connection.since : change.at;
      return { state: "offline", tries: connection.tries + 1, since };
    }
  }
}

/** Milliseconds until the next try: doubling from half a second to 15 s, spread so that browsers do not come at once. */
export function backoff(tries: number, random: number): number {
  const longest = Math.min(15_000, 500 * 2 ** Math.min(tries, 10));
  return Math.round(longest * (0.6 + 0.4 * random));
}
