// A page without a browser: enough of one that modules load, and that their parts which only compute can be asked.
const nothing = () => {};

/** Stands for any element, list or function of a page: every part of it is like it, and it holds nothing. */
function anything(own = {}) {
  return new Proxy(Object.assign(function stub() {}, own), {
    get: (target, name) => {
      if (name in own) return own[name];
      if (name === Symbol.iterator) return [][Symbol.iterator].bind([]);
      if (name === Symbol.toPrimitive) return () => "";
      if (["then", "toJSON"].includes(name)) return undefined;
      if (["map", "filter", "flatMap", "slice"].includes(name)) return (...asked) => [][name](...asked);
      return anything();
    },
    set: () => true,
    has: () => true,
    apply: () => anything(),
    construct: () => anything(),
  });
}

const kept = new Map();
const storage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), removeItem: (name) => kept.delete(name) };
Object.assign(globalThis, {
  document: anything({ body: { dataset: { table: "0123456789abcdef", page: "workbench" } }, cookie: "" }),
  window: anything(), location: { hash: "", pathname: "/tables/0123456789abcdef/crowd", href: "" }, history: anything(),
  sessionStorage: storage, localStorage: storage, matchMedia: () => anything(), getComputedStyle: () => anything(), requestAnimationFrame: nothing, addEventListener: nothing,
  EventSource: anything(), ResizeObserver: anything(), IntersectionObserver: anything(), MutationObserver: anything(), CSS: { escape: String }, fetch: () => new Promise(nothing), vegaEmbed: anything(),
});
