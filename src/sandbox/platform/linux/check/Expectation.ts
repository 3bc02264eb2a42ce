/**
 * Predicts what this machine can do without testing it, for a test takes as long as starting a sandbox.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as MountTable from "../plan/MountTable.js"
import type { Level } from "../start/Launch.js"
import type { Programs } from "../start/Programs.js"
import * as Cause from "./Cause.js"

/** CAP_SYS_ADMIN, as a bit of the set in `/proc/self/status`. */
const systemAdministration = 1n << 21n

const setUserId = 0o4000

const read = (path: string): string => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * Tests whether this process runs under a seccomp filter (as containers do), or a profile of AppArmor or SELinux: these
 * may forbid anything.
 */
const isConfined = (proc: string, status: string): boolean => {
  const label = read(`${proc}/self/attr/current`)
  return !/^Seccomp:\s*0$/m.test(status) || !(label === "" || /\bunconfined(_t)?\b/.test(label))
}

/**
 * Tests whether this process runs in a `chroot`, or something hides a part of `/proc`: user namespaces do not work
 * then.
 */
const isPartial = (mounts: ReadonlyArray<MountTable.Mount>): boolean =>
  !mounts.some(({ point }) => point === "/") ||
  mounts.some(({ point }) => point.startsWith("/proc/") && point !== "/proc/sys/fs/binfmt_misc")

const forbidsNamespaces = ({ apparmorRestricts, isRoot, maxUserNamespaces, unprivilegedClone }: Cause.Facts): boolean =>
  // 0 and unknown are treated alike.
  !((maxUserNamespaces ?? 0) > 0) || (!isRoot && (unprivilegedClone === 0 || (apparmorRestricts ?? 0) !== 0))

const isSetUserId = (path: string): boolean => {
  const mode = Fs.statSync(path, { throwIfNoEntry: false })?.mode
  return mode === undefined || (mode & setUserId) !== 0
}

/**
 * Predicts the level that a sandbox will be built at; undefined where only a test (`Doctor`) can tell. The prediction
 * may be wrong: then no sandbox starts. `proc` is `/proc` outside of tests.
 *
 * @since 0.1.0
 */
export const level = (programs: Programs, proc = "/proc"): Level | undefined => {
  const { bash, bwrap, mount, nsenter, umount, unshare } = programs
  if ([bash, bwrap, mount, nsenter, umount, unshare].includes(undefined)) return undefined
  const facts = Cause.readFacts(proc)
  const status = read(`${proc}/self/status`)
  if (
    forbidsNamespaces(facts) ||
    isConfined(proc, status) ||
    isPartial(MountTable.parse(read(`${proc}/self/mountinfo`))) ||
    isSetUserId(bwrap ?? "")
  ) {
    return undefined
  }
  if (!facts.isRoot) return "user"
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`)
  return (capabilities & systemAdministration) === 0n ? undefined : "mount"
}
