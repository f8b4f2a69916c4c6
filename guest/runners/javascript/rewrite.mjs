// Turns a cell into what V8's console mode evaluates: TypeScript loses its types, `import` and `export` become expressions,
// and names keep one kind of declaration for ever, because V8 lets `let` follow `let`, but neither `const`, `var` nor a function.
import {createRequire, stripTypeScriptTypes} from 'node:module';

const acorn = createRequire(import.meta.url)('internal/deps/acorn/acorn/dist/acorn');
const OPTIONS = {
  ecmaVersion: 'latest', sourceType: 'script', allowAwaitOutsideFunction: true, allowImportExportEverywhere: true,
  allowHashBang: true,
};

/** Names that earlier cells declared: 'let' or 'var'. Functions are of the second kind. */
const kinds = new Map();

/**
 * The code to evaluate; `prefix` is how many characters were put before its first line, `map` the source map when the lines
 * moved. Code that the parser does not know goes to V8 as it is, whose messages are better; `doubt` is the parser's own.
 */
export function rewrite(source, language) {
  let code = source;
  let map = null;
  if (language === 'typescript') ({code, map} = withoutTypes(source));
  code = asExpression(code);
  let tree;
  try {
    tree = acorn.parse(code, OPTIONS);
  } catch (doubt) {
    return {code, map, prefix: 0, doubt};
  }
  const edits = new Edits(code);
  if (/\bimport\b/.test(code)) eachImport(tree, node => dynamicImport(edits, node));
  let others = false;
  for (const statement of tree.body) {
    if (statement.type === 'ImportDeclaration') staticImport(edits, statement, others);
    else others ||= !statement.directive;
    topLevel(edits, statement);
  }
  return {code: edits.apply(), map, prefix: edits.prefix.length, doubt: null};
}

