// Validates objects of kinds that Kubernetes itself does not define: a JSON list on stdin, problems on
// stdout, one per line. Values are checked by the published schemas. Those allow unknown keys, so the
// objects are also compiled as literals of the published types, where TypeScript's check for excess
// properties finds every misspelt one.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const MODULES = {
  "gateway.networking.k8s.io/v1": "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1",
  "keda.sh/v1alpha1": "@kubernetes-models/keda/keda.sh/v1alpha1",
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
};

const objects = JSON.parse(readFileSync(0, "utf8"));
const nameOf = (object) => `${object.kind} ${object.metadata?.name}`;
const moduleOf = (object) => `${MODULES[object.apiVersion]}/${object.kind}`;

for (const object of objects) {
  const model = (await import(moduleOf(object)))[object.kind];
  try {
    new model(object).validate();
  } catch (error) {
    console.log(`${nameOf(object)}: ${error.message}`);
  }
}

const literals = objects.map(
  (object, index) =>
    `import type { I${object.kind} as I${index} } from "${moduleOf(object)}";\n` +
    `export const o${index}: I${index} = ${JSON.stringify(object)};\n`,
);
const path = join(dirname(fileURLToPath(import.meta.url)), "objects.mts");
const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022, noEmit: true, strict: true, skipLibCheck: true, types: [] };
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists, readFile } = host;
const source = literals.join("");
host.fileExists = (name) => name === path || fileExists(name);
host.readFile = (name) => (name === path ? source : readFile(name));
host.getSourceFile = (name, ...rest) =>
  name === path ? ts.createSourceFile(name, source, options.target) : getSourceFile(name, ...rest);
for (const found of ts.getPreEmitDiagnostics(ts.createProgram([path], options, host))) {
  const line = found.file?.getLineAndCharacterOfPosition(found.start).line ?? 0;
  const object = objects[Math.floor(line / 2)];
  console.log(`${nameOf(object)}: ${ts.flattenDiagnosticMessageText(found.messageText, " ")}`);
}
