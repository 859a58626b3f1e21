// AWS and Kubernetes objects that a plan touches.
import Badge, { type BadgeProps } from "@cloudscape-design/components/badge";
import type { PlannedObject } from "../api/types";

const COLOURS: Record<PlannedObject["action"], BadgeProps["color"]> = {
  create: "green",
  adopt: "blue",
  update: "blue",
  remove: "red",
  keep: "grey",
};

export function Objects({ objects }: { objects: readonly PlannedObject[] }) {
  return (
    <ul className="objects">
      {objects.map((object) => (
        <li key={`${object.where}/${object.kind}/${object.name}`}>
          <Badge color={COLOURS[object.action]}>{object.action}</Badge>
          <span>
            <span className="small">{object.kind}</span> <code>{object.name}</code>
            {object.detail && <span className="small"> {object.detail}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
