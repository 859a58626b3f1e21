// What checks found: the blocking ones first, each with what to do.
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { Finding } from "../api/types";

const MARK: Record<Finding["severity"], [StatusIndicatorProps.Type, string]> = {
  blocking: ["error", "Blocking"],
  warning: ["warning", "Warning"],
  info: ["info", "Good to know"],
};
const ORDER: Finding["severity"][] = ["blocking", "warning", "info"];

export const sorted = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));

export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul className="plain findings">
      {sorted(findings).map((finding, index) => (
        <li key={`${finding.code}-${index}`}>
          <SpaceBetween size="xxxs">
            <StatusIndicator type={MARK[finding.severity][0]} iconAriaLabel={MARK[finding.severity][1]}>
              <strong>{finding.title}</strong>
            </StatusIndicator>
            <span className="untrusted small">{finding.detail}</span>
            {finding.remedy && <span className="small">What to do: {finding.remedy}</span>}
          </SpaceBetween>
        </li>
      ))}
    </ul>
  );
}
