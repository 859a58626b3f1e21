// What a person may do, and why not. Only for showing: the service decides.
import type { Session } from "../api/types";

export type Verdict = { allowed: true } | { allowed: false; reason: string };
export const yes: Verdict = { allowed: true };
export const no = (reason: string): Verdict => ({ allowed: false, reason });

const RANK = { viewer: 0, operator: 1, admin: 2 } as const;

export function hasRole(session: Session, role: Session["role"]): Verdict {
  if (RANK[session.role] >= RANK[role]) return yes;
  return no(`This needs the role ${role}; you have ${session.role}. Ask an admin.`);
}

/** The first no, or yes. */
export const all = (...verdicts: Verdict[]): Verdict => verdicts.find((v) => !v.allowed) ?? yes;

/** Properties of a button that is disabled with its reason. */
export const button = (verdict: Verdict): { disabled: boolean; disabledReason?: string } =>
  verdict.allowed ? { disabled: false } : { disabled: true, disabledReason: verdict.reason };
