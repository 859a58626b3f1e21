// Starts the UI: theme before the first paint, a login code out of the address bar, then the app.
import "@fontsource/open-sans/latin-400.css";
import "@fontsource/open-sans/latin-700.css";
import "./styles.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./ui/App";
import { takeLoginCode } from "./ui/login";
import { startTheme } from "./ui/theme";

startTheme();
const code = takeLoginCode();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App code={code} />
  </StrictMode>,
);
