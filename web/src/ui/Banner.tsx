// The service's notice, such as that this is the sandbox, with the product's clock; admins reach its controls here.
import Button from "@cloudscape-design/components/button";
import { Suspense, lazy, useState } from "react";
import { button, hasRole } from "../parts/can";
import { productClock } from "../parts/clock";
import { paceWords } from "../parts/time";
import { useNow } from "../parts/useNow";
import { useHeartbeat } from "../api/heartbeat";
import { useSession } from "./session-context";

const Controls = lazy(() => import("../control/Controls"));

export function Banner() {
  const session = useSession();
  const [open, setOpen] = useState(false);
  if (!session.notice) return null;
  return (
    <div className="banner" role="region" aria-label="Notice">
      <span className="banner-text">{session.notice}</span>
      <Clock />
      {session.control && (
        <Button variant="inline-link" onClick={() => setOpen(true)} {...button(hasRole(session, "admin"))}>
          Clock and faults
        </Button>
      )}
      {open && (
        <Suspense fallback={null}>
          <Controls onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Clock() {
  useHeartbeat();
  const now = new Date(useNow());
  return (
    <span className="banner-clock numbers" title="The product's clock">
      <time dateTime={now.toISOString()}>{now.toLocaleTimeString("en-GB")}</time> {paceWords(productClock.pace)}
    </span>
  );
}
