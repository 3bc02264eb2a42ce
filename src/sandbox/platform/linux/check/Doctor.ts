/**
 * Tests whether this machine can build a sandbox. If not, explains why and what to do about it.
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Attempt from "../../../../domain/Attempt.js"
import * as Launch from "../start/Launch.js"
import type { Programs } from "../start/Programs.js"
import * as Probe from "./Probe.js"

export interface Check {
  readonly name: string
  readonly ok: boolean
  /** True if no sandbox can be built without it. */
  readonly required: boolean
  readonly detail: string
  /** The step that fixes it; empty if there is nothing to do. */
  readonly remedy: string
}

export interface Report {
  readonly checks: ReadonlyArray<Check>
  /** The level that sandboxes are built at; undefined if none can be built. */
  readonly level: Launch.Level | undefined
}

const passed = (name: string, detail: string, required = true): Check => ({
  ...{ name, ok: true, required, detail },
  remedy: ""
})

function failed(name: string, detail: string, remedy = "", required = true): Check {
  return { name, ok: false, required, detail, remedy }
}

const lesser = (detail: string, remedy: string): Check =>
  failed(
    "live changes",
    `${detail}: many masks start slower, and what changes while a sandbox runs takes a new shell`,
    remedy,
    false
  )

const levelCheck = (programs: Programs, level: Launch.Level): Check => {
  if (level !== "single") {
    return passed("live changes", "masks can be added while a sandbox runs", false)
  }
  const missing = (["unshare", "mount", "umount", "nsenter"] as const).filter((name) => programs[name] === undefined)
  return missing.length > 0
    ? lesser(`${missing.join(", ")} not found`, "install util-linux")
    : lesser("no mount namespace of our own", "allow unshare(1) to make user namespaces")
}

const hostsCheck = (level: Launch.Level): Check =>
  level === "single"
    ? failed("hosts", "none can be allowed, since its network can't be entered: see live changes", "", false)
    : passed("hosts", "can be allowed by name", false)

const limitCheck = (isRoot: boolean): Check =>
  isRoot
    ? failed(
        "process limit",
        "the kernel does not limit the number of root's processes; where a pids cgroup can be made, that does",
        "run as an ordinary user",
        false
      )
    : passed("process limit", `${Launch.processes} processes in a sandbox`, false)

/** The kernel's settings for namespaces; undefined if the kernel lacks the setting. */
export interface Facts {
  readonly isRoot: boolean
  readonly maxUserNamespaces: number | undefined
  readonly unprivilegedClone: number | undefined
  readonly apparmorRestricts: number | undefined
  readonly inContainer: boolean
  /** True if bubblewrap has made the process namespace, so that this is a sandbox. */
  readonly inSandbox: boolean
}

const oldest = [0, 8, 0] as const

export const noBubblewrap = failed(
  "bwrap",
  "bwrap is required for the sandbox, and is not on the PATH (outside of what commands may write)",
  "install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap` or `apk add bubblewrap`"
)

export const noBash = failed(
  "bash",
  "bash is required to build the sandbox, and was not found outside of what commands may write",
  "install bash"
)

const namespaces = (detail: string, remedy: string): Check => failed("user namespaces", detail, remedy)

const read = (path: string): string => Attempt.orElse(() => Fs.readFileSync(path, "utf8"), "")

const readNumber = (path: string): number | undefined => {
  const value = Number.parseInt(read(path), 10)
  return Number.isNaN(value) ? undefined : value
}

/** Reads the kernel's settings from `proc`, which is `/proc` except in tests. */
export const readFacts = (proc: string): Facts => ({
  isRoot: process.getuid?.() === 0,
  maxUserNamespaces: readNumber(`${proc}/sys/user/max_user_namespaces`),
  unprivilegedClone: readNumber(`${proc}/sys/kernel/unprivileged_userns_clone`),
  apparmorRestricts: readNumber(`${proc}/sys/kernel/apparmor_restrict_unprivileged_userns`),
  inContainer: ["/.dockerenv", "/run/.containerenv"].some((path) => Fs.existsSync(path)),
  inSandbox: read(`${proc}/1/comm`) === "bwrap\n"
})

const isOld = (version: string | undefined): boolean => {
  const numbers = version?.split(".").map(Number)
  if (numbers === undefined) return false
  const at = oldest.findIndex((number, index) => number !== numbers[index])
  return at >= 0 && (numbers[at] ?? 0) < (oldest[at] ?? 0)
}

