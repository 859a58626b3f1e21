// What may be done to clusters.
import type { ClusterStatus, Session } from "../api/types";
import { type Verdict, all, hasRole, no, yes } from "../parts/can";

export const canCreate = (session: Session): Verdict => hasRole(session, "operator");

export function canDelete(session: Session, cluster: Pick<ClusterStatus, "managed">): Verdict {
  return all(
    hasRole(session, "operator"),
    cluster.managed ? yes : no("InstantStart did not make this cluster, so it does not delete it."),
  );
}
