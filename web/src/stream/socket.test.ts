import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Refresher } from "./socket";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("gathers a burst into one reading, and loses nothing that comes while it reads", async () => {
  const client = new QueryClient();
  const read: string[] = [];
  let finish = () => {};
  vi.spyOn(client, "invalidateQueries").mockImplementation((filter) => {
    read.push(JSON.stringify(filter!.queryKey));
    return new Promise((resolve) => (finish = resolve));
  });
  const refresher = new Refresher(client);
  refresher.add([["a"]]);
  refresher.add([["a"]]);
  refresher.add([["a"]]);
  expect(read).toEqual(['["a"]']);
  finish();
  await vi.advanceTimersByTimeAsync(300);
  expect(read).toEqual(['["a"]', '["a"]']);
  finish();
  await vi.advanceTimersByTimeAsync(1000);
  expect(read).toHaveLength(2);
});
