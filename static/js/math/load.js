// Loads KaTeX once, from the address that the page gives in <meta name="katex">.
let loading = null;

export function loadKatex() {
  loading ??= new Promise((resolve, reject) => {
    if (globalThis.katex) return resolve(globalThis.katex);
    const script = document.createElement("script");
    script.src = document.querySelector('meta[name="katex"]').content;
    script.onload = () => resolve(globalThis.katex);
    script.onerror = () => {
      loading = null;
      reject(new Error("KaTeX did not load"));
    };
    document.head.append(script);
    return undefined;
  });
  return loading;
}
