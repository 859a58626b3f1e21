// What a stage made and every try of it, folded away.
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Attempt, Stage } from "../api/types";
import { Lasted, Time } from "../parts/Time";

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

export function StageDetail({ stage }: { stage: Stage }) {
  const outputs = Object.entries(stage.outputs ?? {});
  const history = stage.history ?? [];
  if (outputs.length === 0 && history.length === 0) return null;
  return (
    <details className="stage-detail">
      <summary aria-label={`Details of: ${stage.title}`}>Details</summary>
      <SpaceBetween size="s">
        {outputs.length > 0 && (
          <dl className="facts">
            {outputs.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="untrusted">
                  <code>{text(value)}</code>
                </dd>
              </div>
            ))}
          </dl>
        )}
        {history.length > 0 && <Attempts history={history} />}
      </SpaceBetween>
    </details>
  );
}

const SAID: Record<Attempt["state"], string> = {
  running: "at work",
  sending: "sent, no answer yet",
  answered: "answered",
  failed: "failed",
  lost: "no answer came",
  ended: "ended",
};

function Attempts({ history }: { history: readonly Attempt[] }) {
  return (
    <ol className="attempts small">
      {history.map((attempt, index) => (
        <li key={index}>
          <span>
            Attempt {attempt.number}
            {attempt.effect && (
              <>
                : <code>{attempt.effect}</code>
              </>
            )}{" "}
            – {SAID[attempt.state]}, <Time at={attempt.started_at} form="absolute" />,{" "}
            <Lasted from={attempt.started_at} to={attempt.ended_at} />
          </span>
          {(attempt.request_ids ?? []).map((id) => (
            <span key={id}>
              {" "}
              request <code>{id}</code>
            </span>
          ))}
          {attempt.problem && <p className="untrusted">{attempt.problem.detail}</p>}
        </li>
      ))}
    </ol>
  );
}
