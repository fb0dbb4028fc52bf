// Runs the connection code of a published agent without its screen.
//
//   node ideclient.mjs <folder of the agent's package>
//
// The class is the one the package itself would use, unchanged. Commands are lines of JSON on stdin,
// {"id", "command", ...arguments}; each is answered by one line on stdout, {"id", "result"} or
// {"id", "error"}, whenever it is done, which for a diff is when somebody has decided. Lines of this
// protocol start with "@" because some versions print to stdout themselves.

import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';

// Inside a container older versions look for the editor on another host. The tests want one
// behaviour on every machine, so the marks by which a container is recognised are hidden.
const { existsSync } = fs;
fs.existsSync = (file) =>
  file !== '/.dockerenv' && file !== '/run/.containerenv' && existsSync(file);
syncBuiltinESMExports();

for (const level of ['log', 'debug', 'info', 'warn']) console[level] = console.error;

/** The module of a package that provides `IdeClient` and `ideContextStore`. */
async function load(folder) {
  const core = await unbundledCore(folder);
  if (core) return core;
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const entry = path.join(folder, Object.values(manifest.bin)[0]);
  // A command that is only a wrapper names the program it starts in no import.
  const { file, text } = findClass([entry, path.join(path.dirname(entry), 'cli.js')]);
  if (!/export\s*\{[^}]*\bIdeClient\b[^}]*\}/.test(text)) exposeClass(file);
  const module = await import(pathToFileURL(file).href);
  // In a bundle of one file every module is set up only when first needed.
  module.init_ide_client?.();
  return module;
}

/** Packages that are not bundled have the class in a file of its own, in a package of its own. */
async function unbundledCore(folder) {
  let manifest;
  try {
    const require = createRequire(path.join(folder, 'package.json'));
    manifest = require.resolve('@google/gemini-cli-core/package.json');
  } catch {
    return undefined;
  }
  const part = (name) =>
    import(pathToFileURL(path.join(path.dirname(manifest), 'dist/src/ide', name)).href);
  return { ...(await part('ide-client.js')), ...(await part('ideContext.js')) };
}

/** The first file with the class, following imports as node would. */
function findClass(entries) {
  const queue = entries.filter((file) => existsSync(file));
  for (const file of queue) {
    const text = fs.readFileSync(file, 'utf8');
    if (/\bIdeClient = class\b/.test(text)) return { file, text };
    for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.\.?\/[^"']+\.js)["']/g)) {
      const next = path.resolve(path.dirname(file), name);
      if (existsSync(next) && !queue.includes(next)) queue.push(next);
    }
  }
  throw new Error(`no IdeClient below ${entries}`);
}

/** A bundle of one file starts the agent and exports nothing: keep it from starting, and export. */
function exposeClass(file) {
  const url = pathToFileURL(file).href;
  registerHooks({
    load(address, context, next) {
      const loaded = next(address, context);
      if (address !== url) return loaded;
      const source = String(loaded.source);
      const exposed = source.replace(/^main\(\)\.catch\(/m, '(() => {})(');
      if (exposed === source) throw new Error(`no start of the agent in ${file}`);
      return {
        ...loaded,
        source: `${exposed}\nexport { IdeClient, ideContextStore, init_ide_client };\n`,
      };
    },
  });
}

const module = await load(process.argv[2]);
let client;

const commands = {
  /** Looks for a companion; what it found, if anything. */
  async discover() {
    client = await module.IdeClient.getInstance();
    return client.getCurrentIde()?.displayName ?? null;
  },
  async connect() {
    await client.connect();
    return client.getConnectionStatus().status;
  },
  async status() {
    return client.getConnectionStatus().status;
  },
  async diffing() {
    return client.isDiffingEnabled();
  },
  async context() {
    return module.ideContextStore.get() ?? null;
  },
  /** Done when the diff is decided. */
  async openDiff({ path, content }) {
    return client.openDiff(path, content);
  },
  /** The person decided in the terminal. */
  async closeDiff({ path, outcome }) {
    await client.resolveDiffFromCli(path, outcome);
    return null;
  },
  async disconnect() {
    await client.disconnect();
    return null;
  },
};

const say = (line) => process.stdout.write(`@${JSON.stringify(line)}\n`);
say({ id: 0, result: 'ready' });
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, command, ...rest } = JSON.parse(line);
  commands[command](rest).then(
    (result) => say({ id, result: result ?? null }),
    (error) => say({ id, error: String(error?.stack ?? error) }),
  );
});
lines.on('close', () => process.exit(0));
