// @ts-check

// package.json promises that no file does anything but define its names (`sideEffects: false`). So whoever bundles the
// package may drop a file of which no name is used. Chunks hold many files, hence the promise has to be kept by every
// statement: bundlers drop an unused `const x = f()` only when it is marked as pure.

import ts from "typescript54";

const PURE = "/* @__PURE__ */ ";
const COLLECTIONS = new Set(["Map", "Set", "WeakMap", "WeakSet"]);

/**
 * A TypeScript source in which each statement can be dropped by a bundler when its names are unused. Lines stay. Pure.
 *
 * @param {string} path for messages
 * @param {string} text
 * @returns {string}
 * @throws {Error} at a statement that only does something, and at a destructuring of anything but a name's properties
 */
export function droppable(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  /** @type {{ start: number, end: number, text: string }[]} */
  const edits = [];
  const insert = (/** @type {number} */ at, /** @type {string} */ added) =>
    void edits.push({ start: at, end: at, text: added });

  for (const statement of file.statements) {
    if (isAmbient(statement)) continue;
    if (ts.isVariableStatement(statement)) statement.declarationList.declarations.forEach(wrapValue);
    else if (ts.isClassDeclaration(statement)) wrapClass(statement);
    else if (!isDefinition(statement)) {
      const { line } = file.getLineAndCharacterOfPosition(statement.getStart());
      throw new Error(`${path}:${line + 1} does something when it is loaded, and package.json says that no file does`);
    }
  }
  return apply(text, edits);

  /** @param {ts.VariableDeclaration} declaration */
  function wrapValue({ name, initializer }) {
    if (initializer === undefined) return;
    if (ts.isIdentifier(name)) {
      if (isPure(initializer)) return;
      insert(initializer.getStart(), `${PURE}(() => (`);
      insert(initializer.getEnd(), "))()");
      return;
    }
    // const { a, b: c } = d  ->  const a = d.a, c = d.b
    const value = initializer.getText();
    const isOfName = ts.isIdentifier(withoutTypes(initializer));
    if (!ts.isObjectBindingPattern(name) || !isOfName)
      throw new Error(`${path}: cannot mark ${name.getText()} as pure`);
    const parts = name.elements.map((element) => {
      const isPlain = element.initializer === undefined && element.dotDotDotToken === undefined;
      if (!isPlain || !ts.isIdentifier(element.name)) throw new Error(`${path}: cannot mark ${name.getText()} as pure`);
      const property = (element.propertyName ?? element.name).getText();
      return `${element.name.text} = ${PURE}(() => (${value}).${property})()`;
    });
    const lines = text.slice(name.getStart(), initializer.getEnd()).replace(/[^\n]/g, "");
    edits.push({ start: name.getStart(), end: initializer.getEnd(), text: `${parts.join(", ")}${lines}` });
  }

  /** @param {ts.ClassDeclaration} declaration */
  function wrapClass(declaration) {
    if (!declaration.members.some(runsWhenDefined)) return;
    const name = declaration.name?.text;
    const exported = declaration.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    const start = exported?.getStart() ?? declaration.getStart();
    const head = `${exported === undefined ? "" : "export "}const ${name} = ${PURE}(() => { `;
    edits.push({ start, end: exported === undefined ? start : exported.getEnd(), text: head });
    insert(declaration.getEnd(), ` return ${name}; })();`);
  }
}

/** @param {ts.Statement} statement */
function isDefinition(statement) {
  if (ts.isImportDeclaration(statement)) return statement.importClause !== undefined;
  return (
    ts.isExportDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement)
  );
}

/** @param {ts.Statement} statement `declare ...` and the like, of which nothing is left to run */
function isAmbient(statement) {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) ?? false;
}

/** @param {ts.ClassElement} member */
function runsWhenDefined(member) {
  if (ts.isClassStaticBlockDeclaration(member)) return true;
  const isStatic = ts.canHaveModifiers(member)
    ? ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
    : false;
  return isStatic === true && ts.isPropertyDeclaration(member) && !isPureOrMissing(member.initializer);
}

/** @param {ts.Expression | undefined} expression */
function isPureOrMissing(expression) {
  return expression === undefined || isPure(expression);
}

/** Whether every bundler sees that nothing happens. @param {ts.Expression} typed @returns {boolean} */
function isPure(typed) {
  const expression = withoutTypes(typed);
  if (ts.isLiteralExpression(expression) || ts.isIdentifier(expression)) return true;
  if (ts.isArrowFunction(expression) || ts.isFunctionExpression(expression)) return true;
  if ([ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(expression.kind)) {
    return true;
  }
  if (ts.isPrefixUnaryExpression(expression)) return isNumber(expression.operand);
  if (ts.isBinaryExpression(expression)) return isNumber(expression.left) && isNumber(expression.right);
  if (ts.isArrayLiteralExpression(expression)) return expression.elements.every(isPure);
  if (ts.isObjectLiteralExpression(expression)) return expression.properties.every(isPureProperty);
  return (
    ts.isNewExpression(expression) && COLLECTIONS.has(expression.expression.getText()) && !expression.arguments?.length
  );
}

/** @param {ts.Expression} expression @returns {boolean} */
function isNumber(expression) {
  if (ts.isNumericLiteral(expression)) return true;
  if (ts.isPrefixUnaryExpression(expression)) return isNumber(expression.operand);
  return ts.isBinaryExpression(expression) && isNumber(expression.left) && isNumber(expression.right);
}

/** @param {ts.ObjectLiteralElementLike} property */
function isPureProperty(property) {
  if (ts.isSpreadAssignment(property) || ts.isComputedPropertyName(property.name)) return false;
  return ts.isPropertyAssignment(property) ? isPure(property.initializer) : true;
}

/** @param {ts.Expression} expression @returns {ts.Expression} */
function withoutTypes(expression) {
  const isWrapped =
    ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression) || ts.isParenthesizedExpression(expression);
  return isWrapped ? withoutTypes(expression.expression) : expression;
}

/** @param {string} text @param {readonly { start: number, end: number, text: string }[]} edits */
function apply(text, edits) {
  let result = "";
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}
