// The same change as curl, MCP, aws and kubectl. The service renders the text; nothing is made up here.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs, { type TabsProps } from "@cloudscape-design/components/tabs";
import type { TerminalForms as Forms } from "../api/types";
import { CopyText } from "./CopyText";

const SKIPS = "Equivalent calls. They skip this product's checks, and no operation records them.";

function outside(label: string, commands: readonly string[]) {
  return (
    <SpaceBetween size="xs">
      <Alert type="info">{SKIPS}</Alert>
      <CopyText text={commands.join("\n\n")} what={`the ${label} commands`} />
    </SpaceBetween>
  );
}

export function TerminalForms({ forms }: { forms: Forms }) {
  const tabs: TabsProps.Tab[] = [];
  if (forms.curl)
    tabs.push({ id: "curl", label: "curl", content: <CopyText text={forms.curl} what="the curl command" /> });
  if (forms.mcp)
    tabs.push({ id: "mcp", label: "MCP", content: <CopyText text={forms.mcp} what="the MCP tool call" /> });
  if (forms.aws?.length) tabs.push({ id: "aws", label: "aws", content: outside("aws", forms.aws) });
  if (forms.kubectl?.length) tabs.push({ id: "kubectl", label: "kubectl", content: outside("kubectl", forms.kubectl) });
  if (tabs.length === 0) return <Box color="text-status-inactive">Nothing to run.</Box>;
  return <Tabs tabs={tabs} ariaLabel="The same change from a terminal or an agent" />;
}
