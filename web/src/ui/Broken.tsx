// What is shown when a page throws.
import Button from "@cloudscape-design/components/button";
import { useRouteError } from "react-router";
import { ProblemAlert } from "../parts/ProblemAlert";

export function Broken() {
  return (
    <main className="alone">
      <ProblemAlert error={useRouteError()} action={<Button onClick={() => location.reload()}>Load again</Button>} />
    </main>
  );
}
