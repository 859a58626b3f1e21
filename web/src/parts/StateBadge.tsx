// A state with its mark, colour and short word; the sentence shows on hover.
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { OperationState, StageState } from "../api/types";
import { OPERATION, STAGE, type Shown, foreign } from "./states";

function Badge({ shown }: { shown: Shown }) {
  return (
    <span title={shown.sentence}>
      <StatusIndicator type={shown.type}>{shown.word}</StatusIndicator>
    </span>
  );
}

export const OperationBadge = ({ state }: { state: OperationState }) => <Badge shown={OPERATION[state]} />;
export const StageBadge = ({ state }: { state: StageState }) => <Badge shown={STAGE[state]} />;
export const ForeignBadge = ({ word }: { word: string | null | undefined }) => <Badge shown={foreign(word)} />;
