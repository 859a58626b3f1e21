// Builds into the Python package. No inlined assets and no preload polyfill: the CSP allows neither inline scripts nor
// inline styles.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const service = process.env.INSTANTSTART_URL ?? "http://127.0.0.1:3099";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/instantstart/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: { "/api": { target: service, ws: true } },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    server: { deps: { inline: [/@cloudscape-design/] } },
  },
});
