import { render } from "preact";
import { getSession, Refused, signIn, Unreached } from "./api.ts";
import { App } from "./app.tsx";
import { placeOf } from "./hash.ts";
import { listenToKeys } from "./keys.ts";
import { retryNow, watch } from "./live.ts";
import { getState, setState } from "./store.ts";

/** A link of a program carries a code that signs in once. The address bar loses it before it is used. */
async function spendCode(): Promise<boolean> {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return false;
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  setState({ place: placeOf("") });
  try {
    await signIn({ code });
  } catch (error) {
    // The code was used before: a session may be there all the same, else the sign-in asks for a token.
    if (!(error instanceof Refused || error instanceof Unreached)) throw error;
  }
  return true;
}

async function begin(): Promise<void> {
  document.documentElement.dataset.theme = getState().theme;
  watch();
  listenToKeys();
  window.addEventListener("hashchange", () => {
    const place = placeOf(location.hash);
    const isOther = place.page !== getState().place.page || place.id !== getState().place.id;
    setState({ place, ...(place.page === "runs" ? { failures: 0 } : {}) });
    if (isOther) scrollTo(0, 0);
  });
  render(<App />, document.body);
  const hasCode = await spendCode();
  if (!hasCode && document.documentElement.dataset.signedIn === undefined) return setState({ session: null });
  try {
    setState({ session: await getSession() });
  } catch (error) {
    if (error instanceof Refused) setState({ session: null });
    else await retryNow();
  }
}

void begin();
