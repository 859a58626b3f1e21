// Every URL of the UI. Nothing else builds one.

const seg = encodeURIComponent;

export const paths = {
  clusters: () => "/",
  create: (step?: string) => (step ? `/create?step=${seg(step)}` : "/create"),
  overview: (cluster: string) => `/c/${seg(cluster)}`,
  clusterOperations: (cluster: string) => `/c/${seg(cluster)}/operations`,
  operations: (filter: { state?: string; cluster?: string } = {}) => {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
    return query ? `/operations?${query}` : "/operations";
  },
  operation: (id: string) => `/operations/${seg(id)}`,
  openapi: () => "/api/v1/openapi.json",
};

/** Patterns for the router, beside what builds them. */
export const patterns = {
  clusters: "/",
  create: "/create",
  overview: "/c/:cluster",
  clusterOperations: "/c/:cluster/operations",
  operations: "/operations",
  operation: "/operations/:id",
};
