/** `synapse agent` as it is installed, with a home, a directory and a model's server of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ModelServer from "../agent/ModelServer.js"
import * as Temporary from "../Temporary.js"
import type * as InProcess from "./InProcess.js"

const synapse = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")

/** The options that make it run wherever the tests run. */
const unsandboxed = ["--no-sandbox"]

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<InProcess.Ended>
}

interface Options {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Place {
  readonly cwd: string
  readonly home: string
  readonly server: ModelServer.ModelServer
  /** The environment that it is started with. */
  readonly env: Readonly<Record<string, string>>
  /** Starts it; stdin is empty where it is undefined. */
  readonly start: (args: ReadonlyArray<string>, options?: Options) => Started
  readonly agent: (...args: ReadonlyArray<string>) => Promise<InProcess.Ended>
  /** Runs it in this process, one run at a time; what it shows of its steps is not in stderr. */
  readonly within: (args: ReadonlyArray<string>, options?: Options) => Promise<InProcess.Ended>
  /** The same without a sandbox, and without showing the steps. */
  readonly quiet: (...args: ReadonlyArray<string>) => Promise<InProcess.Ended>
  /** The ids of the sessions. */
  readonly ids: () => ReadonlyArray<string>
  /** The whole lines of the transcript of the only session. */
  readonly lines: () => ReadonlyArray<Record<string, unknown>>
}

export const using = (script: ModelServer.Script, use: (place: Place) => Promise<void>): Promise<void> =>
  Temporary.using((directory) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(ModelServer.serve(script), (server) => Effect.promise(() => use(place(directory, server))))
      )
    )
  )

const place = (directory: string, server: ModelServer.ModelServer): Place => {
  const cwd = path.join(directory, "project")
  const home = path.join(directory, "home")
  const temporary = path.join(directory, "tmp")
  for (const each of [cwd, temporary]) fs.mkdirSync(each)
  const plain = {
    PATH: process.env["PATH"] ?? "",
    HOME: directory,
    TMPDIR: temporary,
    SYNAPSE_HOME: home,
    SYNAPSE_PROVIDER: "anthropic",
    ...server.env
  }
  const start: Place["start"] = (args, { env = {}, stdin } = {}) => {
    const child = spawn(process.execPath, [synapse, "agent", ...args], {
      cwd,
      env: { ...plain, ...env },
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"]
    })
    child.stdin?.end(stdin)
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        said[name] += text
      })
    const ended = new Promise<InProcess.Ended>((resolve, reject) => {
      child.on("error", reject)
      child.on("close", (exitCode) => resolve({ exitCode, ...said }))
    })
    return { child, ended }
  }
  const within: Place["within"] = async (args, { env, stdin } = {}) => {
    // Many files do without, and without its modules.
    const { run } = await import("./InProcess.js")
    return run(["agent", ...args], cwd, { ...plain, ...env }, stdin)
  }
  const sessions = path.join(home, "sessions")
  const ids = () =>
    (fs.existsSync(sessions) ? fs.readdirSync(sessions) : [])
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => path.basename(name, ".jsonl"))
  return {
    cwd,
    home,
    server,
    env: plain,
    start,
    agent: (...args) => start([...unsandboxed, ...args]).ended,
    within,
    quiet: (...args) => within([...unsandboxed, "--quiet", ...args]),
    ids,
    lines: () =>
      ids().flatMap((id) =>
        fs
          .readFileSync(path.join(sessions, `${id}.jsonl`), "utf8")
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      )
  }
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
}

const blocksOf = (content: unknown): ReadonlyArray<Block> => (Array.isArray(content) ? content : [])

/** Asserts of each request that each call in it has its result in the next message, and no result is without a call. */
export const assertNothingDangles = ({ requests }: ModelServer.ModelServer): void => {
  for (const { body } of requests) {
    const messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }> = body.messages
    messages.forEach(({ content }, at) => {
      const calls = blocksOf(content).flatMap(({ id, type }) => (type === "tool_use" ? [id] : []))
      const results = blocksOf(messages[at + 1]?.content).flatMap((one) =>
        one.type === "tool_result" ? [one.tool_use_id] : []
      )
      assert.deepStrictEqual(results, calls)
    })
  }
}

/** Looks until it is so, every few milliseconds. */
export const until = async (isSo: () => boolean, interval = 25): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, interval))
}