/** Types are blanked where that is enough, which keeps every position; enums and the like need the real transform. */
function withoutTypes(source) {
  try {
    return {code: stripTypeScriptTypes(source, {mode: 'strip'}), map: null};
  } catch (error) {
    if (error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error;
  }
  const code = stripTypeScriptTypes(source, {mode: 'transform', sourceMap: true});
  const mark = code.lastIndexOf('//# sourceMappingURL=');
  const data = code.slice(code.indexOf('base64,', mark) + 7);
  return {code: code.slice(0, mark), map: Buffer.from(data, 'base64').toString()};
}

/** `{a: 1}` is meant as an object, as in every console, if it can be one. */
function asExpression(code) {
  if (!/^\s*\{/.test(code) || /;\s*$/.test(code)) return code;
  const wrapped = code.replace('{', '({') + '\n)';
  try {
    acorn.parse(wrapped, OPTIONS);
    return wrapped;
  } catch {
    return code;
  }
}

/** Replacements in a text, and a prefix that may not add lines. */
class Edits {
  prefix = '';
  #code;
  #list = [];

  constructor(code) {
    this.#code = code;
  }

  text(node) {
    return this.#code.slice(node.start, node.end);
  }

  /** Lines are kept: those the old text had and the new one lacks are put behind it. */
  replace(start, end, text) {
    const lines = this.#code.slice(start, end).split('\n').length - text.split('\n').length;
    this.#list.push({start, end, text: text + '\n'.repeat(Math.max(0, lines))});
  }

  apply() {
    this.#list.sort((a, b) => a.start - b.start || a.end - b.end);
    const parts = [this.prefix];
    let at = 0;
    for (const edit of this.#list) {
      parts.push(this.#code.slice(at, edit.start), edit.text);
      at = edit.end;
    }
    parts.push(this.#code.slice(at));
    return parts.join('');
  }
}

function eachImport(node, found) {
  const stack = [node];
  while (stack.length > 0) {
    const next = stack.pop();
    if (next.type === 'ImportExpression' || (next.type === 'MetaProperty' && next.meta.name === 'import')) found(next);
    for (const key in next) {
      const value = next[key];
      if (Array.isArray(value)) stack.push(...value.filter(item => item?.type));
      else if (value?.type) stack.push(value);
    }
  }
}

function dynamicImport(edits, node) {
  if (node.type === 'MetaProperty') edits.replace(node.start, node.end, '$cay.meta()');
  else edits.replace(node.start, node.start + 'import'.length, '$cay.import');
}

/** Imports run before everything else; one that stands behind other statements is therefore moved to the front. */
function staticImport(edits, node, late) {
  const names = [];
  let space = '';
  for (const part of node.specifiers) {
    const local = part.local.name;
    declare(local, 'let');
    if (part.type === 'ImportNamespaceSpecifier') space = local;
    else names.push([part.type === 'ImportDefaultSpecifier' ? 'default' : part.imported.name ?? part.imported.value, local]);
  }
  const attributes = node.attributes?.length
    ? `,{with:{${node.attributes.map(a => edits.text(a)).join()}}}` : ',undefined';
  const wanted = JSON.stringify(names.map(([name]) => name));
  let text = `await $cay.import(${JSON.stringify(node.source.value)}${attributes},${wanted})`;
  const pattern = `{${names.map(([name, local]) => `${JSON.stringify(name)}:${local}`).join()}}`;
  if (space && names.length > 0) text = declaration(space, text) + declarations(names, pattern, space);
  else if (space) text = declaration(space, text);
  else if (names.length > 0) text = declarations(names, pattern, text);
  else text = `void ${text};`;
  edits.replace(node.start, node.end, late ? '' : text);
  if (late) edits.prefix += text;
}

function declaration(name, value) {
  return `${kinds.get(name)} ${name}=${value};`;
}

function declarations(names, pattern, value) {
  return names.every(([, local]) => kinds.get(local) === 'let')
    ? `let ${pattern}=${value};`
    : names.map(([name, local], at) => `${kinds.get(local)} ${local}=${at === 0 ? `($cay.last=${value})` : '$cay.last'}[${JSON.stringify(name)}];`).join('');
}

/** The first declaration of a name chooses its kind. */
function declare(name, kind) {
  if (!kinds.has(name)) kinds.set(name, kind);
  return kinds.get(name);
}

function topLevel(edits, node) {
  switch (node.type) {
    case 'VariableDeclaration':
      return variables(edits, node);
    case 'ClassDeclaration':
      return named(edits, node, node.start);
    case 'FunctionDeclaration':
      return named(edits, node, node.start);
    case 'ExportAllDeclaration':
      return edits.replace(node.start, node.end, `void await $cay.import(${JSON.stringify(node.source.value)});`);
    case 'ExportDefaultDeclaration':
      return exportDefault(edits, node);
    case 'ExportNamedDeclaration':
      return exportNamed(edits, node);
  }
}

function exportNamed(edits, node) {
  if (node.declaration) {
    edits.replace(node.start, node.declaration.start, '');
    topLevel(edits, node.declaration);
  } else {
    edits.replace(node.start, node.end, node.source ? `void await $cay.import(${JSON.stringify(node.source.value)});` : '');
  }
}

function exportDefault(edits, node) {
  const value = node.declaration;
  if (value.type.endsWith('Declaration') && value.id) {
    edits.replace(node.start, value.start, '');
    return topLevel(edits, value);
  }
  edits.replace(node.start, value.start, '(');
  edits.replace(value.end, value.end, ')');
}

function variables(edits, node) {
  if (node.kind !== 'var' && node.kind !== 'let' && node.kind !== 'const') return;
  const preferred = node.kind === 'var' ? 'var' : 'let';
  let previous = null;
  for (const part of node.declarations) {
    const all = boundNames(part.id, []).map(name => declare(name, preferred));
    const kind = all.find(k => k !== preferred) ?? preferred;
    const bare = !part.init && kind === 'var' && node.kind !== 'var' ? '=undefined' : '';
    if (bare) edits.replace(part.end, part.end, bare);
    if (previous === null) edits.replace(node.start, node.start + node.kind.length, kind.padEnd(node.kind.length));
    else if (previous.kind !== kind) edits.replace(previous.end, part.start, `;${kind} `);
    previous = {kind, end: part.end};
  }
}

function boundNames(pattern, names) {
  switch (pattern?.type) {
    case 'Identifier': names.push(pattern.name); break;
    case 'ObjectPattern': pattern.properties.forEach(p => boundNames(p.value ?? p.argument, names)); break;
    case 'ArrayPattern': pattern.elements.forEach(p => boundNames(p, names)); break;
    case 'AssignmentPattern': boundNames(pattern.left, names); break;
    case 'RestElement': boundNames(pattern.argument, names); break;
  }
  return names;
}

/** A class is a value of its name. So is a function whose name is a `let`, but it is there before the cell's first line. */
function named(edits, node, start) {
  const name = node.id.name;
  if (node.type === 'ClassDeclaration') {
    edits.replace(start, start, `${declare(name, 'let')} ${name}=`);
    return edits.replace(node.end, node.end, ';');
  }
  if (declare(name, 'var') === 'var') return;
  const other = `$cay_${name}`;
  edits.replace(node.id.start, node.id.end, other);
  edits.prefix += `let ${name}=$cay.named(${other},${JSON.stringify(name)});`;
}