const noNamespaces = (said: string, facts: Facts): Check => {
  if (facts.inSandbox) {
    const remedy = "use --no-sandbox here, since the sandbox around it holds its commands as well"
    return failed("nested", "this runs in a sandbox already, which allows no second one", remedy)
  }
  if (facts.maxUserNamespaces === 0) {
    return namespaces(
      "user namespaces are switched off (user.max_user_namespaces is 0)",
      "`sysctl user.max_user_namespaces=15000`, and a file in /etc/sysctl.d for the next start of the machine"
    )
  }
  if (!facts.isRoot && facts.unprivilegedClone === 0) {
    return namespaces(
      "user namespaces are for root only (kernel.unprivileged_userns_clone is 0)",
      "`sysctl kernel.unprivileged_userns_clone=1`"
    )
  }
  if (!facts.isRoot && facts.apparmorRestricts === 1) {
    return namespaces(
      "AppArmor keeps bwrap from making user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
      "install the profile for bwrap (`apt install apparmor-profiles`, then link bwrap-userns-restrict into /etc/apparmor.d), or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    )
  }
  if (facts.inContainer) {
    return namespaces(
      `this container does not allow them (${said})`,
      "start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or let the container be the sandbox and run without ours"
    )
  }
  return namespaces(`bwrap could not make its namespaces (${said})`, "see what forbids it: seccomp, AppArmor, SELinux")
}

const says = {
  shell: /^execvp (.+): ([^:]+)$/,
  old: /unknown option/i,
  setuid: /setuid/i,
  seccomp: /seccomp/i,
  namespaces: /namespace|uid map|gid map|setgroups|mount proc|pivot_root|Failed to make \/ slave/i
}

/** Returns the check that explains a failed start, from bubblewrap's standard error. */
export const explain = (
  words: string,
  { facts, version }: { readonly facts: Facts; readonly version: string | undefined }
): Check => {
  const said = words.trim().replace(/^bwrap: /, "")
  // bubblewrap's own message is only a consequence of this one.
  if (words.includes(Launch.unmasked)) {
    const left = words.slice(0, words.indexOf(Launch.unmasked)).trim()
    return failed("masks", `not all that is blacklisted could be masked: ${left}`)
  }
  const [, shell, reason] = says.shell.exec(said) ?? []
  if (shell !== undefined) {
    const remedy = "take back the rule that hides it, or what it needs, or name another bash in SYNAPSE_SHELL"
    return failed("shell", `the shell ${shell} can't be run: ${reason}`, remedy)
  }
  if (says.old.test(said) || isOld(version)) {
    const detail = `bwrap ${version ?? "(of unknown version)"} is too old: ${oldest.join(".")} is needed, for --disable-userns and --size`
    return failed(
      "bwrap version",
      detail,
      "install a newer bubblewrap, from the distribution's backports or from its releases"
    )
  }
  if (says.setuid.test(said)) {
    const detail = `bwrap is installed setuid root, which can't do without user namespaces (${said})`
    return failed("bwrap setuid", detail, "`chmod u-s` it, and switch user namespaces on")
  }
  if (says.seccomp.test(said)) {
    const detail = `the kernel takes no filter for system calls (${said})`
    return failed("seccomp", detail, "use a kernel with CONFIG_SECCOMP_FILTER")
  }
  if (says.namespaces.test(said)) return noNamespaces(said, facts)
  return failed("bwrap", `bwrap failed: ${said === "" ? "it said nothing" : said}`)
}

/** Writes a failed check as one message, which ends with how to run without a sandbox. */
export const sentence = ({ detail, name, remedy }: Check): string =>
  [
    `no sandbox: ${detail}.`,
    ...(remedy === "" ? [] : [`To mend it: ${remedy}.`]),
    ...(name === "shell" || name === "nested" ? [] : ["To run without a sandbox on purpose: --no-sandbox."])
  ].join(" ")

/**
 * Tests the machine: runs bubblewrap once with all options of a sandbox, and unshare once. `proc` is `/proc` except in
 * tests.
 */
export const examine = (programs: Programs, proc = "/proc"): Effect.Effect<Report> =>
  Effect.gen(function* () {
    const machine = Probe.machine()
    const { bash, bwrap } = programs
    if (bwrap === undefined) return { level: undefined, checks: [noBubblewrap] }
    if (bash === undefined) return { level: undefined, checks: [noBash] }
    if (machine === undefined) {
      const detail = `there is no filter for system calls on ${process.arch}, only on x64 and arm64`
      return { level: undefined, checks: [failed("seccomp", detail)] }
    }
    const [sandbox, level] = yield* Effect.all([Probe.sandbox(bwrap, machine), Probe.level(programs)], {
      concurrency: "unbounded"
    })
    if (!sandbox.ok) {
      const facts = readFacts(proc)
      return { level: undefined, checks: [explain(sandbox.said, { version: sandbox.version, facts })] }
    }
    const isRoot = process.getuid?.() === 0
    return {
      level,
      checks: [
        passed("bwrap", `${bwrap}, version ${sandbox.version ?? "unknown"}`),
        passed("user namespaces", "bubblewrap can make them"),
        passed("seccomp", `the filter for ${machine} is taken`),
        levelCheck(programs, level),
        hostsCheck(level),
        limitCheck(isRoot)
      ]
    }
  })

/** Returns a message on why no sandbox can be built and what to do about it; undefined if one can be built. */
export const refusal = (report: Report): string | undefined => {
  const check = report.checks.find((one) => one.required && !one.ok)
  return check === undefined ? undefined : sentence(check)
}
