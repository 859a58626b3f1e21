// Keys of the browser's copies of the service's answers.

export const keys = {
  session: () => ["session"] as const,
  clusters: () => ["clusters"] as const,
  clusterList: () => ["clusters", "list"] as const,
  cluster: (cluster: string) => ["clusters", "one", cluster] as const,
  capacity: () => ["capacity"] as const,
  operationLists: () => ["operations", "list"] as const,
  operationList: (filter: object) => ["operations", "list", filter] as const,
  operation: (id: string) => ["operations", "one", id] as const,
  plan: (kind: string, body: unknown) => ["plan", kind, body] as const,
  control: (what: string) => ["control", what] as const,
};
