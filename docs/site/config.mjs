// @ts-check

// How VitePress shows the pages. scripts/build-docs.mjs puts them into the folder that it is given.
import { anchorOf } from "../../scripts/lib/pages.mjs";

/**
 * The configuration of the site.
 *
 * @param {{ text: string, items: { text: string, link: string }[] }[]} sidebar the chapters of docs/README.md
 */
export function siteConfig(sidebar) {
  return {
    title: "Escapement",
    description: "A job scheduler for TypeScript whose schedules survive, and which can say why a job did not run.",
    rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md", "bench/README.md": "bench/index.md" },
    // Examples are copied as they are, and the reference is made by another program.
    ignoreDeadLinks: [/\/examples\//, /^\/reference\//],
    markdown: { anchor: { slugify: anchorOf } },
    themeConfig: {
      search: { provider: "local" },
      outline: [2, 3],
      nav: [
        { text: "Documentation", link: "/docs/" },
        { text: "Reference", link: "/reference/index.html", target: "_self" },
        { text: "Changes", link: "/CHANGELOG" },
      ],
      sidebar,
    },
  };
}
