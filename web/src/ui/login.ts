// The one-time code that the terminal prints: `/#login=<code>`.

const PREFIX = "#login=";

/** The code in the address, taken out of it so that it stays in no history. */
export function takeLoginCode(place: Location = window.location): string | null {
  if (!place.hash.startsWith(PREFIX)) return null;
  const code = decodeURIComponent(place.hash.slice(PREFIX.length));
  window.history.replaceState(null, "", place.pathname + place.search);
  return code || null;
}
