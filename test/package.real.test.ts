/** The package as it is installed: what it holds, and that each kind of project can use it with nothing else from the network. */
import { execFile, execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const root = path.resolve(import.meta.dirname, "..")
const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
const hasNpm = spawnSync("npm", ["--version"]).status === 0
if (!hasNpm) console.warn("package.real.test.ts is skipped: there is no npm")

const directory = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "synapse-package-"))
const project = path.join(directory, "project")
const { SYNAPSE_SESSION: _, ...environment } = process.env
const env = { ...environment, HOME: directory, SYNAPSE_HOME: "", npm_config_cache: path.join(directory, "npm") }

const run = async (program: string, args: ReadonlyArray<string>, cwd = project): Promise<string> => {
  const failed = (error: { stdout: string; stderr: string }) => `${String(error)}\n${error.stdout}\n${error.stderr}`
  return promisify(execFile)(program, args, { cwd, env, maxBuffer: 2 ** 26 }).then(({ stdout }) => stdout, failed)
}

const write = (file: string, text: string) => fs.writeFileSync(path.join(project, file), text)

const modules = path.join(project, "node_modules")

const bytesIn = (at: string): number =>
  fs
    .readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0)

describe.skipIf(!hasNpm)("the package in an empty project", () => {
  beforeAll(() => {
    fs.mkdirSync(project)
    write("package.json", "{}")
    // Packs and installs at once. Not with its scripts: the build would take `dist` away from the tests beside this one.
    const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--install-links"]
    execFileSync("npm", ["install", ...options, root], { cwd: project, env, stdio: "ignore" })
  }, 300_000)

  afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

  it("comes alone, is small, and holds no cache of the build's", () => {
    assert.deepStrictEqual(
      fs.readdirSync(modules).filter((name) => !name.startsWith(".")),
      ["synapse-shell"]
    )
    assert.isBelow(bytesIn(modules), 15_000_000)
    const files = fs.readdirSync(modules, { recursive: true, encoding: "utf8" })
    assert.deepStrictEqual(
      files.filter((file) => file.endsWith(".cache")),
      []
    )
  })

  it("brings its pages, its examples, and a reference of each module, made from the docstrings", () => {
    const here = path.join(modules, "synapse-shell")
    for (const folder of ["docs", "scratchpad"])
      assert.includeMembers(fs.readdirSync(path.join(here, folder)), fs.readdirSync(path.join(root, folder)), folder)
    const reference = path.join(here, "dist/reference")
    const names = Object.keys(manifest.exports).flatMap((name) =>
      /^\.$|\*$|\.json$/.test(name) ? [] : [name.slice(2)]
    )
    assert.sameMembers(
      fs.readdirSync(reference),
      [...names, "README"].map((name) => `${name}.md`)
    )
    const page = (name: string) => fs.readFileSync(path.join(reference, `${name}.md`), "utf8")
    for (const name of names)
      assert.match(page(name), /^# synapse-shell\/.*\n\n\w[\s\S]*^### \w+\n\n[A-Z][\s\S]*^```ts\n\w/m, name)
    assert.match(page("Toolset"), /^### Toolset\n\nRuns[\s\S]* handle: \(call: ToolCall\)[\s\S]*import \* as Effect/m)
    assert.match(page("promise"), /^### Result\n[\s\S]*^### make\n\nMakes a Synapse/m)
  })

  it("runs as a program, and starts with a cache of its own from then on", async () => {
    const synapse = path.join(modules, ".bin/synapse")
    assert.strictEqual(await run(synapse, ["--version"]), `${manifest.version}\n`)
    assert.strictEqual(await run(synapse, ["exec", "echo hello | tr a-z A-Z"]), "HELLO\n")
    // In the account's own home, whatever HOME says.
    const cache = path.join(os.userInfo().homedir, ".synapse/cache")
    const [entry] = /main-[^"]+/.exec(fs.readFileSync(synapse, "utf8")) ?? assert.fail("no entry")
    const build = fs.readdirSync(cache).find((name) => name.startsWith(entry)) ?? assert.fail("no cache")
    // Other tests may use the same build's caches of other subcommands meanwhile.
    const ofExec = () => fs.readdirSync(path.join(cache, build)).filter((name) => name.startsWith("exec-"))
    const before = ofExec()
    assert.isNotEmpty(before)
    assert.strictEqual(await run(synapse, ["exec", "echo again"]), "again\n")
    assert.deepStrictEqual(ofExec(), before)
  })

  it("serves programs without Effect that import or require it, with its own shell or the daemon's, and hides the rest", async () => {
    write(
      "faces.mjs",
      `import { createRequire } from "node:module"
       import * as imported from "synapse-shell/promise"
       for (const face of [imported, createRequire(import.meta.url)("synapse-shell/promise")]) {
         const { connect, DaemonError, defineCommand, InvalidUsage, make } = face
         const shout = { name: "shout", summary: "Shouts.", usage: "shout <word>", run: ({ args }) => args.join(" ").toUpperCase() }
         const synapse = await make({ commands: [defineCommand(shout)] })
         let heard = ""
         for await (const { text } of synapse.handle({ id: "1", name: "Bash", arguments: { command: "shout hello" } })) heard += text
         console.log(heard, await make({ tiemout: 5 }).catch((error) => error instanceof InvalidUsage))
         await synapse.dispose()
         const session = (await connect()).session("s")
         const wrong = await (await connect({ program: "/bin/sh" })).list().catch((error) => error instanceof DaemonError)
         console.log((await session.run("echo hello")).output, wrong, await session.close())
       }
       await import("synapse-shell/session/Shell").catch(({ code }) => console.log(code))`
    )
    const printed = "HELLO true\nhello\n true true\n"
    const hidden = "ERR_PACKAGE_PATH_NOT_EXPORTED\n"
    assert.strictEqual(await run(process.execPath, ["faces.mjs"]), printed + printed + hidden)
  })

  /** The compiler before the native one, which takes ten times as long, for one of three. */
  const slow = "typescript"
  const native = "@typescript/native"

  const tsc = async (compiler: string, name: string, compilerOptions: object, files: ReadonlyArray<string>) => {
    write(
      `tsconfig.${name}.json`,
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: "ES2022",
          exactOptionalPropertyTypes: true,
          ...compilerOptions
        },
        files
      })
    )
    return run(process.execPath, [path.join(root, "node_modules", compiler, "bin/tsc"), "-p", `tsconfig.${name}.json`])
  }

  it("has types that need no other package, for ESM, CommonJS and bundlers", async () => {
    const typed = `
      export const main = async (): Promise<string | undefined> => {
        const synapse: Synapse = await make({ cwd: "/", sandbox: { allow: [] }, onPermission: async (_, [first = "deny"]) => first })
        const pending = synapse.handle({ id: "1", name: "Bash", arguments: { command: "ls" } }, { onOutput: ({ text }) => void text })
        const { extras } = await pending
        const client: Client = await connect()
        const late: Promise<Result> = client.session("s", { allow: ["/x"] }).run("ls", { timeout: 5 })
        await late.catch((error) => error instanceof DaemonError && error.reason === "Lost")
        // @ts-expect-error: no such setting
        await make({ tiemout: 5 })
        return extras.failureCategory === "blocked" ? extras.blockedRule : extras.stdout
      }`
    const text = `import { type Client, connect, DaemonError, make, type Result, type Synapse } from "synapse-shell/promise"\n${typed}`
    for (const file of ["typed.mts", "typed.cts", "bundled.ts"]) write(file, text)
    const bare = { lib: ["ES2022"], types: [], skipLibCheck: false }
    const said = await Promise.all([
      tsc(slow, "node", { ...bare, module: "NodeNext", moduleResolution: "NodeNext" }, ["typed.mts", "typed.cts"]),
      tsc(native, "bundler", { ...bare, module: "ESNext", moduleResolution: "Bundler" }, ["bundled.ts"])
    ])
    assert.deepStrictEqual(said, ["", ""])
  }, 300_000)

  it("is the library of an Effect program, strictly typed", async () => {
    for (const name of ["effect", "@effect", "@types"]) {
      // There is one where the test is tried again.
      fs.rmSync(path.join(modules, name), { force: true })
      fs.symlinkSync(path.join(root, "node_modules", name), path.join(modules, name))
    }
    write(
      "effect.mts",
      `import * as BashToolkit from "synapse-shell/BashToolkit"
       import * as Synapse from "synapse-shell/Synapse"
       import * as SynapseClient from "synapse-shell/SynapseClient"
       import * as TestSynapse from "synapse-shell/TestSynapse"
       import * as Toolset from "synapse-shell/Toolset"
       import * as Effect from "effect/Effect"

       const program: Effect.Effect<string, never, Toolset.Toolset> = Effect.flatMap(Toolset.Toolset, (toolset) =>
         toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"echo hello"}' })
       ).pipe(Effect.map(({ output }) => output))

       export const real = program.pipe(Effect.provide(Synapse.layer()))
       export const { toolkit } = BashToolkit
       const tested = program.pipe(Effect.provide(TestSynapse.layer(() => ({ stdout: "scripted" }))))
       const listed: Effect.Effect<number, SynapseClient.DaemonError> = SynapseClient.SynapseClient.pipe(
         Effect.flatMap(({ list }) => list),
         Effect.map(({ length }) => length),
         Effect.provide(SynapseClient.layer())
       )
       console.log(await Effect.runPromise(tested), await Effect.runPromise(listed))`
    )
    const options = {
      module: "NodeNext",
      moduleResolution: "NodeNext",
      types: ["node"],
      skipLibCheck: true,
      noEmit: false
    }
    assert.strictEqual(await tsc(native, "effect", options, ["effect.mts"]), "")
    assert.strictEqual(await run(process.execPath, ["effect.mjs"]), "scripted 0\n")
  }, 300_000)

  it("is bundled into a program that runs elsewhere, with effect and its platform alone", async () => {
    fs.rmSync(path.join(modules, "@effect"), { recursive: true, force: true })
    fs.mkdirSync(path.join(modules, "@effect"))
    for (const name of ["platform", "platform-node", "platform-node-shared"]) {
      fs.symlinkSync(path.join(root, "node_modules/@effect", name), path.join(modules, "@effect", name))
    }
    const elsewhere = path.join(directory, "elsewhere")
    fs.mkdirSync(elsewhere, { recursive: true })
    // Its loop runs a Synapse command through the bridge, which is not beside the bundle.
    const command = JSON.stringify("echo x > f.txt; for f in f.txt; do edit $f x y; done; cat f.txt")
    write("call.mjs", `export const call = { id: "1", name: "Bash", arguments: { command: ${command} } }`)
    write(
      "promise.mjs",
      `import { make } from "synapse-shell/promise"
       import { call } from "./call.mjs"
       export const done = make().then(async (s) => {
         console.log((await s.handle(call)).output)
         await s.dispose()
       })`
    )
    write(
      "both.mjs",
      `import { done } from "./promise.mjs"
       import { Synapse, Toolset } from "synapse-shell"
       import * as Effect from "effect/Effect"
       import { call } from "./call.mjs"
       const program = Effect.flatMap(Toolset.Toolset, (toolset) =>
         toolset.handle({ ...call, arguments: JSON.stringify(call.arguments) })
       )
       done
         .then(() => Effect.runPromise(program.pipe(Effect.provide(Synapse.layer()))))
         .then(({ output }) => console.log(output))`
    )
    const printed = "Replaced 1 occurrence in f.txt (line 1)\n-x\n+y\ny\n\n"
    for (const [format, file, times] of [
      ["esm", "both.mjs", 2],
      ["cjs", "promise.mjs", 1]
    ] as const) {
      const bundle = path.join(elsewhere, file.replace("mjs", format === "esm" ? "mjs" : "cjs"))
      const options = ["--bundle", "--platform=node", `--format=${format}`, "--log-level=error"]
      assert.strictEqual(
        await run(path.join(root, "node_modules/.bin/esbuild"), [file, ...options, `--outfile=${bundle}`]),
        ""
      )
      assert.strictEqual(await run(process.execPath, [bundle], elsewhere), printed.repeat(times))
    }
  }, 300_000)
})
