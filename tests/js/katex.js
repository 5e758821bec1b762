// KaTeX as the pages load it: static/vendor/katex.min.js, which is a script and no module.
import fs from "node:fs";
import vm from "node:vm";

const file = new URL("../../static/vendor/katex.min.js", import.meta.url);
const made = { exports: {} };
vm.runInThisContext(`(function (module, exports) {${fs.readFileSync(file, "utf8")}\n})`)(made, made.exports);

export const katex = made.exports.default ?? made.exports;
