import { describe, expect, it } from "vitest";
import { segments, sortErrors, within } from "./pointers";

const error = (field: string, message = "bad") => ({ field, code: "x", message });

describe("JSON pointers", () => {
  it("are taken apart with their escapes", () => {
    expect(segments("/network/cidr")).toEqual(["network", "cidr"]);
    expect(segments("/a~1b/c~0d")).toEqual(["a/b", "c~d"]);
    expect(segments("#/tag")).toEqual(["tag"]);
    expect(segments("")).toEqual([]);
  });

  it("lie within the field that holds them, not within one of a like name", () => {
    expect(within("/deep_health_checks/0", "/deep_health_checks")).toBe(true);
    expect(within("/network_mode", "/network")).toBe(false);
    expect(within("/network", "/network/cidr")).toBe(false);
  });
});

describe("errors of a request", () => {
  it("go under the most specific field, several joined", () => {
    const { byField, rest } = sortErrors(
      [error("/network/cidr", "Too small."), error("/network/cidr", "Overlaps."), error("/network", "Choose one.")],
      ["/network", "/network/cidr"],
    );
    expect(byField).toEqual({ "/network/cidr": "Too small. Overlaps.", "/network": "Choose one." });
    expect(rest).toEqual([]);
  });

  it("that belong to no field are kept, none is lost", () => {
    const errors = [error("/unknown_field"), error(""), error("/headers/Idempotency-Key")];
    expect(sortErrors(errors, ["/tag"])).toEqual({ byField: {}, rest: errors });
  });
});
