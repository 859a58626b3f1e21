// Zone × instance type: what this account can get where. A place that is closed says why.
import type { Row } from "./choices";

interface Props {
  rows: readonly Row[];
  zones: readonly string[];
  chosen: { zone: string; type: string };
  onChoose: (zone: string, type: string) => void;
  errorId?: string;
}

export function PlaceTable({ rows, zones, chosen, onChoose, errorId }: Props) {
  return (
    <div className="place-box" tabIndex={0} role="region" aria-label="Zones and instance types">
      <table className="places" aria-describedby={errorId}>
        <caption className="hidden-text">Choose one zone and instance type</caption>
        <thead>
          <tr>
            <th scope="col">Instance type</th>
            {zones.map((zone) => (
              <th key={zone} scope="col">
                {zone}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.type}>
              <th scope="row">
                {row.type}
                <span className="small">{row.facts}</span>
              </th>
              {row.cells.map((cell) => (
                <td key={cell.zone}>
                  <label className={cell.open ? "place" : "place is-closed"}>
                    <input
                      type="radio"
                      name="place"
                      aria-label={`${row.type} in ${cell.zone}: ${cell.text}`}
                      disabled={!cell.open}
                      checked={chosen.zone === cell.zone && chosen.type === row.type}
                      onChange={() => onChoose(cell.zone, row.type)}
                    />
                    <span>{cell.text}</span>
                  </label>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p className="small">No instance type of that name.</p>}
    </div>
  );
}
