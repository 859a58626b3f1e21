// A problem as people need it: what is wrong, what to do, and AWS's own words and request id when it came from there.
import Alert, { type AlertProps } from "@cloudscape-design/components/alert";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import type { FieldError, Problem } from "../api/types";

interface Props {
  error: unknown;
  action?: ReactNode;
  type?: AlertProps.Type;
  /** Field errors to list; all of the problem's when absent. */
  errors?: FieldError[];
}

export function ProblemAlert({ error, action, type = "error", errors }: Props) {
  const problem = asProblem(error);
  return (
    <Alert type={type} header={problem.title} action={action} statusIconAriaLabel={type}>
      <ProblemText problem={problem} errors={errors ?? problem.errors ?? []} />
    </Alert>
  );
}

export function ProblemText({ problem, errors = [] }: { problem: Problem; errors?: FieldError[] }) {
  return (
    <div className="problem">
      <p className="untrusted">{problem.detail}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map((e, index) => (
            <li key={index}>
              {e.field && <code>{e.field}</code>} {e.message}
            </li>
          ))}
        </ul>
      )}
      {problem.remedy && (
        <p>
          <strong>What to do: </strong>
          {problem.remedy}
        </p>
      )}
      {problem.aws && (
        <p className="small">
          {problem.aws.service} {problem.aws.operation}: <code>{problem.aws.code}</code>
          {problem.aws.message && problem.aws.message !== problem.detail && (
            <span className="untrusted"> {problem.aws.message}</span>
          )}
          {problem.aws.request_id && (
            <>
              {" "}
              (request <code>{problem.aws.request_id}</code>)
            </>
          )}
        </p>
      )}
      <p className="small">
        <code>{problem.code}</code>
      </p>
    </div>
  );
}
