// The way in: a code from the terminal. There are no passwords.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { keys } from "../api/keys";
import type { Session } from "../api/types";
import { CopyText } from "../parts/CopyText";
import { ProblemAlert } from "../parts/ProblemAlert";
import { login } from "./session";

const COMMAND = "instantstart token login-code";

/** The code alone, also when somebody pastes the whole address. */
export const codeIn = (text: string): string => decodeURIComponent(text.trim().replace(/^.*#login=/, ""));

export function Login({ exchange }: { exchange: Promise<Session> | null }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = "Log in · InstantStart";
    exchange?.catch(setError);
  }, [exchange]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!codeIn(text)) return;
    setBusy(true);
    setError(null);
    try {
      client.setQueryData(keys.session(), await login(codeIn(text)));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };

  return (
    <main className="alone">
      <Container header={<Header variant="h1">InstantStart</Header>}>
        <SpaceBetween size="l">
          <Box>
            Log in with the address that the terminal prints. The code in it works once, for 10 minutes. A new one comes
            from the machine where InstantStart runs:
          </Box>
          <CopyText text={COMMAND} what="the command" />
          {error ? <ProblemAlert error={error} /> : null}
          <form onSubmit={(event) => void submit(event)}>
            <Form
              actions={
                <Button variant="primary" formAction="submit" loading={busy} loadingText="Logging in">
                  Log in
                </Button>
              }
            >
              <FormField label="Code or address">
                <Input value={text} onChange={({ detail }) => setText(detail.value)} autoComplete={false} autoFocus />
              </FormField>
            </Form>
          </form>
        </SpaceBetween>
      </Container>
    </main>
  );
}
