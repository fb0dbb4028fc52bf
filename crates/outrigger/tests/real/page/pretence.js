// Lets the companion say more than it does by itself: `more(proposal)` and `about(session)` return
// fields to add. Every request is noted in `window.asked`, and `window.tell` sends an event.
// The page reads its stream anew, from a snapshot, because its slot is taken away for a moment.
const more = new Function("proposal", arguments[0]);
const about = new Function("session", arguments[1]);

const enrich = (body) => {
  if (Array.isArray(body)) return body.map(enrich);
  if (typeof body !== "object" || body === null) return body;
  const rich = Object.fromEntries(Object.entries(body).map(([name, it]) => [name, enrich(it)]));
  if ("openedAt" in rich) return { ...rich, ...more(rich) };
  if ("streaming" in rich && "client" in rich) return { ...rich, ...about(rich) };
  return rich;
};

const reword = (block) =>
  block.replace(/^data: (.*)$/m, (_, data) => `data: ${JSON.stringify(enrich(JSON.parse(data)))}`);

const real = window.fetch;
window.asked = [];
window.refuse = undefined;
window.fetch = async (path, init) => {
  window.asked.push({ path, body: init.body && JSON.parse(init.body) });
  if (path === "/api/events") init.headers.delete("Last-Event-ID");
  if (path.endsWith("/accept")) {
    const { refuse } = window;
    window.refuse = undefined;
    if (refuse) return new Response(JSON.stringify(refuse), { status: 409 });
    const { revision, ...body } = JSON.parse(init.body);
    init.body = JSON.stringify(body);
  }
  const response = await real(path, init);
  if (path !== "/api/events") {
    const text = await response.text();
    const body = text === "" ? text : JSON.stringify(enrich(JSON.parse(text)));
    return new Response(body, { status: response.status });
  }
  let rest = "";
  const rewording = new TransformStream({
    start(controller) {
      window.tell = (event, data) =>
        controller.enqueue(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    transform(piece, controller) {
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) controller.enqueue(`${reword(block)}\n\n`);
    },
  });
  const reworded = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(rewording)
    .pipeThrough(new TextEncoderStream());
  return new Response(reworded, { status: response.status });
};
for (let slot = 0; slot < 4; slot += 1) {
  navigator.locks.request(`stream ${slot}`, { steal: true }, () => undefined);
}
