// What JSX becomes. The build injects it.
export { Fragment, h } from "preact";
