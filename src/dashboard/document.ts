/** The document of the page. @param instance what the page calls the scheduler; empty for nothing
 *  @param folder what the URLs of its files begin with @param isSignedIn whether the reader is */
export function documentOf(instance: string, folder: string, isSignedIn: boolean): string {
  const shown = escaped(instance);
  return `<!doctype html>
<html lang="en" data-instance="${shown}"${isSignedIn ? " data-signed-in" : ""}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${shown === "" ? "" : `${shown} · `}Escapement</title>
<link rel="icon" href="${escaped(folder)}dashboard.svg">
<link rel="stylesheet" href="${escaped(folder)}dashboard.css">
<script type="module" src="${escaped(folder)}dashboard.js"></script>
<noscript>This page needs JavaScript. Without it, the routes of the router do the same: see openapi.json.</noscript>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
