/** The package as it is installed: what it holds, and that each kind of project can use it with nothing else from the network. */
import { execFile, execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as ts from "typescript"

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

describe("package.json", () => {
  it("exports what index.ts lists, by its flat name, the Promise face, and nothing else", () => {
    const index = fs.readFileSync(path.join(root, "src/index.ts"), "utf8")
    const listed = Array.from(index.matchAll(/export \* as (\w+) from "\.\/(.+)"/g), ([, name, file]) => [
      `./${name}`,
      `./dist/${file}`
    ])
    // Not in the index, as they alone need @effect/ai, or the framework that they are for.
    const apart = [
      ["./ai-sdk", "./dist/adapter/AiSdk.js"],
      ["./claude-agent-sdk", "./dist/adapter/ClaudeAgentSdk.js"],
      ["./langchain", "./dist/adapter/LangChain.js"],
      ["./openai-agents", "./dist/adapter/OpenAiAgents.js"],
      ["./AgentLoop", "./dist/agent/loop/AgentLoop.js"],
      ["./BashToolkit", "./dist/toolset/BashToolkit.js"]
    ]
    const {
      ".": main,
      "./package.json": self,
      "./promise": promise,
      "./schemas/*": schemas,
      ...others
    } = manifest.exports
    assert.deepStrictEqual(others, Object.fromEntries([...listed, ...apart]))
    assert.deepStrictEqual([main, self, schemas], ["./dist/index.js", "./package.json", "./dist/schemas/*"])
    assert.deepStrictEqual(Object.keys(promise), ["module", "import", "require"])
  })

  it("exports what a sandbox provider of a user's own is made with, and nothing that makes a shell past the manager", () => {
    const names = Object.keys(manifest.exports)
    const needed = ["Permission", "SandboxBackend", "SandboxManager", "SandboxPlatform", "SandboxProvider"]
    assert.includeMembers(
      names,
      needed.map((name) => `./${name}`)
    )
    const internal = ["./BashSession", "./LocalSandboxProvider", "./UnsandboxedProvider"]
    assert.deepStrictEqual(
      names.filter((name) => internal.includes(name)),
      []
    )
  })

  it("gives scratchpad the source of each of its modules", () => {
    const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
    const modules = Object.keys(manifest.exports).filter((name) => !/\.json$|\*$/.test(name))
    const sourceOf = (name: string) => {
      const target = manifest.exports[name]
      const built: string = typeof target === "string" ? target : target.import.default
      return [name, built.replace("./dist/", "src/").replace(/\.js$/, ".ts")]
    }
    const resolved = (name: string) => {
      const from = path.join(root, "scratchpad", "any.ts")
      const { resolvedModule } = ts.resolveModuleName(`synapse-shell${name.slice(1)}`, from, options, ts.sys)
      return [name, path.relative(root, resolvedModule?.resolvedFileName ?? "")]
    }
    assert.deepStrictEqual(modules.map(resolved), modules.map(sourceOf))
  })

  it("asks for no other package, and builds before it is packed", () => {
    const { bundleDependencies, dependencies, peerDependencies, peerDependenciesMeta, scripts } = manifest
    assert.deepStrictEqual(Object.keys(dependencies), bundleDependencies)
    assert.deepStrictEqual(
      peerDependenciesMeta,
      Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }]))
    )
    assert.strictEqual(scripts.prepack, "npm run build")
  })
})

