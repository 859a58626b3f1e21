// Stages on a time line. Read aloud it is a list; the bars are decoration for the eye.
import type { Stage } from "../api/types";
import { layout } from "./gantt";
import { STAGE } from "./states";
import { duration } from "./time";
import { useNow } from "./useNow";

interface Props {
  stages: readonly Stage[];
  /** The time at which the line ends once nothing runs any more, as an ISO time. */
  ended: string | null | undefined;
  stepTitle: (step: string) => string;
}

export function Gantt({ stages, ended, stepTitle }: Props) {
  const now = useNow();
  const { bars, ticks } = layout(stages, ended ? Date.parse(ended) : now);
  const label = (index: number) => stages[index]!.step !== stages[index - 1]?.step;
  return (
    <div className="gantt">
      <div className="gantt-axis" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick.seconds} className="numbers" style={{ insetInlineStart: `${tick.left}%` }}>
            {duration(tick.seconds)}
          </span>
        ))}
      </div>
      <ul aria-label="Stages on a time line">
        {bars.map(({ stage, left, width, seconds, critical }, index) => (
          <li key={stage.name} className={label(index) ? "gantt-row gantt-first" : "gantt-row"}>
            {label(index) && <span className="gantt-step">{stepTitle(stage.step)}</span>}
            <a className="gantt-label" href={`#stage-${stage.name}`}>
              {stage.title}
            </a>
            <span className="gantt-line">
              {left !== null && (
                <span
                  className={`gantt-bar is-${stage.state}${critical ? " is-critical" : ""}`}
                  style={{ insetInlineStart: `${left}%`, inlineSize: `${width}%` }}
                />
              )}
            </span>
            <span className="gantt-time numbers">
              {seconds === null ? "–" : duration(seconds)}
              <span className="hidden-text">, {STAGE[stage.state].word}</span>
            </span>
          </li>
        ))}
      </ul>
      <p className="small gantt-key" aria-hidden="true">
        <span className="gantt-bar is-succeeded" /> done <span className="gantt-bar is-running" /> at work{" "}
        <span className="gantt-bar is-failed" /> failed <span className="gantt-bar is-succeeded is-critical" /> decides
        when the whole is over
      </p>
    </div>
  );
}
