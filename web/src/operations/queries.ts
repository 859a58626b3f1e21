// Reading and changing operations.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, newKey, ok } from "../api/client";
import { keys } from "../api/keys";
import type { Operation, OperationState } from "../api/types";

export interface Filter {
  cluster?: string;
  state?: OperationState;
  limit?: number;
  cursor?: string;
}

export const operationList = (filter: Filter) =>
  queryOptions({
    queryKey: keys.operationList(filter),
    queryFn: ({ signal }) => ok(api.GET("/api/v1/operations", { params: { query: filter }, signal })),
  });

export const operation = (id: string) =>
  queryOptions({
    queryKey: keys.operation(id),
    queryFn: ({ signal }) =>
      ok(api.GET("/api/v1/operations/{operation_id}", { params: { path: { operation_id: id } }, signal })),
  });

export interface Retry {
  stage?: string;
  accept: string[];
}

function useChanged(id: string): (view: Operation) => void {
  const client = useQueryClient();
  return (view) => {
    client.setQueryData(keys.operation(id), view);
    void client.invalidateQueries({ queryKey: keys.operationLists() });
  };
}

export function useRetry(id: string) {
  return useMutation({
    mutationFn: (retry: Retry) =>
      ok(
        api.POST("/api/v1/operations/{operation_id}/retry", {
          params: { path: { operation_id: id }, header: { "Idempotency-Key": newKey() } },
          body: retry,
        }),
      ),
    onSuccess: useChanged(id),
  });
}

export function useCancel(id: string) {
  return useMutation({
    mutationFn: () =>
      ok(api.POST("/api/v1/operations/{operation_id}/cancel", { params: { path: { operation_id: id } } })),
    onSuccess: useChanged(id),
  });
}