describe.skipIf(!hasNpm)("the package in an empty project", () => {
  beforeAll(() => {
    fs.mkdirSync(project)
    write("package.json", "{}")
    // Not with its scripts: the build would take `dist` away from the tests beside this one.
    const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", directory], {
      cwd: root,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    })
    const tarball = path.join(directory, JSON.parse(packed)[0].filename)
    execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], {
      cwd: project,
      env,
      stdio: "ignore"
    })
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

  it("runs as a program, and starts with a cache of its own from then on", async () => {
    const synapse = path.join(modules, ".bin/synapse")
    assert.strictEqual(await run(synapse, ["--version"]), `${manifest.version}\n`)
    assert.strictEqual(await run(synapse, ["exec", "echo hello | tr a-z A-Z"]), "HELLO\n")
    // In the account's own home, whatever HOME says.
    const cache = path.join(os.userInfo().homedir, ".synapse/cache")
    const [entry] = /main-[^"]+/.exec(fs.readFileSync(synapse, "utf8")) ?? assert.fail("no entry")
    const build = fs.readdirSync(cache).find((name) => name.startsWith(entry)) ?? assert.fail("no cache")
    const before = fs.readdirSync(path.join(cache, build))
    assert.isTrue(before.every((name) => name.startsWith("exec-")))
    assert.strictEqual(await run(synapse, ["exec", "echo again"]), "again\n")
    assert.deepStrictEqual(fs.readdirSync(path.join(cache, build)), before)
  })

  const program = `
    const main = async () => {
      const synapse = await make({ commands: [defineCommand({ name: "shout", summary: "Shouts.", usage: "shout <word>", run: ({ args }) => args.join(" ").toUpperCase() })] })
      let heard = ""
      for await (const { text } of synapse.handle({ id: "1", name: "Bash", arguments: { command: "shout hello" } })) heard += text
      const wrong = await make({ tiemout: 5 }).catch((error) => error instanceof InvalidUsage)
      console.log(heard, wrong)
      await synapse.dispose()
    }
    main()`

  it("is imported by a program without Effect", async () => {
    write("esm.mjs", `import { make, defineCommand, InvalidUsage } from "synapse-shell/promise"\n${program}`)
    assert.strictEqual(await run(process.execPath, ["esm.mjs"]), "HELLO true\n")
  })

  it("is required by a program without Effect", async () => {
    write("cjs.cjs", `const { make, defineCommand, InvalidUsage } = require("synapse-shell/promise")\n${program}`)
    assert.strictEqual(await run(process.execPath, ["cjs.cjs"]), "HELLO true\n")
  })

  it("uses the daemon's sessions from a program without Effect", async () => {
    write(
      "client.mjs",
      `import { connect, DaemonError } from "synapse-shell/promise"
       const session = (await connect()).session("s")
       const wrong = await (await connect({ program: "/bin/sh" })).list().catch((error) => error instanceof DaemonError)
       console.log((await session.run("echo hello")).output, wrong, await session.close())`
    )
    assert.strictEqual(await run(process.execPath, ["client.mjs"]), "hello\n true true\n")
  })

  it("hides what is not for users", async () => {
    write("hidden.mjs", `import("synapse-shell/session/Shell").catch(({ code }) => console.log(code))`)
    assert.strictEqual(await run(process.execPath, ["hidden.mjs"]), "ERR_PACKAGE_PATH_NOT_EXPORTED\n")
  })

  const tsc = async (name: string, compilerOptions: object, files: ReadonlyArray<string>) => {
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
    return run(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", `tsconfig.${name}.json`])
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
      tsc("node", { ...bare, module: "NodeNext", moduleResolution: "NodeNext" }, ["typed.mts", "typed.cts"]),
      tsc("bundler", { ...bare, module: "ESNext", moduleResolution: "Bundler" }, ["bundled.ts"])
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
    assert.strictEqual(await tsc("effect", options, ["effect.mts"]), "")
    assert.strictEqual(await run(process.execPath, ["effect.mjs"]), "scripted 0\n")
  }, 300_000)

  /** A call whose loop over a command of ours needs the bridge, which must not be sought beside the bundle. */
  const edits = JSON.stringify({ command: "echo x > f.txt; for f in f.txt; do edit $f x y; done; cat f.txt" })
  const faces = {
    promise: `import { make } from "synapse-shell/promise"
      make().then(async (s) => {
        console.log((await s.handle({ id: "1", name: "Bash", arguments: ${edits} })).output)
        await s.dispose()
      })`,
    layers: `import { Synapse, Toolset } from "synapse-shell"
      import * as Effect from "effect/Effect"
      const call = { id: "1", name: "Bash", arguments: ${JSON.stringify(edits)} }
      Effect.runPromise(
        Effect.flatMap(Toolset.Toolset, (toolset) => toolset.handle(call)).pipe(Effect.provide(Synapse.layer()))
      ).then(({ output }) => console.log(output))`
  }

  it("is bundled into a program that runs elsewhere, with effect and its platform alone", async () => {
    fs.rmSync(path.join(modules, "@effect"), { force: true })
    fs.mkdirSync(path.join(modules, "@effect"))
    for (const name of ["platform", "platform-node", "platform-node-shared"]) {
      fs.symlinkSync(path.join(root, "node_modules/@effect", name), path.join(modules, "@effect", name))
    }
    const elsewhere = path.join(directory, "elsewhere")
    fs.mkdirSync(elsewhere)
    const esbuild = path.join(root, "node_modules/.bin/esbuild")
    for (const [face, text] of Object.entries(faces)) write(`${face}.mjs`, text)
    for (const [format, ending] of [
      ["esm", "mjs"],
      ["cjs", "cjs"]
    ]) {
      const files = Object.keys(faces).map((face) => `${face}.mjs`)
      const options = ["--bundle", "--platform=node", `--format=${format}`, "--log-level=error"]
      const out = [`--outdir=${elsewhere}`, `--out-extension:.js=.${ending}`]
      assert.strictEqual(await run(esbuild, [...files, ...options, ...out]), "", format)
      for (const face of Object.keys(faces))
        assert.match(await run(process.execPath, [`${face}.${ending}`], elsewhere), /y\n\n$/, `${face} ${format}`)
    }
  }, 300_000)
})
