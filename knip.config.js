// Finds files, exports and dependencies that nothing uses: `npm run check` runs it; `--production` leaves the tests out.
import * as fs from "node:fs"
import * as path from "node:path"

const { exports } = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "package.json"), "utf8"))

/** The sources of what the package exports. */
const modules = Object.values(exports)
  .filter((file) => typeof file === "string" && file.endsWith(".js"))
  .map((file) => `${file.replace("./dist/", "src/").replace(/\.js$/, ".ts")}!`)

/** @type {import("knip").KnipConfig} */
export default {
  entry: [
    ...modules,
    "src/{bin,promise}.ts!",
    "src/bin/*.{cjs,mjs}!",
    "test/**/*.test.ts",
    "test/bench/*.{ts,mjs}",
    "test/support/suite/*.ts",
    "scratchpad/*.mjs"
  ],
  project: ["src/**!", "test/**/*.ts", "scratchpad/*.mjs"],
  // Tests run the servers' programs. `effect-tsgo` looks for the second, and hears to the third's name in tsconfig.json.
  ignoreDependencies: ["@modelcontextprotocol/server.*", "@typescript/native", "@effect/language-service"],
  // The library's declarations name them.
  ignoreExportsUsedInFile: { interface: true, type: true },
  // `schemas.mjs` takes it from what is built.
  ignoreIssues: { "src/extension/mcp/Definition.ts": ["exports"] },
  rules: { binaries: "off", exports: "error", types: "error" }
}
