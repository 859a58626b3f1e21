// One WebSocket for the whole page. It says what changed; the copies named are read again, a few times a second at most.
import type { QueryClient } from "@tanstack/react-query";
import { keys } from "../api/keys";
import { type Connection, type QueryKey, affected, backoff, parse, reduce, start } from "./reducer";

const GATHER = 250;

/** Reads copies again, never two times at once, never losing a change that came meanwhile. */
export class Refresher {
  private readonly waiting = new Map<string, QueryKey>();
  private everything = false;
  private running = false;
  private readonly client: QueryClient;

  constructor(client: QueryClient) {
    this.client = client;
  }

  add(changed: QueryKey[] | null): void {
    if (changed === null) this.everything = true;
    else changed.forEach((key) => this.waiting.set(JSON.stringify(key), key));
    if (!this.running && (this.everything || this.waiting.size > 0)) void this.run();
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.everything || this.waiting.size > 0) {
      const changed = this.everything ? [[]] : [...this.waiting.values()];
      this.everything = false;
      this.waiting.clear();
      await Promise.allSettled(changed.map((key) => this.client.invalidateQueries({ queryKey: key })));
      await new Promise((resolve) => setTimeout(resolve, GATHER));
    }
    this.running = false;
  }
}

export class Stream {
  private connection: Connection = start;
  private readonly readers = new Set<() => void>();
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly refresher: Refresher;
  private readonly client: QueryClient;

  constructor(client: QueryClient) {
    this.client = client;
    this.refresher = new Refresher(client);
  }

  readonly state = (): Connection => this.connection;

  readonly subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  };

  open(): () => void {
    this.connect();
    const again = () => this.connection.state === "offline" && this.connect();
    window.addEventListener("online", again);
    return () => {
      window.removeEventListener("online", again);
      clearTimeout(this.timer);
      const socket = this.socket;
      this.socket = undefined;
      socket?.close();
    };
  }

  private connect(): void {
    clearTimeout(this.timer);
    this.apply({ type: "trying" });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/stream`);
    this.socket = socket;
    socket.onmessage = ({ data }) => {
      const message = parse(data);
      if (message) this.take(message.topic === "stream" && message.type === "open", affected(message));
    };
    socket.onclose = () => this.socket === socket && this.lost();
  }

  private take(opened: boolean, changed: QueryKey[] | null): void {
    if (opened) {
      const first = this.connection.state === "connecting" && this.connection.tries === 0;
      this.apply({ type: "opened" });
      if (first) return;
    }
    this.refresher.add(changed);
  }

  private lost(): void {
    this.apply({ type: "closed", at: Date.now() });
    void this.client.invalidateQueries({ queryKey: keys.session() });
    this.timer = setTimeout(() => this.connect(), backoff(this.connection.tries, Math.random()));
  }

  private apply(change: Parameters<typeof reduce>[1]): void {
    this.connection = reduce(this.connection, change);
    this.readers.forEach((read) => read());
  }
}
