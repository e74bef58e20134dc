import { useState } from "preact/hooks";
import { getSession, Refused, signIn, Unreached } from "../api.ts";
import { Button, capital, Field } from "../parts/basics.tsx";
import { Mark } from "../parts/glyph.tsx";
import { setState } from "../store.ts";

export function SignIn() {
  const [problem, setProblem] = useState<string | null>(null);
  const enter = async (form: HTMLFormElement): Promise<void> => {
    try {
      await signIn({ token: String(new FormData(form).get("token") ?? "") });
      setState({ session: await getSession() });
    } catch (error) {
      setProblem(wordsOf(error));
    }
  };
  return (
    <main class="signin">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void enter(event.currentTarget);
        }}
      >
        <Mark size={40} />
        <h1>Sign in to Escapement</h1>
        <Field
          id="token"
          label="Token"
          type="password"
          required
          autocomplete="current-password"
          hint="One of the tokens that the program gave to createRouter. This page does not keep it."
        />
        {problem && (
          <div class="problem" role="alert">
            {problem}
          </div>
        )}
        <Button kind="primary" type="submit">
          Sign in
        </Button>
      </form>
    </main>
  );
}

function wordsOf(error: unknown): string {
  if (error instanceof Unreached) return "The server does not answer. Try again.";
  if (!(error instanceof Refused)) throw error;
  if (error.status === 401) return "That is none of this router's tokens.";
  if (error.status === 404) return "This router has no sign-in of its own: sign in where the application says.";
  if (error.status === 429) return "Too many wrong tokens came from here. Wait a minute.";
  return capital(error.message);
}
