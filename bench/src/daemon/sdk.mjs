// The other side of the comparison: the published SDK, used as its documents say.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [module, what, argument, count] = process.argv.slice(2);
const sdk = await import(pathToFileURL(module).href);

const PIECE = 16 * 1024;
const ROUNDS = 5;

function pieces(bytes) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, (at += PIECE))));
    },
  });
}

async function round(bytes, typed) {
  const before = process.cpuUsage();
  let events = 0;
  for await (const event of sdk.parseSseStream(pieces(bytes))) {
    if (!typed || sdk.asKnownDaemonEvent(event) || event) events += 1;
  }
  const { user, system } = process.cpuUsage(before);
  return { events, seconds: (user + system) / 1e6 };
}

async function best(bytes, typed) {
  const rounds = [];
  for (let n = 0; n < ROUNDS; n += 1) rounds.push(await round(bytes, typed));
  return rounds.reduce((a, b) => (a.seconds < b.seconds ? a : b));
}

if (what === 'parse') {
  const bytes = readFileSync(argument);
  const plain = await best(bytes, false);
  const typed = await best(bytes, true);
  console.log(JSON.stringify({ events: plain.events, plain: plain.seconds, typed: typed.seconds }));
} else {
  const client = new sdk.DaemonClient({ baseUrl: argument });
  let seen = 0;
  for await (const event of client.subscribeEvents('s', { lastEventId: 0 })) {
    if (event.type === 'session_update' && (seen += 1) === Number(count)) console.log('seen');
  }
}
