// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { crumbs } from "./crumbs";
import { takeLoginCode } from "./login";
import { matching, places } from "./places";
import { goal } from "./shortcuts";

describe("the way to a page", () => {
  it.each([
    ["/", ["Clusters"]],
    ["/create", ["Clusters", "Create a cluster"]],
    ["/c/a%20b", ["Clusters", "a b"]],
    ["/c/x/operations", ["Clusters", "x", "Operations"]],
    ["/operations/op-1", ["Operations", "op-1"]],
    ["/nowhere", ["Clusters"]],
  ])("%s", (path, words) => expect(crumbs(path).map((c) => c.text)).toEqual(words));
});

it("takes the login code out of the address", () => {
  window.history.replaceState(null, "", "/create?step=review#login=a%2Bb");
  expect(takeLoginCode()).toBe("a+b");
  expect(window.location.href).not.toContain("login");
  expect(window.location.search).toBe("?step=review");
  expect(takeLoginCode()).toBeNull();
});

it("leads by two keys, to the cluster's own pages when there is one", () => {
  expect(goal("o", null)).toBe("/operations");
  expect(goal("o", "x")).toBe("/c/x/operations");
  expect(goal("v", null)).toBeNull();
  expect(goal("z", "x")).toBeNull();
});

it("finds places by every word, those that begin with it first", () => {
  const all = places([{ tag: "create-me" } as never], [], null);
  expect(matching(all, "cluster create").map((p) => p.href)).toEqual(["/create", "/c/create-me"]);
  expect(matching(all, "create")[0]!.text).toBe("Create a cluster");
  expect(matching(all, "zzz")).toEqual([]);
});
