/**
 * Synapse as a tool of the AI SDK (`ai`).
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { setTimeout } from "node:timers/promises"
import { type JSONSchema7, jsonSchema, type Tool, tool } from "ai"
import * as Quote from "../bash/Quote.js"
import type { Job, Result } from "../promise/Result.js"
import type { Synapse } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"
import * as IsolatedCommand from "./internal/IsolatedCommand.js"

/**
 * Makes the tool. Your program gets Synapse's own result; the model gets the text (as an error if the call failed) and
 * the images. The SDK's abort signal ends the command.
 *
 * @example
 * ```ts
 * import { generateText, stepCountIs } from "ai"
 * import { bash } from "synapse-shell/ai-sdk"
 * import { make } from "synapse-shell/promise"
 *
 * await using synapse = await make()
 * await generateText({ model, tools: { Bash: bash(synapse) }, prompt: "…", stopWhen: stepCountIs(20) })
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const bash = (synapse: Synapse): Tool<BashCall.Arguments, Result> => {
  const { description, parameters } = BashCall.definitionOf(synapse)
  return tool({
    description,
    inputSchema: jsonSchema<BashCall.Arguments>(parameters as JSONSchema7),
    execute: (given, { abortSignal, toolCallId }) => BashCall.run(synapse, given, toolCallId, abortSignal),
    toModelOutput: ({ output }) => BashCall.toModelOutput(output)
  })
}

interface OfPath {
  readonly path: string
  readonly abortSignal?: AbortSignal
}

interface OfCommand {
  readonly command: string
  readonly workingDirectory?: string
  readonly env?: Readonly<Record<string, string>>
  readonly abortSignal?: AbortSignal
}

/**
 * A process that the sandbox has started.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxProcess {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  readonly wait: () => Promise<{ exitCode: number }>
  readonly kill: () => Promise<void>
}

/** The exit code of a script that says that its path does not exist. */
const absent = 44
/** How many bytes of a file one command writes. */
const piece = 2 ** 20
/** How often a process's output is asked for, in milliseconds. */
const interval = 100

/** The states of a job that has ended. */
const over = new Set<string>(["exited", "ended", "lost"])

const toStream = (bytes: Uint8Array | null) => (bytes === null ? null : new Blob([new Uint8Array(bytes)]).stream())

/**
 * The files and commands of a Synapse, as the tools of AI SDK 7 use them.
 *
 * @since 0.1.0
 * @category models
 */
export class Sandbox {
  readonly description: string

  constructor(private readonly synapse: Synapse) {
    this.description = BashCall.definitionOf(synapse).description
  }

  /** Runs a script about a path, which is `$1`. Returns null if the script says that the path does not exist. */
  private async about({ abortSignal: signal, path }: OfPath, script: string): Promise<string | null> {
    const command = `set -- ${Quote.quote(path)}\n${script}`
    const { exitCode, stderr, stdout } = await IsolatedCommand.run(this.synapse, command, { signal })
    if (exitCode === absent) return null
    if (exitCode !== 0) throw new Error(stderr.trim() || `exit code ${exitCode}`)
    return stdout
  }

  readonly run = ({ abortSignal: signal, command, env, workingDirectory: cwd }: OfCommand) =>
    IsolatedCommand.run(this.synapse, command, { cwd, env, signal })

  readonly readBinaryFile = async (options: OfPath) => {
    const text = await this.about(options, `[ -e "$1" ] || exit ${absent}; base64 < "$1"`)
    return text === null ? null : new Uint8Array(Buffer.from(text, "base64"))
  }

  readonly readFile = async (options: OfPath) => toStream(await this.readBinaryFile(options))

  readonly readTextFile = async ({
    encoding = "utf-8",
    endLine,
    startLine = 1,
    ...options
  }: OfPath & { readonly encoding?: string; readonly startLine?: number; readonly endLine?: number }) => {
    const bytes = await this.readBinaryFile(options)
    if (bytes === null) return null
    const text = new TextDecoder(encoding).decode(bytes)
    return startLine === 1 && endLine === undefined
      ? text
      : (text.match(/[^\n]*\n|[^\n]+/g) ?? []).slice(startLine - 1, endLine).join("")
  }

  readonly writeBinaryFile = async ({ content, ...options }: OfPath & { readonly content: Uint8Array }) => {
    await this.about(options, `mkdir -p -- ${Quote.quote(Path.dirname(options.path))} && : > "$1"`)
    for (let at = 0; at < content.length; at += piece) {
      const text = Buffer.from(content.subarray(at, at + piece)).toString("base64")
      await this.about(options, `base64 -d >> "$1" <<< ${text}`)
    }
  }

