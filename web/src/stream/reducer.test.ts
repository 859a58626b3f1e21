import { describe, expect, it } from "vitest";
import { keys } from "../api/keys";
import { affected, backoff, parse, reduce, start } from "./reducer";

const message = (topic: string, type: string, subject = "op-1") => ({ topic, subject, type, revision: 1 });

describe("messages of the stream", () => {
  it("open means that everything is read again", () => {
    expect(affected(message("stream", "open", ""))).toBeNull();
  });

  it("a changed operation touches itself and the lists, an ended one the clusters too", () => {
    expect(affected(message("operation", "operation.changed"))).toEqual([
      keys.operation("op-1"),
      keys.operationLists(),
    ]);
    expect(affected(message("operation", "operation.ended"))).toContainEqual(keys.clusters());
  });

  it("a topic that is not known yet touches the copies under its name", () => {
    expect(affected(message("node", "node.changed"))).toEqual([["node"]]);
  });

  it("that are no messages are dropped", () => {
    expect(parse("{")).toBeNull();
    expect(parse("null")).toBeNull();
    expect(parse('{"topic": 1}')).toBeNull();
    expect(parse(new Blob())).toBeNull();
    expect(parse('{"topic":"stream","type":"open"}')).toEqual({
      topic: "stream",
      type: "open",
      subject: "",
      revision: null,
    });
  });
});

describe("the connection", () => {
  it("remembers since when it is offline, over all tries", () => {
    const lost = reduce(start, { type: "closed", at: 1000 });
    expect(lost).toEqual({ state: "offline", tries: 1, since: 1000 });
    const trying = reduce(lost, { type: "trying" });
    expect(reduce(trying, { type: "closed", at: 9000 })).toEqual({ state: "offline", tries: 2, since: 1000 });
    expect(reduce(trying, { type: "opened" })).toEqual({ state: "open", tries: 0 });
  });

  it("waits longer after each try, never more than 15 s", () => {
    expect(backoff(0, 1)).toBe(500);
    expect(backoff(3, 1)).toBe(4000);
    expect(backoff(50, 1)).toBe(15_000);
    expect(backoff(3, 0)).toBe(2400);
  });
});
