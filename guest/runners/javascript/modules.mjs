// How a cell finds modules: from the context's directory of the moment, then from the place of global packages.
import Module, {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const GLOBAL = '/usr/local/lib/node_modules';

/** The file that a cell would be if it were one; relative names are relative to it. */
function place() {
  return path.join(process.cwd(), 'cell');
}

function addGlobalPlace() {
  process.env.NODE_PATH = [process.env.NODE_PATH, GLOBAL].filter(Boolean).join(path.delimiter);
  Module._initPaths();
}

function resolve(name) {
  try {
    return import.meta.resolve(name, pathToFileURL(place()).href);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    try {
      return import.meta.resolve(name, pathToFileURL(path.join(GLOBAL, '..', 'cell')).href);
    } catch {
      throw Object.assign(new Error(`Cannot find package '${name}' from ${process.cwd()}`), {code: error.code});
    }
  }
}

/** What `import` in a cell means; `wanted` are names that must be there, as the static form demands. */
async function load(name, options, wanted = []) {
  const found = await import(resolve(String(name)), options);
  for (const one of wanted) {
    if (!(one in found)) throw new SyntaxError(`The requested module '${name}' does not provide an export named '${one}'`);
  }
  return found;
}

/** Puts `require`, `__dirname`, `__filename`, `module` and `exports` into the global scope, as a file of this directory has them. */
export function openModules() {
  addGlobalPlace();
  let made;
  let madeFor;
  const current = () => {
    if (madeFor !== place()) made = createRequire(madeFor = place());
    return made;
  };
  current();
  const module = {exports: {}};
  const cells = {
    require: current, __dirname: () => process.cwd(), __filename: place, module: () => module, exports: () => module.exports,
  };
  for (const [name, get] of Object.entries(cells)) {
    const set = value => Object.defineProperty(globalThis, name, {value, writable: true, configurable: true, enumerable: true});
    Object.defineProperty(globalThis, name, {get, set, configurable: true, enumerable: false});
  }
  return {
    import: load,
    meta: () => ({
      url: pathToFileURL(place()).href, filename: place(), dirname: process.cwd(), resolve, main: false,
    }),
  };
}
