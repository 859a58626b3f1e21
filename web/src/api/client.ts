// The one way to the service: same origin, typed by OpenAPI, and every failure an ApiError.
import createClient, { type Middleware } from "openapi-fetch";
import { productClock } from "../parts/clock";
import { ApiError, problemFrom, unreachable } from "./problem";
import type { paths } from "./schema";

export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin" });

const ours: Middleware = {
  onRequest({ request }) {
    request.headers.set("X-InstantStart", "1");
    return request;
  },
  onResponse({ response }) {
    productClock.heard(response.headers.get("X-Now"));
  },
  onError() {
    return unreachable();
  },
};
api.use(ours);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws ApiError for everything else. */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    throw error instanceof ApiError || (error as Error).name === "AbortError" ? error : unreachable();
  }
  if (!answer.response.ok) throw problemFrom(answer.response.status, answer.error);
  return answer.data as T;
}

/** A key that makes one wish one wish, however often it is sent. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `web-${Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("")}`;
}

/** A call of the sandbox's own interface through the service; admins only. */
export async function control<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const init: RequestInit = { method, credentials: "same-origin", headers: { "X-InstantStart": "1" } };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let response: Response;
  try {
    response = await fetch(`/api/v1/control/${path}`, init);
  } catch {
    throw unreachable();
  }
  productClock.heard(response.headers.get("X-Now"));
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw problemFrom(response.status, answer);
  return answer as T;
}
