// Text to copy: one command or one block, with a button that says that it was copied.
import Button from "@cloudscape-design/components/button";
import { useEffect, useState } from "react";

export function CopyText({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  useEffect(() => {
    if (copied === "no") return;
    const timer = setTimeout(() => setCopied("no"), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied("yes"),
      () => setCopied("failed"),
    );
  return (
    <div className="copy">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <Button
        iconName={copied === "yes" ? "check" : "copy"}
        variant="icon"
        ariaLabel={`Copy ${what}`}
        onClick={() => void copy()}
      />
      <span role="status" className="small">
        {copied === "yes" ? "Copied" : copied === "failed" ? "Not allowed: select the text" : ""}
      </span>
    </div>
  );
}
