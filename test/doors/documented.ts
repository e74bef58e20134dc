/** What `deno doc --json` says of modules, as far as it is read here. */
export interface DocumentedModules {
  readonly nodes: Readonly<
    Record<string, { readonly module_doc?: Documented; readonly symbols: readonly DocumentedSymbol[] }>
  >;
}

interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

interface Documented {
  readonly doc?: string;
  readonly jsDoc?: { readonly doc?: string; readonly tags?: readonly Tag[] } | undefined;
}

interface Tag {
  readonly kind: string;
  readonly name?: string;
  readonly tsType?: { readonly repr?: string };
}

/** `line` is zero-based. */
interface Location {
  readonly filename: string;
  readonly line: number;
}

interface Declaration extends Documented {
  readonly kind: string;
  readonly location: Location;
  readonly def?: Definition;
}

interface Definition {
  readonly constructors?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly properties?: readonly Member[];
  readonly params?: readonly Parameter[];
  readonly implements?: readonly TypeName[];
  readonly extends?: TypeName | string | readonly TypeName[];
}

interface Member extends Documented {
  readonly name: string;
  readonly optional?: boolean;
  readonly accessibility?: "private" | "protected" | "public";
  readonly params?: readonly Parameter[];
  readonly functionDef?: { readonly params: readonly Parameter[] };
  readonly location?: Location;
}

interface Parameter {
  readonly name?: string;
  readonly left?: Parameter;
  readonly tsType?: { readonly kind: string; readonly value?: unknown };
}

interface TypeName {
  readonly repr?: string;
  readonly value?: { readonly typeName?: string };
}

/** What needs no words of its own, and why. */
export interface Exemptions {
  /** Fields that mean the same wherever they are, which a page explains once. */
  readonly fields: ReadonlySet<string>;
  /** Types that describe objects of others, or repeat a table that is documented elsewhere. */
  readonly shapes: ReadonlySet<string>;
  /** Types whose members are those of another one by name. */
  readonly sameAs: Readonly<Record<string, string>>;
}

type Named = readonly [name: string, declaration: Declaration];

/**
 * What public names lack, each as `where: what`, sorted.
 *
 * @param bodyAt the text of a function, which `location` is the first line of
 */
export function gapsOf(
  { nodes }: DocumentedModules,
  exemptions: Exemptions,
  bodyAt: (location: Location) => string,
): string[] {
  const modules = Object.values(nodes);
  const named: Named[] = modules.flatMap(({ symbols }) =>
    symbols.flatMap(({ name, declarations }) => declarations.map((declaration) => [name, declaration] as const)),
  );
  const own = named.filter(
    ([, { kind, location }]) => kind !== "reference" && !location.filename.includes("node_modules"),
  );
  const parents = parentsOf(own, exemptions.sameAs);
  const gaps = own.flatMap(([name, declaration]) => gapsOfSymbol(name, declaration, own, parents, exemptions));
  const silent = Object.entries(nodes).flatMap(([file, { module_doc: doc }]) =>
    doc?.doc ? [] : `${file}: no @module`,
  );
  const untold = own.flatMap(([name, declaration]) => errorsUntold(name, declaration, own, parents, bodyAt));
  return [...new Set([...silent, ...gaps, ...untold])].sort();
}

/** Errors that the text of a function or a method throws, and that its documentation does not name. */
function errorsUntold(
  name: string,
  { kind, location, jsDoc, def = {} }: Declaration,
  own: readonly Named[],
  parents: Parents,
  bodyAt: (location: Location) => string,
): string[] {
  const untold = (where: string, at: Location, said: readonly unknown[]) => {
    const thrown = [...bodyAt(at).matchAll(/throw new (\w+Error)\b/g)].map(([, error = ""]) => error);
    return thrown.flatMap((error) => (JSON.stringify(said).includes(error) ? [] : `${where}: throws ${error}`));
  };
  if (kind === "function")
    return untold(
      name,
      location,
      own.filter(([other]) => other === name),
    );
  if (kind !== "class") return [];
  const methods = (def.methods ?? []).filter((method) => !isInherited(name, method.name, parents));
  return [...methods, ...(def.constructors ?? [])].flatMap((method) => {
    if (method.accessibility !== undefined || method.location === undefined) return [];
    const overloads = methods.filter((other) => other.name === method.name);
    return untold(`${name}.${method.name}`, method.location, [jsDoc, method.jsDoc, overloads]);
  });
}

