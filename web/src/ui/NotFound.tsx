// An address that leads nowhere.
import SpaceBetween from "@cloudscape-design/components/space-between";
import { PageButton } from "../parts/follow";
import { PageHeader } from "../parts/PageHeader";
import { paths } from "../paths";

export function NotFound({ what = "There is no such page." }: { what?: string }) {
  return (
    <SpaceBetween size="l">
      <PageHeader title="Not found" description={what} />
      <SpaceBetween direction="horizontal" size="xs">
        <PageButton href={paths.clusters()}>All clusters</PageButton>
        <PageButton href={paths.operations()}>Operations</PageButton>
      </SpaceBetween>
    </SpaceBetween>
  );
}
