// Says which sources a build was made from, so that the service can tell a stale one. The same sum as
// `instantstart.faces.web_build.source_hash`: SHA-256 over "<path>\0" and the SHA-256 of each file's bytes.
//   node build-hash.mjs          prints the sum of the sources
//   node build-hash.mjs stamp    writes build.json beside the build
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = dirname(fileURLToPath(import.meta.url));
const STATIC = join(WEB, "..", "src", "instantstart", "static");
const PLACES = ["src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json"];

const byParts = (a, b) => {
  const [x, y] = [a.split(sep), b.split(sep)];
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1;
  return x.length - y.length;
};

function files(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return [];
  if (stat.isFile()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => byParts(relative(WEB, a), relative(WEB, b)));
}

export function sourceHash() {
  const digest = createHash("sha256");
  for (const file of PLACES.flatMap((place) => files(join(WEB, place)))) {
    digest.update(relative(WEB, file).split(sep).join("/") + "\0");
    digest.update(createHash("sha256").update(readFileSync(file)).digest());
  }
  return digest.digest("hex");
}

if (process.argv[2] === "stamp") {
  const { version } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
  writeFileSync(join(STATIC, "build.json"), JSON.stringify({ version, source_hash: sourceHash() }) + "\n");
} else {
  console.log(sourceHash());
}
