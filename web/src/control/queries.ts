// The sandbox's own interface, reached through the service. Its shapes are in the sandbox's documentation.
import { queryOptions } from "@tanstack/react-query";
import { control } from "../api/client";
import { keys } from "../api/keys";

export interface ClockReading {
  mode: "auto" | "explicit";
  speed: number;
}

export interface Fault {
  id: string;
  kind: string;
  service?: string | null;
  operation?: string | null;
  match?: string | null;
  count?: number | null;
  probability?: number | null;
  delay_seconds?: number | null;
  used: number;
}

export const clock = () =>
  queryOptions({ queryKey: keys.control("clock"), queryFn: () => control<ClockReading>("clock"), staleTime: 0 });

export const faults = () =>
  queryOptions({
    queryKey: keys.control("faults"),
    queryFn: async () => {
      const answer = await control<Fault[] | { items: Fault[] }>("faults");
      return Array.isArray(answer) ? answer : answer.items;
    },
    staleTime: 0,
    refetchInterval: 3_000,
  });

export const setClock = (body: Partial<ClockReading> & { advance_seconds?: number }) => control("clock", "POST", body);
export const addFault = (body: Partial<Fault>) => control<Fault>("faults", "POST", body);
export const removeFaults = (id?: string) => control(id ? `faults?id=${encodeURIComponent(id)}` : "faults", "DELETE");
