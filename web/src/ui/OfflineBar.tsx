// Says that what is shown may be old, for as long as no news comes.
import { useEffect, useState } from "react";
import { useConnection } from "../stream/StreamProvider";

export function OfflineBar() {
  const connection = useConnection();
  const offline = connection.state === "offline";
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!offline) return setLate(false);
    const timer = setTimeout(() => setLate(true), 1500);
    return () => clearTimeout(timer);
  }, [offline]);
  return (
    <div role="status" className="offline-box">
      {offline && late && (
        <p className="offline">
          No connection to the service since {new Date(connection.since).toLocaleTimeString("en-GB")}. What you see is
          as of then; trying again by itself.
        </p>
      )}
    </div>
  );
}
