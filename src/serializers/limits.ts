/** Deepest nesting of a value that is carried as JSON. Engines overflow their stacks at some thousands of levels. */
export const JSON_DEPTH_MAX = 1000;
