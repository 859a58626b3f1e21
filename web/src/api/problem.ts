// What goes wrong on the way to the service and back, as one kind of error.
import type { Problem } from "./types";

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`);
    this.name = "ApiError";
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }
}

const local = (code: string, title: string, detail: string, remedy: string, status = 0): Problem => ({
  type: `/docs/problems#${code}`,
  title,
  status,
  code,
  detail,
  remedy,
  errors: [],
  aws: null,
  data: {},
});

export const unreachable = (): ApiError =>
  new ApiError(
    local(
      "unreachable",
      "The service does not answer",
      "The browser got no answer from InstantStart.",
      "Check that it still runs and that the port forwarding session is open; this page goes on by itself.",
    ),
  );

/** The problem in an answer's body, or one made from its status when the body is no problem. */
export function problemFrom(status: number, body: unknown): ApiError {
  if (body && typeof body === "object" && "code" in body && "detail" in body) {
    const given = body as Partial<Problem>;
    return new ApiError({ ...local(String(given.code), given.title ?? "Refused", "", ""), ...given } as Problem);
  }
  return new ApiError(
    local("unexpected_answer", "An unexpected answer", `The service answered ${status}.`, "Try again.", status),
  );
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "code" in value && "detail" in value && "title" in value;

/** A problem, or any thrown thing as one that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  if (isProblem(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  return local("page_error", "This page broke", text, "Load the page again.");
}
