// Errors of a request, by the field of the form they belong to (JSON pointers, RFC 6901). Pure.
import type { FieldError } from "../api/types";

/** "/deep_health_checks/0" → ["deep_health_checks", "0"]. */
export function segments(pointer: string): string[] {
  if (pointer === "" || pointer === "/") return [];
  return pointer
    .replace(/^#/, "")
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether a pointer names the field or something inside it. */
export function within(pointer: string, field: string): boolean {
  const [parts, wanted] = [segments(pointer), segments(field)];
  return wanted.every((part, index) => parts[index] === part);
}

export interface Sorted {
  /** The text under each field of the form, by the field's pointer. */
  byField: Record<string, string>;
  /** What belongs to no field of the form. */
  rest: FieldError[];
}

/** Put each error under the most specific field that holds it. */
export function sortErrors(errors: readonly FieldError[], fields: readonly string[]): Sorted {
  const byField: Record<string, string> = {};
  const rest: FieldError[] = [];
  const deepestFirst = [...fields].sort((a, b) => segments(b).length - segments(a).length);
  for (const error of errors) {
    const field = error.field ? deepestFirst.find((f) => within(error.field, f)) : undefined;
    if (field === undefined) rest.push(error);
    else byField[field] = byField[field] ? `${byField[field]} ${error.message}` : error.message;
  }
  return { byField, rest };
}
