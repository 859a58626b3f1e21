// Reading and changing clusters.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, newKey, ok } from "../api/client";
import { keys } from "../api/keys";
import type { ClusterCreate, ClusterList } from "../api/types";
import { isOperation, isPlan } from "../parts/answers";

export const clusterList = () =>
  queryOptions({
    queryKey: keys.clusterList(),
    queryFn: ({ signal }) => ok(api.GET("/api/v1/clusters", { signal })),
  });

export const clusterStatus = (cluster: string) =>
  queryOptions({
    queryKey: keys.cluster(cluster),
    queryFn: ({ signal }) => ok(api.GET("/api/v1/clusters/{cluster}", { params: { path: { cluster } }, signal })),
    refetchInterval: 20_000,
  });

export const capacity = () =>
  queryOptions({
    queryKey: keys.capacity(),
    queryFn: ({ signal }) => ok(api.GET("/api/v1/capacity", { params: { query: { limit: 300 } }, signal })),
  });

/** The plan of a creation; the answer says what it would do, nothing is begun. */
export const createPlan = (body: ClusterCreate | null) =>
  queryOptions({
    queryKey: keys.plan("cluster_create", body),
    enabled: body !== null,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 15_000,
    queryFn: async ({ signal }) =>
      isPlan(await ok(api.POST("/api/v1/clusters", { params: { query: { dry_run: true } }, body: body!, signal }))),
  });

export const deletePlan = (cluster: string) =>
  queryOptions({
    queryKey: keys.plan("cluster_delete", cluster),
    retry: false,
    staleTime: 0,
    queryFn: async ({ signal }) =>
      isPlan(
        await ok(
          api.POST("/api/v1/clusters/{cluster}/delete", {
            params: { path: { cluster }, query: { dry_run: true } },
            body: { confirm: cluster },
            signal,
          }),
        ),
      ),
  });

export function useSelect() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (cluster: string) => ok(api.PUT("/api/v1/selection", { body: { cluster } })),
    onMutate: (cluster) =>
      client.setQueryData<ClusterList>(keys.clusterList(), (list) => list && { ...list, selected: cluster }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.clusterList() }),
  });
}

/** One wish keeps one key, so that a second click or a lost answer begins nothing twice. */
export function useCreate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ body, key }: { body: ClusterCreate; key: string }) =>
      isOperation(await ok(api.POST("/api/v1/clusters", { params: { header: { "Idempotency-Key": key } }, body }))),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.operationLists() }),
  });
}

export function useDelete(cluster: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (confirm: string) =>
      isOperation(
        await ok(
          api.POST("/api/v1/clusters/{cluster}/delete", {
            params: { path: { cluster }, header: { "Idempotency-Key": newKey() } },
            body: { confirm },
          }),
        ),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.operationLists() }),
  });
}
