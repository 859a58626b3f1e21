// Short names for the types that the OpenAPI document gives.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Session = Schemas["SessionView"];
export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];
export type Operation = Schemas["OperationView"];
export type OperationSummary = Schemas["OperationSummary"];
export type OperationState = Operation["state"];
export type Stage = Schemas["StageView"];
export type StageState = Stage["state"];
export type Attempt = Schemas["AttemptView"];
export type PlannedObject = Schemas["PlannedObject"];
export type Plan = Schemas["PlanView"];
export type PlanStage = Schemas["StageSpec"];
export type Finding = Schemas["Finding"];
export type TerminalForms = Schemas["TerminalForms"];
export type ClusterCreate = Schemas["ClusterCreate"];
export type ClusterList = Schemas["ClusterList"];
export type ClusterSummary = Schemas["ClusterSummary"];
export type ClusterStatus = Schemas["ClusterStatus"];
export type CapacityReport = Schemas["CapacityReport"];
