/** The checks of `synapse doctor`. */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as ExitCode from "../domain/ExitCode.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as LinuxDoctor from "../sandbox/platform/linux/check/Doctor.js"
import * as Probe from "../sandbox/platform/linux/check/Probe.js"
import * as WriteRoots from "../sandbox/platform/linux/plan/WriteRoots.js"
import * as Programs from "../sandbox/platform/linux/start/Programs.js"
import * as ToolCache from "../sandbox/platform/ToolCache.js"
import { networkRemark, type SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"
import * as PrivateDirectory from "../session/PrivateDirectory.js"
import * as Action from "./Action.js"
import { print } from "./Invocation.js"

type Check = LinuxDoctor.Check

const check = (name: string, ok: boolean, detail: string, remedy = ""): Check => ({
  name,
  ok,
  required: true,
  detail,
  remedy
})

/** Checks `sandbox.json`, and the policy for the current directory. */
const config = Effect.gen(function* () {
  const { file, load } = yield* SandboxConfig.SandboxConfig
  const { build } = yield* PolicyBuilder.PolicyBuilder
  const policy = yield* Effect.either(Effect.zip(load, build(process.cwd())))
  if (policy._tag === "Left") {
    const { origin, path, reason, remedy } = policy.left
    return {
      check: check("config", false, `${origin}: ${path === "" ? "" : `${path}: `}${reason}`, remedy),
      roots: [],
      cache: []
    }
  }
  const [{ enabled }, built] = policy.right
  const detail = `${file}${Fs.existsSync(file) ? "" : " is not there: the defaults hold"}`
  const off = enabled ? "" : "; it switches the sandbox OFF"
  const sockets = built.unixSockets === true ? "; it allows unix sockets, and so programs outside of the sandbox" : ""
  return {
    check: check("config", true, detail + off + sockets + networkRemark(built)),
    roots: WriteRoots.make(built).roots,
    cache: toolCache(built)
  }
})

/** Checks the directory for the caches of tools, which is optional. */
const toolCache = ({ toolCache: rule }: SandboxPolicy): ReadonlyArray<Check> => {
  if (rule === undefined) return []
  const { directory, obstacle } = ToolCache.examine(rule)
  const remedy = obstacle === undefined ? "" : "move it away"
  return [{ ...check("tool caches", obstacle === undefined, obstacle ?? directory, remedy), required: false }]
}

const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""

const shell = (bash: string | undefined) =>
  bash === undefined
    ? Effect.succeed(check("bash", false, "bash was not found", "install bash"))
    : Effect.map(Probe.run(bash, ["--version"]), ({ ok, stdout }) =>
        check("bash", ok, ok ? `${bash}: ${firstLine(stdout)}` : `${bash} does not run`, ok ? "" : "install bash")
      )

const node = check("node", true, `${process.execPath}, version ${process.version.slice(1)}`)

/** Checks that macOS's sandbox-exec exists, without running it. */
const sandboxExec = Effect.sync(() => {
  const program = "/usr/bin/sandbox-exec"
  return Fs.existsSync(program)
    ? check("sandbox-exec", true, `${program} is there; the rest is macOS's own`)
    : check("sandbox-exec", false, `${program} is not there`, "it is a part of macOS: restore the system's own file")
})

const sandbox = (programs: Programs.Programs): Effect.Effect<ReadonlyArray<Check>> =>
  process.platform === "darwin"
    ? Effect.map(sandboxExec, (one) => [one])
    : Effect.map(LinuxDoctor.examine(programs), ({ checks }) => checks)

/** Checks the places for the private files of sessions. The first usable one is enough. */
const places = Effect.sync(() => {
  const { obstacles, place } = PrivateDirectory.examine()
  const refused = obstacles.join("; ")
  return place === undefined
    ? check("private files", false, refused, "correct one of these, or set HOME or XDG_RUNTIME_DIR")
    : { ...check("private files", obstacles.length === 0, [place, ...obstacles].join("; ")), required: false }
})

const statusOf = ({ ok, required }: Check): string => (ok ? "ok" : required ? "missing" : "limited")

const toText = (checks: ReadonlyArray<Check>, ok: boolean): string => {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.flatMap((one) => [
    `${statusOf(one).padEnd(7)}  ${one.name.padEnd(width)}  ${one.detail}`,
    ...(one.ok || one.remedy === "" ? [] : [`${" ".repeat(width + 11)}to mend it: ${one.remedy}`])
  ])
  const verdict = ok
    ? "The sandbox can start."
    : "The sandbox can't start, and without it nothing runs. To run without one on purpose: --no-sandbox."
  return [...lines, "", verdict].join("\n")
}

/** Checks what the sandbox needs and prints the results. The exit code is 1 if something required is missing. */
export const doctor = (given: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const { variables } = yield* SandboxSettings.SandboxSettings
    const { cache, check: configured, roots } = yield* config
    const programs = Programs.find(variables["PATH"] ?? "", roots)
    const [bash, checks, privately] = yield* Effect.all([shell(programs.bash), sandbox(programs), places])
    const all = [...checks, bash, node, privately, ...cache, configured]
    const ok = all.every((one) => one.ok || !one.required)
    const { platform } = process
    const text = given.json
      ? JSON.stringify({ ok, platform, checks: all.map((one) => ({ ...one, status: statusOf(one) })) })
      : toText(all, ok)
    yield* print("stdout", text)
    return ok ? ExitCode.success : ExitCode.failure
  }).pipe(Action.run)
