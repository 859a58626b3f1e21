// Words for clusters. Pure.
import type { ClusterSummary } from "../api/types";

/** "EKS ACTIVE, HyperPod InService" */
export function halves(cluster: Pick<ClusterSummary, "eks" | "hyperpod">): string {
  return `EKS ${cluster.eks?.status ?? "not there"}, HyperPod ${cluster.hyperpod?.status ?? "not there"}`;
}