  readonly writeFile = async ({ content, ...options }: OfPath & { readonly content: ReadableStream<Uint8Array> }) =>
    this.writeBinaryFile({ ...options, content: new Uint8Array(await new Response(content).arrayBuffer()) })

  readonly writeTextFile = async ({
    content,
    encoding = "utf-8",
    ...options
  }: OfPath & { readonly content: string; readonly encoding?: string }) => {
    if (!Buffer.isEncoding(encoding)) throw new Error(`unknown encoding ${encoding}`)
    return this.writeBinaryFile({ ...options, content: Buffer.from(content, encoding) })
  }

  readonly stat = async (options: OfPath) => {
    const text = await this.about(options, `[ -e "$1" ] || exit ${absent}; stat -Lc '%s %f' -- "$1"`)
    if (text === null) return null
    const [size, mode = ""] = text.trim().split(" ")
    const { S_IFDIR, S_IFMT, S_IFREG } = Fs.constants
    const kind = Number.parseInt(mode, 16) & S_IFMT
    const type = kind === S_IFREG ? "file" : kind === S_IFDIR ? "directory" : "other"
    return { type, size: Number(size) } as const
  }

  readonly listDirectory = async (options: OfPath) => {
    const text = await this.about(
      options,
      `[ -e "$1" ] || exit ${absent}; cd -- "$1" && find . -mindepth 1 -maxdepth 1 -printf '%y%f\\0'`
    )
    const types = { f: "file", d: "directory", l: "symlink" } as const
    const entries = text?.split("\0").slice(0, -1)
    return (
      entries?.map((entry) => ({ name: entry.slice(1), type: types[entry[0] as "f"] ?? ("other" as const) })) ?? null
    )
  }

  readonly deleteFile = async (options: OfPath) => {
    const script = `[ -e "$1" ] || [ -L "$1" ] || exit ${absent}; rm -- "$1"`
    return (await this.about(options, script)) !== null
  }

  /** Starts a job of the shell, and asks for its output until it ends. It has no writable input: that is refused. */
  spawn(options: OfCommand & { readonly stdin: true }): Promise<never>
  spawn(options: OfCommand & { readonly stdin?: boolean }): Promise<SandboxProcess>
  async spawn({
    abortSignal: signal,
    command,
    env,
    stdin,
    workingDirectory: cwd
  }: OfCommand & { readonly stdin?: boolean }): Promise<SandboxProcess> {
    if (stdin === true) throw new Error("the processes of Synapse have no writable standard input")
    const call = (command: string) => BashCall.run(this.synapse, { command })
    const streams = { stdout: new TransformStream<Uint8Array>(), stderr: new TransformStream<Uint8Array>() }
    const writers = { stdout: streams.stdout.writable.getWriter(), stderr: streams.stderr.writable.getWriter() }
    const names = ["stdout", "stderr"] as const
    const pass = ({ extras }: Result) => {
      // Nobody waits for a reader, who may want only one of the streams, or none.
      for (const name of names) writers[name].write(Buffer.from(extras[name] ?? "")).catch(() => {})
    }
    const line = `${IsolatedCommand.subshell(command, { cwd, env })} < /dev/null`
    const begun = await call(`job:start -- ${Quote.quote(line)}`)
    if (begun.extras.stdout === undefined) throw new Error(begun.output)
    pass(begun)
    const id = begun.extras.jobs?.at(-1)?.id
    const follow = async (): Promise<number> => {
      if (id === undefined) return begun.extras.exitCode ?? 1
      for (;;) {
        const listed = (await call("job:list --json")).extras.stdout ?? ""
        const job = (JSON.parse(listed || "[]") as ReadonlyArray<Job>).find((job) => job.id === id)
        pass(await call(`job:output ${id} --stdout; job:output ${id} --stderr >&2`))
        if (job === undefined || over.has(job.state)) return job?.exitCode ?? 1
        await setTimeout(interval)
      }
    }
    const kill = async () => {
      if (id !== undefined) await call(`job:stop ${id}`)
    }
    const ended = follow().finally(() => {
      signal?.removeEventListener("abort", kill)
      for (const name of names) writers[name].close().catch(() => {})
    })
    signal?.addEventListener("abort", kill)
    if (signal?.aborted === true) await kill()
    return {
      stdout: streams.stdout.readable,
      stderr: streams.stderr.readable,
      wait: async () => ({ exitCode: await ended }),
      kill
    }
  }
}

/**
 * Makes the sandbox of AI SDK 7, which its tools use: `generateText({ experimental_sandbox: sandbox(synapse), … })`. Changes
 * of directory and variables end with their command. A denial is explained in `stderr`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const sandbox = (synapse: Synapse): Sandbox => new Sandbox(synapse)
