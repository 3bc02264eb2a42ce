/** Explains why a sandbox can't be built, from bubblewrap's messages and the kernel's settings. */
import * as Fs from "node:fs"
import * as Launch from "../../start/Launch.js"

/** A reason why a sandbox can't be built, and what to do about it. */
export interface Cause {
  /** The missing thing, in a word or two. */
  readonly name: string
  readonly detail: string
  readonly remedy: string
}

/** The settings of the kernel that decide about namespaces; undefined where the kernel has no such setting. */
export interface Facts {
  readonly isRoot: boolean
  readonly maxUserNamespaces: number | undefined
  readonly unprivilegedClone: number | undefined
  readonly apparmorRestricts: number | undefined
  readonly inContainer: boolean
}

const oldest = [0, 8, 0] as const

/** The cause where bubblewrap is not installed. */
export const noBubblewrap: Cause = {
  name: "bwrap",
  detail: "bwrap is required for the sandbox, and is not on the PATH (outside of what commands may write)",
  remedy:
    "install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap` or `apk add bubblewrap`"
}

/** The cause where bash is not installed. */
export const noBash: Cause = {
  name: "bash",
  detail: "bash is required to build the sandbox, and was not found outside of what commands may write",
  remedy: "install bash"
}

/** Makes the cause for an architecture that there is no seccomp filter for. */
export const otherMachine = (arch: string): Cause => ({
  name: "seccomp",
  detail: `there is no filter for system calls on ${arch}, only on x64 and arm64`,
  remedy: ""
})

const tooOld = (version: string | undefined): Cause => ({
  name: "bwrap version",
  detail: `bwrap ${version ?? "(of unknown version)"} is too old: ${oldest.join(".")} is needed, for --disable-userns and --size`,
  remedy: "install a newer bubblewrap, from the distribution's backports or from its releases"
})

const namespaces = (detail: string, remedy: string): Cause => ({ name: "user namespaces", detail, remedy })

const readNumber = (path: string): number | undefined => {
  try {
    const value = Number.parseInt(Fs.readFileSync(path, "utf8"), 10)
    return Number.isNaN(value) ? undefined : value
  } catch {
    return undefined
  }
}

/** Reads the settings of the kernel from `proc`, which is `/proc` outside of tests. */
export const readFacts = (proc: string): Facts => ({
  isRoot: process.getuid?.() === 0,
  maxUserNamespaces: readNumber(`${proc}/sys/user/max_user_namespaces`),
  unprivilegedClone: readNumber(`${proc}/sys/kernel/unprivileged_userns_clone`),
  apparmorRestricts: readNumber(`${proc}/sys/kernel/apparmor_restrict_unprivileged_userns`),
  inContainer: ["/.dockerenv", "/run/.containerenv"].some((path) => Fs.existsSync(path))
})

const isOld = (version: string | undefined): boolean => {
  const numbers = version?.split(".").map(Number)
  if (numbers === undefined) return false
  const at = oldest.findIndex((number, index) => number !== numbers[index])
  return at >= 0 && (numbers[at] ?? 0) < (oldest[at] ?? 0)
}

const noNamespaces = (said: string, facts: Facts): Cause => {
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

const noMasks = (said: string): Cause => ({
  name: "masks",
  detail: `not all that is blacklisted could be masked: ${said}`,
  remedy: ""
})

const noShell = (shell: string, reason: string): Cause => ({
  name: "shell",
  detail: `the shell ${shell} can't be run: ${reason}`,
  remedy: "take back the rule that hides it, or what it needs, or name another bash in SYNAPSE_SHELL"
})

const says = {
  shell: /^execvp (.+): ([^:]+)$/,
  old: /unknown option/i,
  setuid: /setuid/i,
  seccomp: /seccomp/i,
  namespaces: /namespace|uid map|gid map|setgroups|mount proc|pivot_root|Failed to make \/ slave/i
}

/** Finds the cause of a failed start, from bubblewrap's standard error. */
export const of = (
  words: string,
  { facts, version }: { readonly facts: Facts; readonly version: string | undefined }
): Cause => {
  const said = words.trim().replace(/^bwrap: /, "")
  // bubblewrap's own message is only a consequence of this one.
  if (words.includes(Launch.unmasked)) return noMasks(words.slice(0, words.indexOf(Launch.unmasked)).trim())
  const [, shell, reason] = says.shell.exec(said) ?? []
  if (shell !== undefined && reason !== undefined) return noShell(shell, reason)
  if (says.old.test(said) || isOld(version)) return tooOld(version)
  if (says.setuid.test(said)) {
    return {
      name: "bwrap setuid",
      detail: `bwrap is installed setuid root, which can't do without user namespaces (${said})`,
      remedy: "`chmod u-s` it, and switch user namespaces on"
    }
  }
  if (says.seccomp.test(said)) {
    return {
      name: "seccomp",
      detail: `the kernel takes no filter for system calls (${said})`,
      remedy: "use a kernel with CONFIG_SECCOMP_FILTER"
    }
  }
  if (says.namespaces.test(said)) return noNamespaces(said, facts)
  return { name: "bwrap", detail: `bwrap failed: ${said === "" ? "it said nothing" : said}`, remedy: "" }
}

/** Writes a cause as one message, which ends with how to run without a sandbox. */
export const sentence = ({ detail, name, remedy }: Pick<Cause, "detail" | "remedy"> & Partial<Cause>): string =>
  [
    `no sandbox: ${detail}.`,
    ...(remedy === "" ? [] : [`To mend it: ${remedy}.`]),
    ...(name === "shell" ? [] : ["To run without a sandbox on purpose: --no-sandbox."])
  ].join(" ")