function gapsOfSymbol(name: string, declaration: Declaration, own: readonly Named[], parents: Parents, no: Exemptions) {
  const { kind, def = {} } = declaration;
  const gaps: string[] = [];
  const others = own.filter(([other]) => other === name).map(([, other]) => other);
  if (!others.some(isDescribed)) gaps.push(`${name}: no description`);
  if (kind === "function") gaps.push(...unexplained(name, others, def.params ?? [], no));
  const isError = /Error$/.test(name) || ["SkipRun", "RetryAfter"].includes(name);
  const needsExample = kind === "function" || (kind === "class" && !isError);
  if (needsExample && !others.some(hasExample)) gaps.push(`${name}: no example`);
  if ((kind !== "class" && kind !== "interface") || no.shapes.has(name)) return gaps;

  const members = [...(def.methods ?? []), ...(def.properties ?? [])].filter(
    ({ name: member, accessibility, jsDoc }) =>
      accessibility === undefined &&
      jsDoc?.tags?.some(({ kind }) => kind === "internal") !== true &&
      !/^\[|^~|^to(JSON|String)$/.test(member),
  );
  for (const member of members) {
    const overloads = members.filter((other) => other.name === member.name);
    const isNamed = declaration.jsDoc?.doc?.includes(`\`${member.name}\``) === true;
    if (
      !overloads.some(isDescribed) &&
      !isNamed &&
      !no.fields.has(member.name) &&
      !isInherited(name, member.name, parents)
    ) {
      gaps.push(`${name}.${member.name}: no description`);
    }
    const { params = member.functionDef?.params ?? [] } = member;
    if (isDescribed(member) && !isInherited(name, member.name, parents)) {
      gaps.push(...unexplained(`${name}.${member.name}`, overloads, params, no));
    }
    const saysDefault = isAbout(DEFAULT, declaration) || no.fields.has(member.name) || isAbout(DEFAULT, member);
    if (member.optional === true && /(Options|Settings)$/.test(name) && !saysDefault)
      gaps.push(`${name}.${member.name}: no default`);
  }
  return gaps;
}

/** How a text tells what is where nothing is given. */
const DEFAULT = /default|unless|without|left out|undefined|otherwise|optional|goes together|null/i;

type Parents = ReadonlyMap<string, { readonly described: ReadonlySet<string>; readonly above: readonly string[] }>;

function parentsOf(own: readonly Named[], sameAs: Readonly<Record<string, string>>): Parents {
  const parents = new Map<string, { described: Set<string>; above: string[] }>();
  for (const [name, { kind, def = {} }] of own) {
    if (kind !== "class" && kind !== "interface") continue;
    const { extends: above = [] } = def;
    const types = [...(def.implements ?? []), ...(Array.isArray(above) ? above : [above])];
    const described = [...(def.methods ?? []), ...(def.properties ?? [])]
      .filter(isDescribed)
      .map((member) => member.name);
    parents.set(name, {
      described: new Set(described),
      above: [...types.map(nameOf), ...(sameAs[name] === undefined ? [] : [sameAs[name]])],
    });
  }
  return parents;
}

/** The last word of a type's name: `contract.DataStore` is `DataStore`. */
function nameOf(type: TypeName | string): string {
  const name = typeof type === "string" ? type : (type.value?.typeName ?? type.repr ?? "");
  return /(\w+)\W*$/.exec(name)?.[1] ?? name;
}

function isInherited(type: string, member: string, parents: Parents): boolean {
  return (parents.get(type)?.above ?? []).some(
    (above) => parents.get(above)?.described.has(member) === true || isInherited(above, member, parents),
  );
}

/** Parameters that are plain values, and of which no word says what they mean. What is said by a link to another method
 *  is said there. */
function unexplained(where: string, overloads: readonly Documented[], params: readonly Parameter[], no: Exemptions) {
  return params.flatMap((param) => {
    const { name = "", tsType } = param.left ?? param;
    if (tsType?.kind !== "keyword" || no.fields.has(name)) return [];
    const words = new RegExp(`\\b${name}\\b|\\{@link `);
    const isNamed = overloads.some(
      ({ jsDoc }) =>
        jsDoc?.tags?.some((tag) => tag.kind === "param" && tag.name?.split(".")[0] === name) ||
        words.test(jsDoc?.doc ?? ""),
    );
    return isNamed ? [] : [`${where}: nothing about \`${name}\``];
  });
}

function isDescribed({ jsDoc }: Documented): boolean {
  return (jsDoc?.doc ?? "").trim() !== "" || (jsDoc?.tags ?? []).length > 0;
}

function hasExample({ jsDoc }: Documented): boolean {
  return /```/.test(jsDoc?.doc ?? "") || (jsDoc?.tags ?? []).some(({ kind }) => kind === "example");
}

function isAbout(words: RegExp, { jsDoc }: Documented): boolean {
  return words.test(JSON.stringify(jsDoc ?? {}));
}
