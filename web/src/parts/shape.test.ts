import { expect, it } from "vitest";
import shapes from "../api/shapes.json";
import { misfit } from "./shape";

const tag = shapes.ClusterCreate.tag;

it.each(["Demo", "../x", "a--b", "1a", "a", "a".repeat(21)])("%s is no tag", (text) => {
  expect(misfit(tag, text)).not.toBeNull();
});

it.each(["demo", "a1-b2", ""])("nothing is said about %j", (text) => expect(misfit(tag, text)).toBeNull());

it("says nothing about a field that has no shape", () => expect(misfit(undefined, "x")).toBeNull());
